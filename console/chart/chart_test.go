package chart

import (
	"fmt"
	"slices"
	"testing"
)

func TestThinKeepsTheEndsAndTheExtremes(t *testing.T) {
	values := make([]int, 1000)
	for i := range values {
		values[i] = 1000 + i%7
	}
	values[777], values[333] = 1_000_000, 1
	for most := 4; most < 20; most++ {
		got := Thin(values, most)
		if len(got) > most || got[0] != 0 || got[len(got)-1] != 999 || !slices.IsSorted(got) ||
			!slices.Contains(got, 777) || !slices.Contains(got, 333) {
			t.Errorf("%d of 1000: %d", most, got)
		}
	}
	if got := Evenly([]int{1, 2, 3, 4, 5, 6}, 3); !slices.Equal(got, []int{1, 3, 5}) {
		t.Errorf("three of six, evenly: %d", got)
	}
	if got := Thin(values[:3], 4); !slices.Equal(got, []int{0, 1, 2}) {
		t.Errorf("all of three: %d", got)
	}
}

func TestAxesHaveRoundNumbers(t *testing.T) {
	f := func(most, end float64, steps ...float64) {
		t.Helper()
		if got := AxisEnd(most); got != end {
			t.Errorf("an axis to %g ends at %g, want %g", most, got, end)
		}
		if got := Steps(0, AxisEnd(most)); fmt.Sprintf("%.4g", got) != fmt.Sprintf("%.4g", steps) {
			t.Errorf("an axis to %g has %g, want %g", most, got, steps)
		}
	}
	f(1, 1, 0, .2, .4, .6, .8, 1)
	f(128_000, 140_000, 0, 20_000, 40_000, 60_000, 80_000, 100_000, 120_000, 140_000)
	f(201_000, 250_000, 0, 50_000, 100_000, 150_000, 200_000, 250_000)
	if got := Steps(5, 5); got != nil {
		t.Errorf("an empty range has %g", got)
	}
}

func TestPlotPlacesNumbersAndAmounts(t *testing.T) {
	p := Plot{Left: 10, Top: 5, Width: 100, Height: 50, Count: 3, Most: 200}
	number := func(place int) int { return place + 1 }
	if got := p.Line([]int{0, 100, 200}, []int{0, 1, 2}, number); got != "10.0,55.0 60.0,30.0 110.0,5.0" {
		t.Error(got)
	}
	p.Count = 1
	if got := p.Line([]int{100}, []int{0}, number); got != "60.0,30.0 60.0,30.0" {
		t.Errorf("a single point: %s", got)
	}
	if got := p.Line(nil, nil, number); got != "" {
		t.Errorf("no point: %s", got)
	}
}

func TestPlainShowsWhatCannotBeSeen(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		if got := Plain(in); got != want {
			t.Errorf("%q is shown as %q, want %q", in, got, want)
		}
	}
	f("go test ./… <b>&amp;", "go test ./… <b>&amp;")
	f("\x00\x1b[2J\r\n\t\x7f", "␀␛[2J␍␊␉␡")
	f("a\u202eb\u200bc\u2028d\u0085", "a\uFFFDb\uFFFDc\uFFFDd\uFFFD")
	f("\xff\ufdd0\ue000", "\uFFFD\uFFFD\uFFFD")
}

func TestShortenedKeepsWholeCharacters(t *testing.T) {
	f := func(in string, most int, want string) {
		t.Helper()
		if got := Shortened(in, most); got != want {
			t.Errorf("%q in %d: %q, want %q", in, most, got, want)
		}
	}
	f("äöü", 3, "äöü")
	f("äöüß", 3, "äö…")
	f("", 3, "")
	f("𝄞𝄞𝄞𝄞𝄞𝄞𝄞𝄞", 2, "𝄞…")
}
