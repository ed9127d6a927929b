package daemon

import (
	"bytes"
	"testing"

	"epitome/config"
)

// Conversations that begin alike have nothing in common from where they part.
func TestConversationsThatBeginAlikeShareNoSummary(t *testing.T) {
	t.Parallel()
	p := providing(t, itsWindow, itsUsable)
	r := served(p, t.TempDir(), asDefault)
	a, b := working(r), working(r)
	a.own, b.own = "alpha", "beta"
	for range 2 { // turn by turn, so that neither is known as the last one
		for range 30 {
			a.turn()
			b.turn()
		}
	}
	for k, w := range []*worker{a, b} {
		own, other := []byte("_of_"+w.own+"_"), []byte("_of_"+[]string{"beta", "alpha"}[k]+"_")
		mine := map[int]bool{}
		for _, q := range p.questions() {
			if bytes.Contains(q.body, own) {
				mine[q.number] = true
			}
			if bytes.Contains(q.body, own) && bytes.Contains(q.body, other) {
				t.Errorf("question %d is about both", q.number)
			}
		}
		if len(mine) < 2 {
			t.Fatalf("%d questions are about %s, of %d", len(mine), w.own, len(p.questions()))
		}
		last := 0
		for _, h := range p.sent() {
			for n := range len(p.questions()) + 1 {
				if !bytes.Contains(h.body, own) || !bytes.Contains(h.body, []byte(markOf(n))) {
					continue
				}
				if last = n; !mine[n] {
					t.Fatalf("%s is told the summary of the other one", w.own)
				}
			}
		}
		if last == 0 {
			t.Errorf("%s has no summary", w.own)
		}
	}
}

// One conversation under two credentials is two where credentials are kept apart, and one where they are not.
func TestScopesShareNoSummary(t *testing.T) {
	t.Parallel()
	f := func(scope string, want int) {
		t.Helper()
		p := providing(t, itsWindow, itsUsable)
		r := served(p, t.TempDir(), func(c *config.Config) { c.Scope = scope })
		a := working(r)
		for range 3 {
			a.turn()
		}
		for len(p.questions()) == 0 && a.after < itsUsable {
			body := a.body()
			got := a.turn()
			b := *a
			b.key = "Bearer sk-other"
			if theirs, err := b.send(t.Context(), body); err != nil || theirs.message != got.message && want == 1 {
				t.Fatalf("%s: the other one got %+v, %v", scope, theirs, err)
			}
		}
		p.wants(want)
		sent := p.sent()
		mine, theirs := sent[len(sent)-2], sent[len(sent)-1]
		if mine.key != agentsKey || theirs.key != "Bearer sk-other" || !bytes.Contains(mine.body, []byte(markOf(1))) ||
			!bytes.Contains(theirs.body, []byte(markOf(want))) {
			t.Errorf("%s: sent were %s of %s, and %s of %s", scope, mine.Messages[1].text(), mine.key, theirs.Messages[1].text(), theirs.key)
		}
		for k, q := range p.questions() {
			if q.key != []string{agentsKey, "Bearer sk-other"}[k] {
				t.Errorf("%s: question %d was asked for %s", scope, k+1, q.key)
			}
		}
	}
	f("credential", 2)
	f("auto", 1)
}
