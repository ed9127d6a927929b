package daemon

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"epitome/inject"
	"epitome/prose"
	"epitome/rewrite"
	"epitome/rewrite/chat"
	"epitome/rewrite/conversation"
	"epitome/rewrite/messages"
	"epitome/rewrite/responses"
	inmemory "epitome/store/memory"
	"epitome/unit"
)

const quietAfter = 30 * time.Minute

// allMemories is learned from whom it can be.
func allMemories() wantedMemories {
	return wantedMemories{inject.MemoryConfig{Enabled: true, After: unit.Duration(quietAfter), Keep: unit.Duration(time.Hour)}, true}
}

// memoryWatcher has memories over shaping that only tells what is to be told.
type memoryWatcher struct {
	*memories
	t *testing.T

	mu    sync.Mutex
	busy  int // questions that are not taken
	asked []prose.Question
}

func watchingMemories(t *testing.T, w wantedMemories) *memoryWatcher {
	t.Helper()
	r := &memoryWatcher{t: t}
	r.memories = newMemories(w, memoryOptions{
		Store: inmemory.New(1<<20, time.Now), Log: slog.New(slog.DiscardHandler), Now: time.Now,
		Study: func(q prose.Question) bool {
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.busy > 0 {
				r.busy--
				return false
			}
			r.asked = append(r.asked, q)
			return true
		},
	})
	t.Cleanup(r.Close)
	return r
}

// questions are those that were asked by now, as their conversations.
func (r *memoryWatcher) questions() string {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []string
	for i := range r.asked {
		list = append(list, r.asked[i].Conversation)
	}
	return strings.Join(list, " ")
}

// holds returns how many sessions are held and with how many bytes, and whether one of them is.
func (r *memoryWatcher) holds(key string) (n, bytes int, has bool) {
	r.memories.mu.Lock()
	defer r.memories.mu.Unlock()
	for _, s := range r.held.list {
		bytes += len(s.body)
	}
	if bytes != r.held.bytes {
		r.t.Errorf("%d bytes are heldSessions, counted as %d", bytes, r.held.bytes)
	}
	_, has = r.held.list[key]
	return len(r.held.list), bytes, has
}

// sessionBody is a conversation in which user and model have spoken so often.
func sessionBody(turns int) []byte {
	list := []string{`{"role":"system","content":"You are an agent."}`}
	for i := range turns {
		if i%2 == 0 {
			list = append(list, fmt.Sprintf(`{"role":"user","content":"task %d"}`, i))
			continue
		}
		list = append(list, fmt.Sprintf(`{"role":"assistant","content":"Done.","tool_calls":[{"id":"c%d","type":"function",`+
			`"function":{"name":"bash","arguments":"{\"command\":\"make %d\"}"}}]}`, i, i),
			fmt.Sprintf(`{"role":"tool","tool_call_id":"c%d","content":"result %d\nexit code 2"}`, i, i))
	}
	return []byte(`{"model":"gpt-5","messages":[` + strings.Join(list, ",") + `]}`)
}

// sends has a request of a conversation shaped.
func (r *memoryWatcher) sends(conversation string, turns int, change ...func(*rewrite.Input, *rewrite.Report)) {
	r.t.Helper()
	in := rewrite.Input{Dialect: chat.Dialect{}, Body: sessionBody(turns), Scope: "ada", Upstream: "up"}
	toldSession := rewrite.Report{
		Conversation: conversation, Project: "app", Model: "gpt-5", Items: 1 + turns + turns/2, Action: rewrite.ActionNone,
	}
	for _, f := range change {
		f(&in, &toldSession)
	}
	was := string(in.Body)
	r.Watch(&in, &toldSession)
	if string(in.Body) != was {
		r.t.Errorf("the request became %s", in.Body)
	}
	clear(in.Body) // it is lent
}

func TestAQuietConversationIsAskedAboutOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := watchingMemories(t, allMemories())
		f := func(rest time.Duration, want string) {
			t.Helper()
			time.Sleep(rest)
			if got := r.questions(); got != want {
				t.Errorf("asked about %q, want %q", got, want)
			}
		}
		r.sends("one", 4)
		f(20*time.Minute, "")
		r.sends("one", 6)
		r.sends("two", 4)
		f(20*time.Minute, "")
		r.sends("two", 6)
		f(10*time.Minute, "one")
		f(20*time.Minute, "one two")
		f(24*time.Hour, "one two")
		r.sends("one", 12)
		f(time.Hour, "one two one")
	})
}

func TestTheQuestionTellsTheConversation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := watchingMemories(t, allMemories())
		r.sends("one", 4)
		time.Sleep(quietAfter)
		if r.questions() != "one" {
			t.Fatalf("asked about %q", r.questions())
		}
		q := r.asked[0]
		var toldSession []string
		for _, e := range q.Transcript {
			toldSession = append(toldSession, fmt.Sprintf("%d %s %s %s: %s", e.Group, e.Kind, e.Tool, e.State, e.Text))
		}
		want := "1 user  : task 0\n2 assistant  : Done.\n2 call bash : {\"command\":\"make 1\"}\n" +
			"2 result bash failed, exit code 2: result 1\nexit code 2\n" +
			"3 user  : task 2\n4 assistant  : Done.\n4 call bash : {\"command\":\"make 3\"}\n" +
			"4 result bash failed, exit code 2: result 3\nexit code 2"
		if got := strings.Join(toldSession, "\n"); got != want {
			t.Errorf("told is\n%s\nwant\n%s", got, want)
		}
		if q.Scope != "ada" || q.Project != "app" || q.Upstream != "up" || q.Model != "gpt-5" || !q.Learns() ||
			q.Credential != nil || q.Continue != nil || q.Key == "" {
			t.Errorf("asked by %q of %q in %q", q.Key, q.Scope, q.Project)
		}
	})
}

// TestAConversationIsToldAlikeInAllDialects has one conversation as each API writes it.
func TestAConversationIsToldAlikeInAllDialects(t *testing.T) {
	const want = "user: Mend it.|assistant: I look.|call bash: {\"command\":\"make\"}|result bash: exit code 2|user: Go on.|assistant: Done."
	f := func(d conversation.Dialect, sessionBody string) {
		t.Helper()
		s := quietSession{dialect: d, body: []byte(sessionBody), scope: "ada", project: "app", conversation: "one"}
		q, worth := s.question("ada one")
		var toldSession []string
		for _, e := range q.Transcript {
			toldSession = append(toldSession, strings.TrimSpace(string(e.Kind)+" "+e.Tool)+": "+e.Text)
		}
		if got := strings.Join(toldSession, "|"); got != want || !worth || q.Dialect != d.Key() {
			t.Errorf("told is %s, want %s; worth a question: %v", got, want, worth)
		}
	}
	f(chat.Dialect{}, `{"model":"m","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Mend it."},`+
		`{"role":"assistant","content":"I look.","tool_calls":[{"id":"c1","type":"function","function":{"name":"bash",`+
		`"arguments":"{\"command\":\"make\"}"}}]},{"role":"tool","tool_call_id":"c1","content":"exit code 2"},`+
		`{"role":"user","content":"Go on."},{"role":"assistant","content":"Done."}]}`)
	f(messages.Dialect{}, `{"model":"m","max_tokens":9,"system":"Be brief.","messages":[{"role":"user","content":`+
		`"<system-reminder>The date.</system-reminder>Mend it."},{"role":"assistant","content":[{"type":"text","text":"I look."},`+
		`{"type":"tool_use","id":"c1","name":"bash","input":{"command":"make"}}]},{"role":"user","content":[{"type":"tool_result",`+
		`"tool_use_id":"c1","content":"exit code 2"}]},{"role":"user","content":"Go on."},{"role":"assistant","content":"Done."}]}`)
	f(responses.Dialect{}, `{"model":"m","instructions":"Be brief.","input":[{"role":"user","content":"Mend it."},`+
		`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look."}]},{"type":"function_call",`+
		`"call_id":"c1","name":"bash","arguments":"{\"command\":\"make\"}"},{"type":"function_call_output","call_id":"c1",`+
		`"output":"exit code 2"},{"role":"user","content":"Go on."},{"type":"message","role":"assistant","content":`+
		`[{"type":"output_text","text":"Done."}]}]}`)
}

