package rewrite

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"epitome/event"
	"epitome/rewrite/plan"
	"epitome/rewrite/plan/plantest"
)

// wellRead is an agent that has read a file, has done more work behind it, and is known to the shaper. A summary of
// that would be longer than what it stands for.
func wellRead(t *testing.T, task string) *agent {
	t.Helper()
	a := newAgent(128_000, userSays(task))
	a.limits.Repeats, a.limits.Floor, a.limits.KeepTail = true, 0, 700
	a.does("bash", `{"command":"cat notes"}`, plantest.Entries(1))
	for range 40 { // in a summary the heading of each takes more than it saves
		a.items = append(a.items, userSays(fmt.Sprint("Go on with ", len(a.items))))
	}
	a.does("bash", `{"command":"cat other"}`, plantest.Entries(2))
	a.work(1, 600)
	a.ask(t)
	return a
}

// findsAfterRestart holds that a result that says again what the agent has read becomes a reference, and that it is
// sent as after a restart.
func (a *agent) findsAfterRestart(t *testing.T) {
	t.Helper()
	a.does("bash", `{"command":"cat notes again"}`, "again:\n"+plantest.Entries(1)+plantest.Entries(2))
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
	if out := a.compactNow(t); compacts(out) || out.Report.Code != event.CodeNoSmaller {
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
