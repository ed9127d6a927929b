package figures

import (
	"strings"
	"testing"

	"epitome/bench/baselines"
)

func TestReplayNamesBaselinesThatAreCheaperAndBetter(t *testing.T) {
	share := func(v float64) *float64 { return &v }
	row := func(policy string, cost, hot, older float64) Row {
		return Row{Window: 64_000, Policy: policy, Cost: share(cost), Recall: share(hot), Older: share(older)}
	}
	f := func(want string, rows ...Row) {
		t.Helper()
		r := &Report{Subjects: []string{"it", "also it"}, Conversations: 1, Rows: append(rows, row("it", 0.5, 95, 80))}
		r.Settle(false)
		if got := strings.Join(r.Missed(), "\n"); got != want {
			t.Errorf("missed %q, want %q", got, want)
		}
	}
	f("", row("dearer", 0.6, 99, 99), row("as dear", 0.5, 99, 99), row("worse", 0.1, 94, 99),
		row("forgetful", 0.1, 99, 79), row("as good", 0.1, 95, 80))
	f("", Row{Window: 64_000, Policy: "unknown", Cost: share(0.1)}, row("also it", 0.5, 95, 80))
	small := row("small", 0.1, 99, 99)
	small.Window = 128_000
	f("", small)
	f("cheaper and better in recall, it, window 64000 (x) (y): 2.00 baselines, goal ≤ 0", row("x", 0.4, 96, 81),
		row("y", 0.1, 99, 99))
}

// An adversary that is cheaper and as good in all that is measured says that a measure is none.
func TestAdversariesMustLose(t *testing.T) {
	share := func(v float64) *float64 { return &v }
	f := func(change func(*Row), want float64) {
		t.Helper()
		it := Row{Window: 32_000, Policy: "it", Cost: share(0.5), Recall: share(90), Older: share(80), Lines: share(85),
			Signal: share(70), SignalFirst: share(80)}
		x := it
		x.Policy, x.Cost = baselines.LinesName, share(0.4)
		change(&x)
		r := &Report{Subjects: []string{"it"}, Rows: []Row{x, it}}
		goal := r.countFooling(it, "")
		if *goal.Value != want || (want > 0) != strings.Contains(goal.Name, x.Policy) {
			t.Errorf("%+v: %s %g", x, goal.Name, *goal.Value)
		}
	}
	f(func(*Row) {}, 1)
	f(func(x *Row) { x.Signal, x.SignalFirst = nil, nil }, 1) // it changed nothing that came
	f(func(x *Row) { x.Policy = baselines.TruncateName }, 0)
	for _, lose := range []func(*Row){
		func(x *Row) { x.Cost = share(0.5) }, func(x *Row) { x.Recall = share(89) },
		func(x *Row) { x.Older = share(79) }, func(x *Row) { x.Lines = share(84) },
		func(x *Row) { x.Signal = share(69) }, func(x *Row) { x.SignalFirst = share(79) },
	} {
		f(lose, 0)
	}
}

func TestReplayGoals(t *testing.T) {
	share := func(v float64) *float64 { return &v }
	r := &Report{Subjects: []string{"it"}, Conversations: 1, Rows: []Row{
		{Window: 64_000, Policy: baselines.RawName, Died: 9, Invalid: 9},
		{Window: 64_000, Policy: "it", Cost: share(0.461), Recall: share(96.5), Older: share(85.6),
			BreaksPer100: share(2.8), Retrievable: share(99.9)},
		{Window: 1000, Policy: "it", Died: 1, Invalid: 2, Cost: share(2), Recall: share(1),
			Older: share(1)},
	}}
	f := func(bar bool, want ...string) {
		t.Helper()
		r.Settle(bar)
		if got := r.Missed(); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("missed %q, want %q", got, want)
		}
	}
	strict := []string{"died, it, window 1000: 1.00 conversations, goal ≤ 0",
		"invalid, it, window 1000: 2.00 requests, goal ≤ 0"}
	retrievable := "retrievable, it, window 64000: 99.90 %, goal ≥ 100"
	f(false, append([]string{retrievable}, strict...)...)
	f(true, append([]string{retrievable, "older recall in context, it, window 64000: 85.60 %, goal ≥ 85.7",
		"cost, it, window 64000: 0.46 ×, goal ≤ 0.46"}, strict...)...)
	var text strings.Builder
	if err := r.Print(&text); err != nil || strings.Count(text.String(), "MISSED") != 5 ||
		!strings.Contains(text.String(), "Window of 1000 tokens") {
		t.Errorf("%v\n%s", err, text.String())
	}
}