// TestEqualSessionsHaveEqualQuestions holds what lets one of several processes ask.
func TestEqualSessionsHaveEqualQuestions(t *testing.T) {
	key := func(conversation, project string, turns int) string {
		s := quietSession{dialect: chat.Dialect{}, body: sessionBody(turns), scope: "ada", project: project, conversation: conversation}
		q, worth := s.question("ada " + conversation)
		if !worth {
			t.Fatalf("%s with %d turns is not worth a question", conversation, turns)
		}
		return q.Key
	}
	f := func(a, b string, same bool) {
		t.Helper()
		if (a == b) != same {
			t.Errorf("the same question: %v, want %v", a == b, same)
		}
	}
	one := key("one", "app", 8)
	f(one, key("one", "app", 8), true)
	f(one, key("one", "app", 10), true)
	f(one, key("one", "app", 12), false)
	f(one, key("two", "app", 8), false)
	f(one, key("one", "web", 8), false)
}

// freshOne makes one of a type that is not to be known here.
func freshOne[T any](p **T) { *p = new(T) }

// TestConversationsThatAreNotHeld teach nothing.
func TestConversationsThatAreNotHeld(t *testing.T) {
	f := func(name string, w wantedMemories, turns int, change func(*rewrite.Input, *rewrite.Report)) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			r := watchingMemories(t, w)
			r.sends("one", turns, change)
			if n, _, _ := r.holds("ada one"); n > 0 && turns >= leastTurns && name != "a sessionBody that cannot be read" {
				t.Errorf("%s: it is heldSessions", name)
			}
			time.Sleep(quietAfter)
			if got := r.questions(); got != "" {
				t.Errorf("%s: asked about %s", name, got)
			}
		})
	}
	as := func(*rewrite.Input, *rewrite.Report) {}
	off, loud := allMemories(), allMemories()
	off.Enabled, loud.Quiet = false, false
	f("memories are off", off, 8, as)
	f("there is no key to ask with", loud, 8, as)
	f("few turns", allMemories(), 3, as)
	f("no project", allMemories(), 8, func(_ *rewrite.Input, r *rewrite.Report) { r.Project = "" })
	f("no conversation", allMemories(), 8, func(_ *rewrite.Input, r *rewrite.Report) { r.Conversation = "" })
	f("a count", allMemories(), 8, func(in *rewrite.Input, _ *rewrite.Report) { in.Replay = true })
	f("a rescue", allMemories(), 8, func(in *rewrite.Input, _ *rewrite.Report) { freshOne(&in.Rescue) })
	f("it was compacted", allMemories(), 8, func(_ *rewrite.Input, r *rewrite.Report) { r.Action = rewrite.ActionCompact })
	f("a sessionBody that cannot be read", allMemories(), 8, func(in *rewrite.Input, _ *rewrite.Report) { in.Body = []byte(`{"messages":1}`) })
	f("a sessionBody that is too large", allMemories(), 8, func(in *rewrite.Input, _ *rewrite.Report) { in.Body = make([]byte, mostHeld+1) })
}

func TestWhatIsCompactedIsHeldNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := watchingMemories(t, allMemories())
		r.sends("one", 8)
		r.sends("two", 8)
		r.sends("one", 10, func(_ *rewrite.Input, r *rewrite.Report) { r.Action = rewrite.ActionCompact })
		time.Sleep(quietAfter)
		if got := r.questions(); got != "two" {
			t.Errorf("asked about %q, want two", got)
		}
	})
}

