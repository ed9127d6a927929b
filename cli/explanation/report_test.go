package explanation

import (
	"strings"
	"testing"

	"epitome/rewrite/ladder"
	"epitome/rewrite/ledger"
)

func TestExplainSaysWhatIsNewAndWhatWasDecided(t *testing.T) {
	f := func(reason string, why []string, want ...string) {
		t.Helper()
		r := &Report{Messages: 9, Mode: "on", Reason: reason, Limits: (&ladder.Limits{}).EffectiveAt(1000, 900, 1)}
		for i, w := range why {
			r.Changes = append(r.Changes,
				Change{Message: i, Rung: string(ledger.StepClear), Why: w, Artifact: "a", Thinking: "b"})
		}
		var b strings.Builder
		if err := r.Print(&b, false); err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !strings.Contains(b.String(), w) {
				t.Errorf("%q does not stand in\n%s", w, b.String())
			}
		}
		if old := strings.Contains(b.String(), "sent as decided before"); old != (reason != "" && why[0] == decidedBefore) {
			t.Errorf("reason %q, changes %v: %s", reason, why, b.String())
		}
	}
	f("", []string{"old"}, "\nThese would not be sent whole:\n", "(thinking)", "a, b")
	f("the provider clears", []string{"old", decidedBefore}, "\nThe provider clears. These would not be sent whole:\n")
	f("the provider clears", []string{decidedBefore}, "\nNothing new would be done: the provider clears. These")
}

func TestThinkingAloneIsNoResultThatWasCleared(t *testing.T) {
	f := func(thinking string, want bool) {
		t.Helper()
		list := []Change{
			{Rung: string(ledger.StepClear), Why: "w", freed: 4, Artifact: "a", Thinking: thinking}}
		if got := belowLine(10, list, 100); got != want {
			t.Errorf("%q: %v", thinking, got)
		}
	}
	f("", true)
	f("a", false)
	f("b", true)
}
