package plan_test

import (
	"maps"
	"slices"
	"testing"

	"epitome/rewrite/decision"
	"epitome/rewrite/plan"
	"epitome/rewrite/plan/plantest"
)

func TestUndoPutsAllBack(t *testing.T) {
	body := plantest.Body(plantest.Command("cat notes", plantest.Entries(1)), plantest.Command("cat other", plantest.Entries(2)))
	p := plantest.NewDesk(t).Plan(t, body)
	stubbed := func(k int) {
		res := &p.Hist.Results[k]
		p.Set(res.Item, plan.StubOf(p, res, "old"), plan.Why{Words: "old"})
	}
	type state struct {
		forms  []*decision.Form
		fresh  map[int]bool
		marked map[string]bool
		made   int
		kept   int
		broke  bool
		tracks int
	}
	now := func() state {
		return state{slices.Clone(p.Forms), maps.Clone(p.Sheet.NewForms), maps.Clone(p.Sheet.Named),
			len(p.Sheet.Changes), len(p.Sheet.Artifacts), p.Sheet.Broke, p.Result.FilesNamed}
	}
	same := func(what string, a, b state) {
		t.Helper()
		if !slices.Equal(a.forms, b.forms) || !maps.Equal(a.fresh, b.fresh) || !maps.Equal(a.marked, b.marked) ||
			a.made != b.made || a.kept != b.kept || a.broke != b.broke || a.tracks != b.tracks {
			t.Errorf("%s: %+v, want %+v", what, b, a)
		}
	}
	before := now()
	outer := p.Checkpoint()
	stubbed(0)
	p.Result.FilesNamed, p.Sheet.Broke = 3, true
	inner := p.Checkpoint()
	stubbed(1)
	stubbed(0)
	p.Undo(inner)
	if p.Forms[p.Hist.Results[0].Item] == nil || p.Forms[p.Hist.Results[1].Item] != nil || len(p.Sheet.Named) != 1 {
		t.Error("the inner checkpoint undoes more or less than what came behind it")
	}
	stubbed(1)
	p.Undo(outer)
	same("undone", before, now())
	stubbed(1)
	if s := now(); len(s.marked) != 1 {
		t.Errorf("after an undo nothing can be decided any more: %+v", s)
	}
}