// TestWhatIsHeldIsBounded has more sessions, and larger ones, than have room.
func TestWhatIsHeldIsBounded(t *testing.T) {
	f := func(sessions, size, want int) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			r := watchingMemories(t, allMemories())
			for i := range sessions {
				time.Sleep(time.Second)
				r.sends(fmt.Sprint(i), 8, func(in *rewrite.Input, _ *rewrite.Report) {
					in.Body = append(in.Body, make([]byte, size)...)
				})
				r.sends(fmt.Sprint(i), 8, func(in *rewrite.Input, _ *rewrite.Report) {
					in.Body = append(in.Body, make([]byte, size)...)
				})
			}
			n, bytes, newest := r.holds(fmt.Sprint("ada ", sessions-1))
			if n != want || bytes > mostHeld || !newest {
				t.Errorf("of %d sessions, %d are heldSessions with %d bytes, the newest: %v", sessions, n, bytes, newest)
			}
			r.Close()
			if n, bytes, _ := r.holds(""); n != 0 || bytes != 0 {
				t.Errorf("%d sessions and %d bytes are heldSessions in the end", n, bytes)
			}
		})
	}
	f(mostSessions+20, 0, mostSessions)
	f(20, 5<<20, 6)
	f(3, 20<<20, 1)
}

// TestWhatIsNotTakenIsAskedAgain has a queue that is full, and a conversation that goes on meanwhile.
func TestWhatIsNotTakenIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := watchingMemories(t, allMemories())
		r.busy = 2
		r.sends("one", 8)
		time.Sleep(quietAfter)
		if got := r.questions(); got != "" {
			t.Errorf("asked about %s", got)
		}
		time.Sleep(3 * askAgain)
		if got := r.questions(); got != "one" {
			t.Errorf("asked about %q, want one", got)
		}
	})
}

func TestAChangedConfigurationHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := watchingMemories(t, allMemories())
		f := func(change func(*wantedMemories), rest time.Duration, want string, place bool) {
			t.Helper()
			r.sends("one", 8)
			w := allMemories()
			change(&w)
			r.Configure(w)
			time.Sleep(rest)
			if got := r.questions(); got != want || (r.Place() != nil) != place {
				t.Errorf("asked about %q, want %q; a place: %v", got, want, r.Place())
			}
		}
		f(func(w *wantedMemories) { w.Enabled = false }, time.Hour, "", false)
		r.Configure(allMemories())
		f(func(w *wantedMemories) { w.Quiet = false }, time.Hour, "", true)
		r.Configure(allMemories())
		f(func(w *wantedMemories) { w.After = unit.Duration(time.Minute) }, 2*time.Minute, "one", true)
		r.sends("two", 8)
		r.Close()
		f(func(*wantedMemories) {}, time.Hour, "one", true)
	})
}

// TestABugInAQuestionIsOnlyLogged has a panic where nobody waits.
func TestABugInAQuestionIsOnlyLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := watchingMemories(t, allMemories())
		study := r.options.Study
		r.options.Study = func(q prose.Question) bool {
			if q.Conversation == "one" {
				panic("a bug")
			}
			return study(q)
		}
		r.sends("one", 8)
		time.Sleep(quietAfter)
		r.sends("two", 8)
		time.Sleep(quietAfter)
		if got := r.questions(); got != "two" {
			t.Errorf("asked about %q, want two", got)
		}
	})
}

// Who wants no model to be asked about a conversation is not overruled once it is quiet.
func TestWhoWantsNoModelAskedIsNotLearnedFrom(t *testing.T) {
	f := func(mode, want string) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			r := watchingMemories(t, allMemories())
			r.sends("a", 8, func(in *rewrite.Input, toldSession *rewrite.Report) {
				in.Style.Mode, toldSession.Window = mode, 100_000
			})
			time.Sleep(quietAfter)
			if got := r.questions(); got != want {
				t.Errorf("in mode %q is asked about %q, want %q", mode, got, want)
			}
			r.sends("b", 8)
			r.sends("b", 8, func(in *rewrite.Input, toldSession *rewrite.Report) {
				in.Style.Mode, toldSession.Window = mode, 100_000
			})
			if _, _, has := r.holds("ada b"); has != (want != "") {
				t.Errorf("in mode %q what came before is heldSessions: %t", mode, has)
			}
		})
	}
	f("", "a")
	f(prose.ModeAuto, "a")
	f(prose.ModeLLM, "a")
	f(prose.ModeHybrid, "a")
	f(prose.ModeIntent, "")
	f(prose.ModeLossless, "")
	f(prose.ModeWindow, "")
}
