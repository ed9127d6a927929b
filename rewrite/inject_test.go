package rewrite_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"epitome/dialect/conversation"
	"epitome/inject"
	"epitome/rewrite"
	"epitome/rewrite/ledger"
	"epitome/store"
)

// injecting shapes conversations that may be given the files of docs and rules, and what is known in the project shop.
type injecting struct {
	t        *testing.T
	dialect  conversation.Dialect
	deps     rewrite.Deps
	shaper   *rewrite.Shaper
	contexts []string
	project  string
	runtime  string
	window   int
	now      time.Time
}

func newInjecting(t *testing.T, d conversation.Dialect) *injecting {
	t.Helper()
	facts := store.NewMemory(1 << 20)
	i := &injecting{t: t, dialect: d, window: 100_000, now: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)}
	clock := func() time.Time { return i.now }
	given := &inject.Injector{Files: inject.FilesIn(t.TempDir()), Shelf: shelf{newStorage()},
		Memory: inject.NewMemory(facts, inject.MemoryConfig{Enabled: true}, time.Hour, clock)}
	for _, context := range []string{"docs", "rules"} {
		if err := given.Files.Add(context, map[string][]byte{context + ".md": []byte("Read me.")}); err != nil {
			t.Fatal(err)
		}
	}
	i.deps = rewrite.Deps{
		Ledger: ledger.New(facts, time.Hour), Shelf: given.Shelf.(rewrite.Shelf),
		Memo: memo(), Inject: given, Window: func(string, string, int) (int, int) { return i.window, i.window },
	}
	i.learn("The port is 8080.")
	i.restart()
	return i
}

func (i *injecting) restart() { i.shaper = rewrite.NewShaper(i.deps) }

func (i *injecting) learn(text string) {
	if err := i.deps.Inject.Memory.Learn(inject.Owner{Project: "shop"}, "- fact: "+text); err != nil {
		i.t.Fatal(err)
	}
}

// body is a conversation with so many answers. All say the same.
func (i *injecting) body(first, answer string, answers int) string {
	list := []string{fmt.Sprintf(`{"role":"user","content":%q}`, first)}
	for range answers {
		list = append(list, fmt.Sprintf(`{"role":"assistant","content":%q},{"role":"user","content":"And?"}`, answer))
	}
	form := `{"model":"gpt-5","max_tokens":9,"messages":[%s]}`
	if i.dialect.API().Name == "responses" {
		form = `{"model":"gpt-5","input":[%s]}`
	}
	return fmt.Sprintf(form, strings.Join(list, ","))
}

// send returns what is added to a request.
func (i *injecting) send(body string) string {
	i.t.Helper()
	limits := defaultLimits()
	out := i.shaper.Shape(rewrite.Input{Dialect: i.dialect, Body: []byte(body), Upstream: "up", Contexts: i.contexts,
		Project: i.project, Runtime: i.runtime, Limits: &limits, Now: i.now})
	if out.Report.Err != nil {
		i.t.Fatal(out.Report.Err)
	}
	added := out.Report.Added
	if (added > 0) != (string(out.Body) != body) || len(out.Body) < len(body) {
		i.t.Errorf("the report tells of %d tokens, and sent is %s", added, out.Body)
	}
	if added == 0 {
		return ""
	}
	first, last := conversation.CommonPrefix([]byte(body), out.Body), 0
	for body[len(body)-1-last] == out.Body[len(out.Body)-1-last] && last < len(body)-1-first {
		last++
	}
	return string(out.Body[first : len(out.Body)-last])
}

func inAllDialects(t *testing.T, f func(*testing.T, *injecting)) {
	t.Helper()
	for name, d := range dialects {
		t.Run(name, func(t *testing.T) { f(t, newInjecting(t, d)) })
	}
}

