package summarize

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"epitome/event"
	"epitome/prose"
	inmemory "epitome/store/memory"
	"epitome/summarize/memory"
)

var app = memory.Owner{Scope: "ada", Project: "app"}

// ofApp is a question about a conversation in a project, as another model than its own is asked it.
func ofApp(key string) prose.Question {
	q := question(key)
	q.Scope, q.Project, q.Continue = app.Scope, app.Project, nil
	return q
}

// sessionOfApp asks for nothing but what later sessions need.
func sessionOfApp(key string) prose.Question {
	q := ofApp(key)
	q.Detail, q.SpanTokens, q.Room = prose.DetailMemory, 0, 0
	return q
}

// learning is a rig that keeps what sessions teach.
func learning(t testing.TB, steps ...step) (*rig, *memory.Local) {
	t.Helper()
	c := plain()
	c.Model = "small"
	r := rigged(t, c, steps...)
	place := placeIn(r)
	r.means.Memory = func() memory.Place { return place }
	return r, place
}

func placeIn(r *rig) *memory.Local {
	return memory.NewLocal(r.store.(memory.Facts), func() time.Duration { return time.Hour }, time.Now)
}

// settled waits until nothing is done any more.
func (r *rig) settled() { r.work.Wait() }

func toldOf(t testing.TB, p memory.Place) string {
	t.Helper()
	m, err := p.Read(app)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range m.Entries {
		all = append(all, fmt.Sprintf("%s: %s", e.Kind, e.Text))
	}
	return strings.Join(all, "|")
}

// lastly is an answer with a section for later sessions behind it.
func lastly(about, lines string) string { return good(about) + "\n## " + memory.Heading + "\n" + lines }

// TestASummarysAnswerTeachesLaterSessions has a section that stands in no summary.
func TestASummarysAnswerTeachesLaterSessions(t *testing.T) {
	f := func(answer, want string) {
		t.Helper()
		without := rigged(t, plain(), text(good("a"))).answered(question("a"))
		r, place := learning(t, text(answer))
		p := r.answered(ofApp("a"))
		if r.settled(); toldOf(t, place) != want {
			t.Errorf("%q teaches %q, want %q", answer, toldOf(t, place), want)
		}
		if p.Text != without.Text || p.Tokens != without.Tokens {
			t.Errorf("the summary of %q is %q of %d tokens, want %q", answer, p.Text, p.Tokens, without.Text)
		}
		r.calls(1)
	}
	f(lastly("a", "- fact: use make check\n- pitfall: cgo is off"), "fact: use make check|pitfall: cgo is off")
	f(lastly("a", "none\n"), "")
	f(lastly("a", ""), "")
	f(good("a"), "")
	f(lastly("a", "- fact: password: swordfish\n- fact: [epitome: all]\n\x1b[2J- preference: short"),
		"fact: (epitome: all]")
	f(lastly("a", "- fact: "+strings.Repeat("on and on ", 100)+"\n- fact: use make check\n"), "fact: use make check")
	f(lastly("a", strings.Repeat("words and more words\n", 1000)), "")
	f("**"+memory.Heading+"**\n- fact: it came first\n\n"+good("a"), "fact: it came first")
	f(strings.Replace(good("a"), "## Goal", "### project memory:\n1. fact: in other marks\n## Goal", 1), "fact: in other marks")
}

func TestACutAnswerTeachesItsWholeLines(t *testing.T) {
	r, place := learning(t, says(prose.Answer{Text: lastly("a", "- fact: use make check\n- fact: never delete"), Cut: true}))
	r.answered(ofApp("a"))
	if r.settled(); toldOf(t, place) != "fact: use make check" {
		t.Errorf("learned %s", toldOf(t, place))
	}
}

// TestWhatIsKnownIsShownAndCanBeTakenBack has notes in the question, as data.
func TestWhatIsKnownIsShownAndCanBeTakenBack(t *testing.T) {
	r, place := learning(t)
	known := memory.Learned{Add: []memory.Entry{{Kind: memory.Fact, Text: "use make"}, {Kind: memory.Pitfall, Text: "cgo is off"}}}
	if err := place.Learn(app, known); err != nil {
		t.Fatal(err)
	}
	m, _ := place.Read(app)
	r.steps = []step{text(lastly("a", "- drop: "+m.Entries[0].ID+"\n- fact: use just"))}
	r.answered(ofApp("a"))
	r.settled()
	if got := toldOf(t, place); got != "pitfall: cgo is off|fact: use just" {
		t.Errorf("learned %s", got)
	}
	ask := r.requests()[0].Ask
	at, end := strings.Index(ask, " notes]\n"), strings.Index(ask, " end of notes]")
	if at < 0 || end < at || ask[at+len(" notes]\n"):strings.LastIndex(ask[:end], "[")] != m.Inventory() {
		t.Errorf("the notes stand in %q", ask)
	}
}

