package rewrite

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"epitome/prose"
	"epitome/rewrite/addition"
	"epitome/rewrite/chat"
	"epitome/rewrite/conversation"
	"epitome/rewrite/messages"
	"epitome/rewrite/plan"
	"epitome/rewrite/responses"
)

// knowing is a bench whose conversations are in the project shop, of which something is known.
func knowing(d conversation.Dialect, entries ...string) *bench {
	b := newBench(100_000)
	b.dialect, b.project, b.clock = d, "shop", noon()
	b.teach("", "shop", entries...)
	return b
}

// memoryIn is the memory that stands in what is sent; empty if none does.
func memoryIn(out Output) string {
	if indexIn(out) == "" {
		return ""
	}
	return out.added.record.Memory
}

// Where the system's text ends, the memory stands, and nothing else changes.
func TestAMemoryStandsBehindTheSystemsText(t *testing.T) {
	f := func(d conversation.Dialect, body, want string) {
		t.Helper()
		b := knowing(d, "The port is 8080.")
		out := b.send(t, body)
		text := strings.Replace(string(out.Body), strings.ReplaceAll(memoryOf("The port is 8080."), "\n", `\n`), "MEMORY", 1)
		if text != want {
			t.Errorf("got  %s\nwant %s", text, want)
		}
		r := out.Report
		if r.Action != ActionAdd || r.Added.Memory == 0 || r.Added.Memory != r.Added.Tokens || r.Added.Names != nil {
			t.Errorf("%s: %+v", body, r)
		}
	}
	const hi = `{"role":"user","content":"hi"}`
	f(chat.Dialect{}, `{"messages":[{"role":"system","content":"S"},`+hi+`]}`,
		`{"messages":[{"role":"system","content":"S\n\nMEMORY"},`+hi+`]}`)
	f(messages.Dialect{}, `{"system":"S","messages":[`+hi+`]}`, `{"system":"S\n\nMEMORY","messages":[`+hi+`]}`)
	f(responses.Dialect{}, `{"instructions":"S","input":"hi"}`, `{"instructions":"S","input":[{"type":"message","role":"developer",`+
		`"content":[{"type":"input_text","text":"MEMORY"}]},{"type":"message","role":"user","content":"hi"}]}`)
}

// What the first request was given stays, whatever is learned or forgotten meanwhile, in this process and in another.
func TestAMemoryStaysAsItWasGiven(t *testing.T) {
	inAll(t, func(t *testing.T, d conversation.Dialect, body func(string, int) string) {
		b := knowing(d, "The port is 8080.")
		given := memoryIn(b.send(t, body("hi", 0)))
		if !strings.Contains(given, "8080") {
			t.Fatalf("the memory is %q", given)
		}
		turns := 0
		f := func(what string, change func()) {
			t.Helper()
			change()
			for range 2 {
				turns++
				if got := memoryIn(b.send(t, body("hi", turns))); got != given {
					t.Errorf("%s: got %q, want %q", what, got, given)
				}
			}
		}
		f("nothing changes", func() {})
		f("a restart", b.restart)
		f("more is known", func() { b.teach("", "shop", "The port is 9090.") })
		f("a restart after that", b.restart)
		f("all is forgotten", func() { b.memories.texts = nil; b.restart() })
		f("the client names no project any more", func() { b.project = ""; b.restart() })
		f("it names another one", func() { b.project = "other"; b.restart() })
		f("days later", func() { b.clock = b.clock.Add(100 * time.Hour); b.restart() })
		f("memories are turned off", func() { b.memories.off = true })
		f("nobody knows of memories", func() { b.memories = nil; b.library = &library{}; b.restart() })
	})
}

// A conversation that began with nothing known is given nothing later, nor is one that was never seen before, and no
// byte changes where there is no project.
func TestNoMemoryIsAddedInTheMiddle(t *testing.T) {
	inAll(t, func(t *testing.T, d conversation.Dialect, body func(string, int) string) {
		b := knowing(d)
		b.memories.texts = map[[2]string]string{}
		f := func(first string, turns int) {
			t.Helper()
			if came := body(first, turns); string(b.send(t, came).Body) != came {
				t.Errorf("something was added to %s", came)
			}
		}
		f("hi", 0)
		b.teach("", "shop", "The port is 8080.")
		f("hi", 0)
		f("hi", 1)
		b.restart()
		f("hi", 2)
		f("never seen", 1)
		b.project = ""
		f("no project", 0)
		b.project = "other"
		f("another project", 0)
		b.project, b.scope = "shop", "other"
		f("another scope", 0)
		b.scope, b.memories.off = "", true
		f("turned off", 0)
	})
}