func TestNothingIsAddedInTheMiddle(t *testing.T) {
	inAllDialects(t, func(t *testing.T, i *injecting) {
		want := func(body, want string) {
			t.Helper()
			if got := i.send(body); got != want {
				t.Errorf("%s has %q, want %q", body, got, want)
			}
		}
		want(i.body("hi", "Yes.", 0), "")
		i.contexts, i.project = []string{"docs"}, "shop"
		want(i.body("hi", "Yes.", 1), "")
		want(i.body("never seen", "Yes.", 1), "")
		i.restart()
		want(i.body("hi", "Yes.", 2), "")
		i.contexts, i.window = nil, 100
		want(i.body("no room", "Yes.", 0), "")
		i.window = 100_000
		want(i.body("no room", "Yes.", 1), "")
	})
}

// Conversations that begin alike and ask for different things stay as each of them began.
func TestEqualBeginningsStayAsTheyBegan(t *testing.T) {
	inAllDialects(t, func(t *testing.T, i *injecting) {
		for _, order := range [][]string{{"", "docs", "rules"}, {"docs", ""}, {"rules", "docs", ""}} {
			first, given := fmt.Sprint(order), map[string]string{}
			for _, wish := range order {
				i.contexts = strings.Fields(wish)
				given[wish] = i.send(i.body(first, wish, 0))
				if strings.Contains(given[wish], "docs.md") != (wish == "docs") {
					t.Errorf("%v: who asks for %q is given %q", order, wish, given[wish])
				}
			}
			for answers := 1; answers < 4; answers++ {
				for wish, want := range given {
					if i.contexts = strings.Fields(wish); answers > 1 {
						i.contexts = nil // it asks in its first two requests
					}
					if got := i.send(i.body(first, wish+"!", answers)); got != want {
						t.Errorf("%v: who asked for %q has %q after %d answers, want %q", order, wish, got, answers,
							want)
					}
				}
				i.restart()
			}
		}
	})
}

// Promise 7: of many agents that start at once in the same words, each is told its own folder, and also the next day.
func TestAgentsThatStartAtOnceAreToldTheirOwnFolder(t *testing.T) {
	inAllDialects(t, func(t *testing.T, i *injecting) {
		const agents = 40 // more than a record has decisions
		given := make([]string, agents)
		for answers := range 3 {
			for k := range agents {
				folder := fmt.Sprintf("/w/%d.", k)
				i.runtime = "\n- working folder: " + folder
				got := i.send(i.body("hi", fmt.Sprint("I look at ", k%5), answers))
				if answers == 0 {
					given[k] = got
				}
				if got != given[k] || !strings.Contains(got, folder) {
					t.Fatalf("after %d answers the agent in folder %d is told %q", answers, k, got)
				}
			}
			i.now = i.now.Add(13 * time.Hour)
			i.restart()
		}
	})
}

// Promise 7: conversations that begin alike share nothing of their wishes, and one that goes on another day keeps its own.
func TestWishesTellConversationsApart(t *testing.T) {
	inAllDialects(t, func(t *testing.T, i *injecting) {
		hi := strings.Repeat("Please look at this shop and tell me. ", 20) // so much that the last request is known by it
		i.now = time.Date(2026, 11, 22, 23, 50, 0, 0, time.UTC)
		i.contexts, i.project = []string{"docs"}, "shop"
		given := i.send(i.body(hi, "Yes.", 0))
		i.contexts, i.project = []string{"rules"}, ""
		if got := i.send(i.body(hi, "Yes.", 0)); strings.Contains(got, "docs.md") || strings.Contains(got, "8080") {
			t.Errorf("with a wish for rules it is given %.400q", got)
		}
		i.contexts, i.project = []string{"docs"}, "shop"
		for n := range 3 {
			i.send(i.body(hi, "Yes.", n+1))
		}
		i.now = i.now.Add(20 * time.Minute) // the next day
		i.learn("The port is 9090 since today.")
		i.send(i.body(hi, "Yes.", 0)) // another conversation begins
		i.restart()
		if got := i.send(i.body(hi, "Yes.", 4)); got != given {
			t.Errorf("on the day before it was given %.300q\nand now %.300q", given, got)
		}
	})
}
