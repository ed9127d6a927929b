package lines

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestADifferenceTurnsOneTextIntoTheOther(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	text := func() (all []Line) {
		for i := range random.IntN(40) {
			all = append(all, Line{Number: i + 1, Raw: string(rune('a' + random.IntN(4)))})
		}
		return all
	}
	for range 2000 {
		before, after := text(), text()
		var old, fresh []string
		for _, c := range Compare(before, after) {
			if c.Kind != "ins" {
				old = append(old, c.Raw)
			}
			if c.Kind != "del" {
				fresh = append(fresh, c.Raw)
			}
		}
		if !slices.Equal(old, rawOf(before)) || !slices.Equal(fresh, rawOf(after)) {
			t.Fatalf("%v and %v: %v", before, after, Compare(before, after))
		}
	}
}

func rawOf(all []Line) (raw []string) {
	for _, l := range all {
		raw = append(raw, l.Raw)
	}
	return raw
}