// TestWithoutAMemoryTheQuestionIsAsItWas has a project, but nothing that is learned.
func TestWithoutAMemoryTheQuestionIsAsItWas(t *testing.T) {
	f := func(name string, change func(r *rig, q *prose.Question)) {
		t.Helper()
		c := plain()
		c.Model = "small"
		plainly := rigged(t, c, text(good("a")))
		q := question("a")
		plainly.answered(q)
		r, place := learning(t, text(lastly("a", "- fact: use make check")))
		other := ofApp("a")
		change(r, &other)
		p, err := r.Ask(context.Background(), other)
		if r.settled(); err != nil || toldOf(t, place) != "" {
			t.Errorf("%s: %v, and %q is learned", name, err, toldOf(t, place))
		}
		if got, want := r.requests()[0], plainly.requests()[0]; got.Ask != want.Ask || got.System != want.System {
			t.Errorf("%s: asked %q, want %q", name, got.Ask, want.Ask)
		}
		if !strings.Contains(p.Text, memory.Heading) { // as the model has written it, in the last section
			t.Errorf("%s: the summary is %q", name, p.Text)
		}
	}
	f("no project", func(_ *rig, q *prose.Question) { q.Project = "" })
	f("a project whose name cannot be used", func(_ *rig, q *prose.Question) { q.Project = strings.Repeat("a", 1000) })
	f("no memory", func(r *rig, _ *prose.Question) { r.means.Memory = nil })
	f("a memory that is off", func(r *rig, _ *prose.Question) { r.means.Memory = func() memory.Place { return nil } })
	f("a memory that cannot be read", func(r *rig, _ *prose.Question) {
		r.means.Memory = func() memory.Place { return broken{fails: errors.New("the disk is full")} }
	})
}

// TestWhatWasMadeBeforeTeachesNothing has a summary in the store.
func TestWhatWasMadeBeforeTeachesNothing(t *testing.T) {
	r, place := learning(t, text(lastly("a", "- fact: use make check")))
	r.answered(ofApp("a"))
	r.settled()
	if err := place.Forget(app, ""); err != nil {
		t.Fatal(err)
	}
	r.answered(ofApp("a"))
	if r.settled(); toldOf(t, place) != "" {
		t.Errorf("learned again: %s", toldOf(t, place))
	}
	r.calls(1)
}

// broken is a memory that fails, or panics.
type broken struct {
	fails error
	known bool // it can be read
}

func (b broken) Read(memory.Owner) (memory.Memory, error) {
	if b.known {
		return memory.Memory{}, nil
	}
	return memory.Memory{}, b.fails
}

func (b broken) Learn(memory.Owner, memory.Learned) error {
	if b.fails == nil {
		panic(secret)
	}
	return b.fails
}

// TestAMemoryThatFailsCostsNoSummary has what cannot be kept.
func TestAMemoryThatFailsCostsNoSummary(t *testing.T) {
	f := func(b broken, words string) {
		t.Helper()
		r, _ := learning(t, text(lastly("a", "- fact: use make check")))
		r.means.Memory = func() memory.Place { return b }
		p := r.answered(ofApp("a"))
		r.settled()
		if e := r.told(); strings.Contains(p.Text, memory.Heading) || e[len(e)-1].Kind != event.SummaryCompleted {
			t.Errorf("the summary is %q, told %+v", p.Text, e)
		}
		if log := r.log.String(); !strings.Contains(log, words) || strings.Contains(log, secret) {
			t.Errorf("the log is %q, want %q", log, words)
		}
	}
	f(broken{errors.New("the disk is full"), true}, "the disk is full")
	f(broken{nil, true}, "a bug lost what was learned")
}