// The project is the one that the request names, or else the folder in which the agent works.
func TestTheProjectOfAConversation(t *testing.T) {
	f := func(want, named, says string) {
		t.Helper()
		b := newBench(100_000)
		b.project = named
		for _, p := range []string{"shop", "/home/me/shop"} {
			b.teach("", p, "This is of "+p)
		}
		got := memoryIn(b.send(t, fmt.Sprintf(`{"messages":[{"role":"system","content":%q},{"role":"user","content":"hi"}]}`, says)))
		if want == "" && got != "" || want != "" && got != memoryOf("This is of "+want) {
			t.Errorf("named %q, in %q: got %q", named, says, got)
		}
	}
	f("shop", "shop", "You help.")
	f("/home/me/shop", "", "Working directory: /home/me/shop")
	f("shop", "shop", "Working directory: /home/me/shop")
	f("", "other", "Working directory: /home/me/shop")
	f("", "", "You help.")
	f("", "", "Working directory: /home/me/other")
}

// An equal first request gets what the one before got; a day later it is another conversation's, and gets what is known
// then.
func TestAnEqualBeginningADayLaterIsGivenWhatIsKnown(t *testing.T) {
	inAll(t, func(t *testing.T, d conversation.Dialect, body func(string, int) string) {
		b := knowing(d, "old")
		f := func(want string, later time.Duration, turns int, answered string) {
			t.Helper()
			b.clock = noon().Add(later)
			b.restart()
			if got := memoryIn(b.send(t, strings.Replace(body("hi", turns), "Yes.", answered, 1))); got != memoryOf(want) {
				t.Errorf("%v later, with %d turns: got %q, want %q", later, turns, got, want)
			}
		}
		f("old", 0, 0, "")
		f("old", 0, 1, "First.")
		b.teach("", "shop", "new")
		f("old", time.Hour, 0, "")
		f("old", 24*time.Hour, 0, "")
		f("new", 25*time.Hour, 0, "")
		f("old", 25*time.Hour, 2, "First.")
		f("new", 25*time.Hour, 1, "Second.")
		b.teach("", "shop", "newest")
		f("new", 26*time.Hour, 0, "")
		f("newest", 50*time.Hour, 0, "")
		f("old", 51*time.Hour, 3, "First.")
		f("new", 51*time.Hour, 2, "Second.")
	})
}

// Beside files, the index stands first, and each of both is missing alone.
func TestFilesAndAMemoryStandTogether(t *testing.T) {
	f := func(index, memory bool, why string, change func(b *bench)) {
		t.Helper()
		b := asking(chat.Dialect{}, "docs")
		b.project = "shop"
		b.teach("", "shop", "The port is 8080.")
		change(b)
		body := bodies[chat.Dialect{}]
		for turns := range 3 {
			out := b.send(t, body("hi", turns))
			text := indexIn(out)
			i, m := strings.Index(text, "api.md"), strings.Index(text, "8080")
			if (i >= 0) != index || (m >= 0) != memory || index && memory && i > m {
				t.Errorf("turn %d: sent is %q", turns, text)
			}
			if got := out.Report.Added.Why; turns == 0 && !strings.Contains(got, why) || why == "" && got != "" {
				t.Errorf("turn %d: missing is %q, want %q", turns, got, why)
			}
			b.restart()
		}
	}
	f(true, true, "", func(*bench) {})
	f(false, true, "no context files: ", func(b *bench) { b.cupboard.Mute = true })
	f(true, false, "no memory: the server is gone", func(b *bench) { b.memories.fail = errors.New("the server is gone") })
	f(false, false, "; no memory: ", func(b *bench) { b.cupboard.Mute = true; b.memories.fail = errors.New("gone") })
	f(true, false, "no memory: it has ", func(b *bench) { b.teach("", "shop", strings.Repeat("word ", 1500)); b.window = 6_000 })
	f(true, false, "", func(b *bench) { b.project = "" })
}

