package report

import (
	"slices"
	"testing"
)

func TestPercentileIsTheNearestRank(t *testing.T) {
	f := func(p, want float64, xs ...float64) {
		t.Helper()
		before := slices.Clone(xs)
		if got := Percentile(xs, p); got != want {
			t.Errorf("percentile(%v, %g) = %g, want %g", xs, p, got, want)
		}
		if !slices.Equal(xs, before) {
			t.Errorf("percentile changed its input to %v", xs)
		}
	}
	f(50, 0)
	f(50, 7, 7)
	f(99, 7, 7)
	f(50, 2, 4, 1, 3, 2)
	f(51, 3, 4, 1, 3, 2)
	f(25, 1, 4, 1, 3, 2)
	f(75, 3, 4, 1, 3, 2)
	f(100, 4, 4, 1, 3, 2)
	f(1, 1, 4, 1, 3, 2)

	hundred := make([]float64, 100)
	for i := range hundred {
		hundred[i] = float64(100 - i)
	}
	f(99, 99, hundred...)
	f(50, 50, hundred...)
	f(100, 100, hundred...)
}

func TestMedianIsTheMiddle(t *testing.T) {
	f := func(want float64, xs ...float64) {
		t.Helper()
		before := slices.Clone(xs)
		if got := Median(xs); got != want {
			t.Errorf("median(%v) = %g, want %g", xs, got, want)
		}
		if !slices.Equal(xs, before) {
			t.Errorf("median changed its input to %v", xs)
		}
	}
	f(0)
	f(5, 5)
	f(2, 9, 1, 2)
	f(2.5, 9, 3, 2, 1)
	f(-1, -3, 1, -1)
}

func TestRatioOfNothingIsUnknown(t *testing.T) {
	if got := Ratio(9, 5); got == nil || *got != 1.8 {
		t.Errorf("ratio(9, 5) = %v, want 1.8", got)
	}
	if got := Ratio(-1, 4); got == nil || *got != -0.25 {
		t.Errorf("ratio(-1, 4) = %v, want -0.25", got)
	}
	for _, b := range []float64{0, -2} {
		if got := Ratio(1, b); got != nil {
			t.Errorf("ratio(1, %g) = %g, want none", b, *got)
		}
	}
}

func TestDifferencesPairTurnsOfTheSameRound(t *testing.T) {
	got := Differences([]float64{5, 7, 9}, []float64{1, 2, 4})
	if want := []float64{4, 5, 5}; !slices.Equal(got, want) {
		t.Errorf("differences = %v, want %v", got, want)
	}
	if got := Differences([]float64{5, 7}, []float64{1}); !slices.Equal(got, []float64{4}) {
		t.Errorf("differences of unequal lengths = %v, want [4]", got)
	}
}
