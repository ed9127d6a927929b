package event

import (
	"math"
	"strings"
	"testing"
)

func TestClipBoundsTextsAndKeepsThemSound(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		if got := Clip(in); got != want {
			t.Errorf("%.20q… is %q, want %q", in, got, want)
		}
	}
	f("", "")
	f("short", "short")
	f("un\xffsound", "unsound")
	f(strings.Repeat("m", MostText), strings.Repeat("m", MostText))
	f(strings.Repeat("m", MostText+1), strings.Repeat("m", MostText))
	f(strings.Repeat("€", MostText), strings.Repeat("€", MostText/3))
}

func TestTotalsThatAreEstimatedAreMarked(t *testing.T) {
	f := func(s Shaping, want string) {
		t.Helper()
		if got := s.Totals(); got != want {
			t.Errorf("%+v: %q, want %q", s, got, want)
		}
	}
	before, after := Tokens{User: 300, Results: 21}, Tokens{User: 25}
	f(Shaping{}, "")
	f(Shaping{TokensBefore: before, TokensAfter: after}, "321>25")
	f(Shaping{TokensBefore: before, TokensAfter: after, Estimated: true}, "~321>~25")
}

func TestNarrowNumbersNeverTurnRound(t *testing.T) {
	f := func(in int, want int32) {
		t.Helper()
		if got := Narrow(in); got != want {
			t.Errorf("%d is %d, want %d", in, got, want)
		}
	}
	f(0, 0)
	f(200_000, 200_000)
	f(math.MaxInt32+1, math.MaxInt32)
}