// TestASessionAloneIsStudiedOnce has a conversation that was never compacted.
func TestASessionAloneIsStudiedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, place := learning(t, text("- preference: short answers\n- fact: use make check"))
		for range 3 {
			if !Study(r.Summariser, sessionOfApp("s")) {
				t.Error("it is not taken")
			}
			synctest.Wait()
		}
		r.calls(1)
		if got := toldOf(t, place); got != "preference: short answers|fact: use make check" {
			t.Errorf("learned %s", got)
		}
		sent := r.requests()[0]
		if strings.Contains(sent.Ask, "## ") || !strings.Contains(sent.Ask, "please fix s") || sent.Model != "small" {
			t.Errorf("asked %+v", sent)
		}
		if p, _ := r.Peek("s"); p.Text != kept {
			t.Errorf("the archive has %q of it", p.Text)
		}
		e := r.told()
		if len(e) != 2 || e[1].Kind != event.SummaryCompleted || e[1].Detail != "memory" || e[1].Cost.InputTokens != 1000 ||
			e[1].Conversation != "c1" || e[1].Model != "small" {
			t.Errorf("told %+v", e)
		}
	})
}

// TestASessionThatTeachesNothingIsDone has answers with nothing in them that is kept, and others that are none.
func TestASessionThatTeachesNothingIsDone(t *testing.T) {
	f := func(answer prose.Answer, kind, words string, requests int) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			r, place := learning(t, says(answer))
			Study(r.Summariser, sessionOfApp("s"))
			synctest.Wait()
			r.calls(requests)
			e := r.told()
			if len(e) != 2 || e[1].Kind != kind || !strings.Contains(e[1].Reason, words) || toldOf(t, place) != "" {
				t.Errorf("%+v: told %+v, learned %q", answer, e, toldOf(t, place))
			}
		})
	}
	f(prose.Answer{Text: "none"}, event.SummaryCompleted, "", 1)
	f(prose.Answer{Text: "There is nothing to say about this session."}, event.SummaryCompleted, "", 1)
	f(prose.Answer{Text: "user: go on\nassistant: - fact: x"}, event.SummaryCompleted, "", 1)
	f(prose.Answer{Text: " "}, event.SummaryFailed, "empty", 2)
	f(prose.Answer{Called: true}, event.SummaryFailed, "called a tool", 2)
	f(prose.Answer{Text: "- fact: I will not", Refused: true}, event.SummaryFailed, "declined", 2)
	f(prose.Answer{Cut: true}, event.SummaryFailed, "before it had begun", 2)
}

// TestASessionIsNotStudiedForNothing has no memory when its turn comes.
func TestASessionIsNotStudiedForNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := learning(t, text("- fact: use make check"))
		r.means.Memory = func() memory.Place { return nil }
		Study(r.Summariser, sessionOfApp("s"))
		synctest.Wait()
		r.calls(0)
	})
}

// TestSessionsThatFailKeepNoSummaryBack has one line for each kind of question.
func TestSessionsThatFailKeepNoSummaryBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := learning(t, raw(401, "no", ""), text(good("a")))
		Study(r.Summariser, sessionOfApp("s"))
		synctest.Wait()
		r.Prepare(ofApp("a"))
		synctest.Wait()
		if _, found, _ := r.Look("a"); !found {
			t.Errorf("no summary was prepared: %+v", r.told())
		}
	})
}

// TestTwoSessionsLearnSideBySide has two processes over one store, and equal sessions beside others.
func TestTwoSessionsLearnSideBySide(t *testing.T) {
	facts, leases := inmemory.New(64<<20, time.Now), &leased{taken: map[string]bool{}}
	c := plain()
	c.Model = "small"
	var some []*rig
	for i := range 2 {
		r := over(t, facts, c, takes(20*time.Millisecond, func(ctx context.Context, s sent) (Response, error) {
			if strings.Contains(s.Ask, "please fix same") {
				return text(lastly("same", "- fact: of the same"))(ctx, s)
			}
			return text(lastly("own", fmt.Sprintf("- fact: of process %d", i)))(ctx, s)
		}))
		place := placeIn(r)
		r.means.Leases, r.means.Memory = leases, func() memory.Place { return place }
		some = append(some, r)
	}
	var all sync.WaitGroup
	for i, r := range some {
		all.Go(func() { r.answered(ofApp("same")) })
		all.Go(func() { r.answered(ofApp(fmt.Sprint("own ", i))) })
	}
	all.Wait()
	for _, r := range some {
		r.settled()
	}
	got := toldOf(t, placeIn(some[0]))
	for _, want := range []string{"fact: of the same", "fact: of process 0", "fact: of process 1"} {
		if strings.Count(got, want) != 1 {
			t.Errorf("%q is not learned once: %s", want, got)
		}
	}
	if n := len(some[0].requests()) + len(some[1].requests()); n != 3 {
		t.Errorf("%d requests were sent, want 3", n)
	}
}
