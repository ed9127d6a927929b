package rewrite

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"epitome/rewrite/abridge"
	"epitome/rewrite/chat"
	"epitome/rewrite/decision"
	"epitome/rewrite/plan"
)

// entries is a text of some 180 tokens.
func entries(n int) string {
	var b strings.Builder
	for i := range 9 {
		fmt.Fprintf(&b, "\tentry_%d of listing_%d: value_%d is well and so is all else\n", i, n, 31*n+i)
	}
	return b.String()
}

// wellRead is an agent that has read a file, has done more work behind it, and is known to the shaper. A summary of
// that would be longer than what it stands for.
func wellRead(t *testing.T, task string) *agent {
	t.Helper()
	a := newAgent(128_000, userSays(task))
	a.limits.Repeats, a.limits.Floor, a.limits.KeepTail = true, 0, 700
	a.does("bash", `{"command":"cat notes"}`, entries(1))
	for range 40 { // in a summary the heading of each takes more than it saves
		a.items = append(a.items, userSays("Go on."))
	}
	a.does("bash", `{"command":"cat other"}`, entries(2))
	a.work(1, 600)
	a.ask(t)
	return a
}

// findsAfterRestart holds that a result that says again what the agent has read becomes a reference, and that it is
// sent as after a restart.
func (a *agent) findsAfterRestart(t *testing.T) {
	t.Helper()
	a.does("bash", `{"command":"cat notes again"}`, "again:\n"+entries(1))
	facts := maps.Clone(a.notes.facts)
	live := a.ask(t)
	a.notes.facts = facts
	a.restart()
	if fresh := a.ask(t); string(live.Body) != string(fresh.Body) {
		t.Errorf("after a restart another body is sent:\n%s", firstDifference(string(live.Body), string(fresh.Body)))
	}
	if !strings.Contains(string(live.Body), "of the earlier result of bash `cat notes`") {
		t.Errorf("there is no reference in %s", live.Body)
	}
}

func TestAnUndoneCompactionLeavesWhatRepeatsFind(t *testing.T) {
	a := wellRead(t, theTask)
	if out := a.compactNow(t); compacts(out) || !strings.Contains(out.Report.Reason, "less than a summary") {
		t.Fatalf("the compaction was to be undone: %+v", out.Report)
	}
	a.findsAfterRestart(t)
}

func TestAnUndoneRescueLeavesWhatRepeatsFind(t *testing.T) {
	a := wellRead(t, strings.Repeat(theTask, 1_000))
	if out := a.rescue(t, plan.Rescue{Most: 1_000}); out.Report.Stage != plan.StageNone {
		t.Fatalf("the rescue was to be undone: %+v", out.Report)
	}
	a.findsAfterRestart(t)
}

// planOf is the plan of what the agent asks, before anything is decided.
func (a *agent) planOf(t *testing.T) *plan.Plan {
	t.Helper()
	x := &run{shaper: a.Shaper, in: Input{Dialect: chat.Dialect{}, Body: []byte(a.body()), Upstream: "up",
		Limits: &a.limits}}
	if err := x.read(); err != nil || x.req == nil {
		t.Fatal(err)
	}
	x.plan.Forms = plan.BaseForms(x.plan)
	return x.plan
}

func TestUndoPutsAllBack(t *testing.T) {
	a := wellRead(t, theTask)
	p := a.planOf(t)
	abridge.LearnLines(p, len(p.Hist.Results))
	stubbed := func(k int) {
		res := &p.Hist.Results[k]
		p.Set(res.Item, plan.StubOf(p, res, "old"), "old")
	}
	type state struct {
		forms  []*decision.Form
		fresh  map[int]bool
		marked map[string]bool
		made   int
		kept   int
		broke  bool
		found  int
		tracks int
	}
	now := func() state {
		found := len(p.Hist.Lines.Repeats(entries(1))) + len(p.Hist.Lines.Repeats(entries(2)))
		return state{slices.Clone(p.Forms), maps.Clone(p.Sheet.NewForms), maps.Clone(p.Sheet.Named),
			len(p.Sheet.Changes), len(p.Sheet.Artifacts), p.Sheet.Broke, found, p.Result.FilesNamed}
	}
	same := func(what string, a, b state) {
		t.Helper()
		if !slices.Equal(a.forms, b.forms) || !maps.Equal(a.fresh, b.fresh) || !maps.Equal(a.marked, b.marked) ||
			a.made != b.made || a.kept != b.kept || a.broke != b.broke || a.found != b.found || a.tracks != b.tracks {
			t.Errorf("%s: %+v, want %+v", what, b, a)
		}
	}
	before := now()
	if before.found != 2 {
		t.Fatalf("%d of 2 results are known", before.found)
	}
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
	if s := now(); s.found != 1 || len(s.marked) != 1 {
		t.Errorf("after an undo nothing can be decided any more: %+v", s)
	}
}
