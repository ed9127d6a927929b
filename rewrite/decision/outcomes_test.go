package decision

import (
	"slices"
	"strings"
	"testing"
)

func TestOutcomesSayWhetherCompactingPays(t *testing.T) {
	of := func(before, after int) Outcome { return Outcome{Before: before, After: after} }
	f := func(want bool, total, window int, list ...Outcome) {
		t.Helper()
		if got := Outcomes(list).Pays(total, window); got != want {
			t.Errorf("%v for %d tokens by %d of %v", got, total, window, list)
		}
	}
	f(true, 1_000, 10)
	f(true, 1_000, 10, of(1_000, 500))
	f(false, 1_000, 10, of(1_000, 1_000))
	f(true, 1_000, 0, of(1_000, 1_000))
	f(false, 1_099, 10, of(1_000, 1_000))
	f(true, 1_100, 10, of(1_000, 1_000))
	f(false, 1_000, 10, of(1_000, 910))
	f(true, 1_002, 10, of(1_000, 910)) // it has grown
	f(true, 1_000, 10, of(1_000, 1_000), of(1_000, 500))
	f(false, 1_000, 3, of(1_000, 990), of(1_000, 990), of(1_100, 980))
	f(true, 1_000, 4, of(1_000, 990), of(1_000, 990), of(1_100, 980)) // not so many are known yet
	f(true, 1_000, 2, of(1_000, 990), of(1_000, 800), of(1_000, 800))
}

func TestOutcomesAreReadBackAsTheyWereWritten(t *testing.T) {
	all := Outcomes(nil)
	for k := range 300 {
		all = all.With(Outcomes{{Before: k, After: k / 2}}, 250)
	}
	if back, err := ReadOutcomes(all.Append(nil)); err != nil || !slices.Equal(back, all) ||
		len(all) != MostOutcomes || all[99] != (Outcome{Before: 299, After: 149}) {
		t.Errorf("%v, %v", back, err)
	}
	if got := all.With(Outcomes{{Before: 1, After: 1}}, 3); len(got) != 3 ||
		got[2] != (Outcome{Before: 1, After: 1}) {
		t.Errorf("%v", got)
	}
	if _, err := ReadOutcomes([]byte{1}); err == nil {
		t.Error("half an outcome was read")
	}
	if _, err := ReadOutcomes([]byte(strings.Repeat("\x01", 2*MostOutcomes+2))); err == nil {
		t.Error("too many outcomes were read")
	}
}
