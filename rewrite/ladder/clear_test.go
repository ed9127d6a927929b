package ladder

import (
	"fmt"
	"strings"
	"testing"

	"epitome/rewrite/plan"
	"epitome/rewrite/plan/plantest"
)

// lines are so many lines of some 9 tokens, all of them different.
func lines(name string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s %d: all is well with this one\n", name, i)
	}
	return b.String()
}

// isStub reports whether nothing of result k is sent but a stub.
func isStub(p *plan.Plan, k int) bool { return plan.IsCleared(p, &p.Hist.Results[k]) }

// What clearing frees must be worth what the model no longer sees.
func TestNoResultIsClearedForLittle(t *testing.T) {
	f := func(command, output string, want bool) {
		t.Helper()
		desk := plantest.NewDesk(t)
		desk.Limits.Protect, desk.Limits.Groups, desk.Limits.ClearAt, desk.Limits.ClearAtLeast = 0, 1, .01, 0
		desk.Window = 5_000
		p := desk.Plan(t, plantest.Body(plantest.Command(command, output), plantest.Command("make long", lines("long", 300)),
			plantest.Command("true 1", "ok"), plantest.Command("true 2", "ok")))
		before := p.SentSize(p.Hist.Results[0].Item)
		clearOld(p, p.Total())
		if !isStub(p, 1) {
			t.Fatal("the long result is not cleared")
		}
		freed := before - p.SentSize(p.Hist.Results[0].Item)
		if isStub(p, 0) != want || want != (freed > 0) || want && (freed < 200 || 2*freed < before) {
			t.Errorf("cleared: %v, %d of %d tokens are freed", isStub(p, 0), freed, before)
		}
	}
	f("make", lines("part", 60), true)
	f("make", lines("part", 18), false) // its stub frees less than 200 tokens
	f("make", "done", false)
}
