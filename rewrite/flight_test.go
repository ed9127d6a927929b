package rewrite

import (
	"context"
	"strings"
	"sync"
	"testing"

	"epitome/prose"
	"epitome/rewrite/chat"
	"epitome/rewrite/plan"
)

// flight is a model that answers once all who are expected have asked. Of equal questions one is answered, and all get
// that.
type flight struct {
	*narrator
	came    sync.WaitGroup
	release chan struct{}

	mu    sync.Mutex
	asked map[string]int
	late  bool // every other one does not wait that long
}

// Ask waits, as long as others have not come.
func (f *flight) Ask(ctx context.Context, q prose.Question) (prose.Prose, error) {
	f.mu.Lock()
	f.asked[q.Key]++
	k := f.asked[q.Key]
	f.mu.Unlock()
	f.came.Done()
	<-f.release
	if f.late && k%2 == 0 {
		return prose.Prose{}, errNarrator
	}
	return f.narrator.Ask(ctx, q)
}

// A hundred equal requests at once have one question, one decision, and one body, though some of them do not wait for
// the answer.
func TestHundredEqualRequestsHaveOneSummaryAndOneDecision(t *testing.T) {
	f := func(late, now bool) {
		t.Helper()
		const many = 100
		a, n := styled(4_000, prose.Style{Mode: prose.ModeLLM})
		for a.send(t).Report.After.Total() < 2_750 {
			a.work(1, 300)
		}
		if a.work(1, 375); now {
			a.items = a.items[:len(a.items)-2]
		}
		model := &flight{narrator: n, release: make(chan struct{}), asked: map[string]int{}, late: late}
		model.came.Add(many)
		a.deps.Summariser = model
		go func() {
			model.came.Wait()
			close(model.release)
		}()
		body, outs := a.body(), make([]Output, many)
		a.now = now
		var all sync.WaitGroup
		for i := range outs {
			all.Go(func() { outs[i] = a.shape(body) })
		}
		all.Wait()
		a.now = false
		if len(model.asked) != 1 || len(n.made) != 1 {
			t.Errorf("%d questions were asked, and %d answered", len(model.asked), len(n.made))
		}
		decisions := map[string]bool{}
		for key, fact := range a.notes.facts {
			if key[0] == 'd' && strings.HasSuffix(key, string(wholeOf(t, body))) {
				decisions[fact.value] = true
			}
		}
		for i, out := range outs {
			if i%25 == 0 {
				judged(t, a.bench, body, out)
			}
			if string(out.Body) != string(outs[0].Body) || out.Report.Err != nil ||
				!strings.Contains(string(out.Body), plan.Mark+"summary ") {
				t.Fatalf("request %d is sent otherwise: %+v", i, out.Report)
			}
		}
		n.pairedAtOnce(t, many)
		if len(decisions) != 1 || !late && !strings.Contains(string(outs[0].Body), "Work number 1") {
			t.Errorf("%d decisions", len(decisions))
		}
		a.restart()
		a.work(1, 100)
		goesOn(t, outs[0], a.ask(t))
	}
	f(false, false)
	f(true, false)
	f(false, true)
	f(true, true)
}

// wholeOf is the link that names a whole conversation.
func wholeOf(t *testing.T, body string) []byte {
	t.Helper()
	r, err := chat.Read([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	chain := r.ChainFrom(nil)
	return chain[len(chain)-1][:]
}

// pairedAtOnce holds that so many compactions were begun and have ended.
func (n *narrator) pairedAtOnce(t *testing.T, many int) {
	t.Helper()
	if kinds := n.kinds(); strings.Count(kinds, "started") != many ||
		strings.Count(kinds, "completed")+strings.Count(kinds, "failed") != many {
		t.Errorf("told: %s", kinds)
	}
}
