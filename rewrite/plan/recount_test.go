package plan_test

import (
	"testing"

	"epitome/rewrite/conversation"
	"epitome/rewrite/decision"
	"epitome/rewrite/plan"
	"epitome/rewrite/plan/plantest"
)

// Models count alike neither text nor pictures: what was decided for one has other sizes for another.
func TestFormsOfAnotherModelAreCountedAgain(t *testing.T) {
	const stale = 7_777
	p := plantest.NewDesk(t).Plan(t, plantest.Body(plantest.Command("make", "gcc: error"), plantest.Command("ls", "a\nb")))
	f := func(name string, form decision.Form, want int) {
		t.Helper()
		form.Whole, form.First, form.Now = stale, stale, stale
		if form.Gone {
			form.Now = 0
		}
		p.Base = &decision.Decision{Forms: []*decision.Form{&form}}
		if got := plan.BaseForms(p)[0]; got.Now != want || got.Whole != p.Hist.Sizes[0] {
			t.Errorf("%s: %d of %d tokens, not %d of %d", name, got.Now, got.Whole, want, p.Hist.Sizes[0])
		}
	}
	f("a summary stood behind it, and stands elsewhere", decision.Form{Rung: decision.RungCompact}, p.Hist.Sizes[0])
	f("a summary stands behind it", decision.Form{Rung: decision.RungCompact,
		Patches: []decision.Patch{{Place: conversation.Behind, Text: "seven words are what it says here"}}}, p.Hist.Sizes[0]+7)
	f("a message stands for it", decision.Form{Rung: decision.RungCompact, Fold: 1,
		With: string(p.Req.Dialect.Message(conversation.User, "seven words are what it says here"))},
		plan.MessageTokens(p, "seven words are what it says here"))
	f("it is left out with others", decision.Form{Rung: decision.RungCompact, Gone: true}, 0)
}
