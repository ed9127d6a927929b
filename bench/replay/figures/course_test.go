package figures

import (
	"slices"
	"testing"
)

func TestThinningKeepsPeaksAndDrops(t *testing.T) {
	values := make([]int, 100_000)
	for i := range values {
		values[i] = 1000 + i
	}
	values[77_777], values[33_333] = 1_000_000, 1
	s := SeriesOf(values)
	if len(s.Tokens) > MostPoints || len(s.Tokens) < MostPoints/2 || len(s.At) != len(s.Tokens) ||
		!slices.IsSorted(s.At) {
		t.Fatalf("%d points, %d numbers", len(s.Tokens), len(s.At))
	}
	for i, n := range s.At {
		if values[n-1] != s.Tokens[i] {
			t.Fatalf("request %d has %d tokens, want %d", n, s.Tokens[i], values[n-1])
		}
	}
	for _, n := range []int{1, 33_334, 77_778, 100_000} {
		if !slices.Contains(s.At, n) {
			t.Errorf("request %d is left out", n)
		}
	}
	if s = SeriesOf(values[:MostPoints]); s.At != nil || len(s.Tokens) != MostPoints {
		t.Errorf("%d points, %d numbers", len(s.Tokens), len(s.At))
	}
}
