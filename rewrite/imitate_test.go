package rewrite

import (
	"testing"

	"epitome/event"
	"epitome/rewrite/plan"
)

// A call that holds the line which epitome puts into cleared arguments is warned of once, when it comes.
func TestACallThatRepeatsTheMarkOfEpitomeIsWarnedOf(t *testing.T) {
	a := newAgent(32_000, userSays(theTask))
	n := a.listen()
	ask := func(want int) {
		t.Helper()
		if out := a.shape(a.body()); out.Report.Err != nil {
			t.Fatal(out.Report.Err)
		}
		if len(n.warnings) != want || want > 0 && n.warnings[want-1].Reason != event.ReasonImitation {
			t.Errorf("warned of %+v", n.warnings)
		}
	}
	a.does("write", `{"path":"a","text":"well"}`, "ok "+plan.ArgumentMark)
	ask(0)
	a.does("write", `{"path":"a","text":"x\n`+plan.ArgumentMark+`lines 2-9 of 10]"}`, "ok")
	ask(1)
	ask(1)
	a.restart()
	a.work(1, 100)
	ask(1)
}