// A first request that was refused with its memory is sent without, and if the provider takes that, it stays so.
func TestAMemoryThatWasRefusedIsTakenBack(t *testing.T) {
	inAll(t, func(t *testing.T, d conversation.Dialect, body func(string, int) string) {
		b := knowing(d, "The port is 8080.")
		b.send(t, body("hi", 0))
		out := b.Shape(Input{Dialect: d, Body: []byte(body("hi", 0)), Upstream: "up", Limits: &b.limits, Project: b.project,
			Now: b.clock, Rescue: &plan.Rescue{Whole: true}})
		if memoryIn(out) != "" || !strings.Contains(out.Report.Added.Why, "no memory: the provider refused") {
			t.Errorf("sent again as %s: %+v", out.Body, out.Report.Added)
		}
		out.Settle()
		for turns := range 3 {
			b.restart()
			if got := memoryIn(b.send(t, body("hi", turns))); got != "" {
				t.Errorf("turn %d: later it is sent with %q", turns, got)
			}
		}
	})
}

// Who only looks is given what stands, and who counts asks nobody what is known.
func TestReplaysAskForNoMemory(t *testing.T) {
	inAll(t, func(t *testing.T, d conversation.Dialect, body func(string, int) string) {
		b := knowing(d, "The port is 8080.")
		replay := func(turns int) string {
			return memoryIn(b.Shape(Input{Dialect: d, Body: []byte(body("hi", turns)), Upstream: "up", Limits: &b.limits,
				Project: b.project, Replay: true}))
		}
		if got := replay(0); got != "" || b.memories.asked > 0 {
			t.Errorf("a count alone is given %q", got)
		}
		given := memoryIn(b.send(t, body("hi", 0)))
		if zero, later := replay(0), replay(1); given == "" || zero != given || later != given {
			t.Errorf("got %q and %q, want %q", zero, later, given)
		}
		for turns := range 4 {
			b.send(t, body("hi", turns))
		}
		if b.memories.asked != 1 {
			t.Errorf("it was asked %d times", b.memories.asked)
		}
	})
}

// Nobody is asked for a project that a conversation does not have, and with memories off nothing is recorded.
func TestWithoutMemoriesNothingIsRecorded(t *testing.T) {
	b := asking(chat.Dialect{})
	b.project = "shop"
	b.send(t, bodies[chat.Dialect{}]("hi", 0))
	b.send(t, bodies[chat.Dialect{}]("hi", 1))
	for key, n := range b.notes.facts {
		if list, err := addition.Decode([]byte(n.value)); err == nil && len(list) > 0 {
			t.Errorf("%q is recorded: %s", key, n.value)
		}
	}
}

// What a model is asked is asked for the project in which the conversation began.
func TestAQuestionIsAskedForTheProjectOfTheBeginning(t *testing.T) {
	f := func(want string, begins, goesOn string, known bool) {
		t.Helper()
		a, n := styled(16_000, prose.Style{Mode: prose.ModeLLM})
		if a.project = begins; known {
			a.teach("", "shop", "The port is 8080.")
		}
		a.ask(t)
		a.project = goesOn
		for len(n.asked) == 0 {
			a.work(1, 300)
			a.ask(t)
		}
		if got := n.asked[0].Project; got != want {
			t.Errorf("begun in %q, gone on in %q: asked for %q, want %q", begins, goesOn, got, want)
		}
	}
	f("shop", "shop", "shop", true)
	f("shop", "shop", "other", true)
	f("other", "other", "shop", true)
	f("shop", "shop", "", true)
	f("shop", "", "shop", false)
}

// A nightly job begins, and is answered, in the same words: its second request is sent what its first one was.
func TestANightlyJobKeepsWhatItWasTold(t *testing.T) {
	inAll(t, func(t *testing.T, d conversation.Dialect, body func(string, int) string) {
		b := knowing(d, "old")
		for turns := range 3 {
			b.send(t, body("hi", turns))
		}
		b.teach("", "shop", "new")
		b.clock = b.clock.Add(25 * time.Hour)
		first := memoryIn(b.send(t, body("hi", 0)))
		for turns := range 3 {
			if got := memoryIn(b.send(t, body("hi", turns))); got != first {
				t.Errorf("%d turns: first %q, then %q", turns, first, got)
			}
		}
	})
}
