package rewrite

import (
	"context"
	"strings"
	"testing"

	"epitome/rewrite/chat"
)

func (a *agent) nowOnce(t *testing.T) Output {
	t.Helper()
	a.now = true
	defer func() { a.now = false }()
	return a.ask(t)
}

// While a compaction that was asked for waits for a model, the same request comes without that, as from a client that
// tries again.
func TestSupersededDecisionIsNotChosenAgain(t *testing.T) {
	a, n := newTold(64_000)
	for range 30 {
		a.work(1, 900)
		a.ask(t)
	}
	n.wait = func(context.Context, *narrator) error { // meanwhile
		body := a.body()
		n.mu.Unlock()
		defer n.mu.Lock()
		b := a.Shape(Input{Dialect: chat.Dialect{}, Body: []byte(body), Upstream: "up", Limits: &a.limits,
			Client: somebody{context.Background()}})
		if b.Report.Err != nil {
			t.Fatal(b.Report.Err)
		}
		return nil
	}
	out := a.nowOnce(t)
	n.wait = nil
	if !compacts(out) {
		t.Fatalf("not compacted: %+v", out.Report)
	}
	a.work(1, 100)
	next := a.shape(a.body())
	if !strings.Contains(string(next.Body), "epitome: summary") {
		t.Errorf("promise 5: the turn after the compaction is sent in the superseded form (%d bytes after %d), broke=%v", len(next.Body), len(out.Body), next.Report.Broke)
	}
	a.restart()
	a.items = a.items[:len(a.items)-2]
	again := a.shape(a.body())
	if string(again.Body) != string(out.Body) {
		t.Error("after a restart the same request is sent otherwise")
	}
}

// A compaction that was asked for replaces what stood when it began, and nothing newer.
func TestNowReplacesNothingNewer(t *testing.T) {
	a, n := newTold(64_000)
	for range 30 {
		a.work(1, 900)
		a.ask(t)
	}
	a.work(1, 900)
	a.items = append(a.items, userSays("And a reminder that moves."))
	var inner Output
	first := true
	n.wait = func(context.Context, *narrator) error {
		if !first {
			return errNarrator // the second gets no prose
		}
		first = false
		body := a.body()
		n.mu.Unlock()
		defer n.mu.Lock()
		n2 := a.limits
		inner = a.Shape(Input{Dialect: chat.Dialect{}, Body: []byte(body), Upstream: "up", Limits: &n2, Compact: true,
			Client: somebody{context.Background()}})
		return nil
	}
	out := a.nowOnce(t)
	n.wait = nil
	a.restart()
	again := a.ask(t)
	if string(again.Body) != string(inner.Body) {
		t.Errorf("the decision by which the first was sent was replaced by one that did not see it (outer sent the same as the first: %v)", string(out.Body) == string(inner.Body))
	}
}
