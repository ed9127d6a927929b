package lines

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestLinesAreCutAndCounted(t *testing.T) {
	f := func(in string, want ...Line) {
		t.Helper()
		got, more, err := Read(strings.NewReader(in), 3)
		for i := range got {
			got[i].Raw = ""
		}
		if err != nil || more != (strings.Count(in, "\n") > 3) || !slices.Equal(got, want) {
			t.Errorf("%.40q: %.300v, %v, %v", in, got, more, err)
		}
	}
	f("")
	f("a", Line{Number: 1, Text: "a"})
	f("a\r\n\n\tb\x1b\n", Line{Number: 1, Text: "a"}, Line{Number: 2}, Line{Number: 3, Text: "\tb␛"})
	f("1\n2\n3\n4\n", Line{Number: 1, Text: "1"}, Line{Number: 2, Text: "2"}, Line{Number: 3, Text: "3"})
	long := strings.Repeat("é", 10<<20)
	f(long+"\nend", Line{Number: 1, Text: long[:2*mostLine], Cut: int64(len(long)+1) - 2*mostLine},
		Line{Number: 2, Text: "end"})
	exact := strings.Repeat("x", mostLine)
	f(exact+"yz\n", Line{Number: 1, Text: exact, Cut: 2})
}

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

func TestLongRunsOfLinesAreFolded(t *testing.T) {
	f := func(kinds string, want string) {
		t.Helper()
		var all []Change
		for i, k := range kinds {
			all = append(all, Change{Line: Line{Number: i + 1}, Kind: map[rune]string{'-': "del", '+': "ins"}[k]})
		}
		var got strings.Builder
		for _, c := range Fold(all) {
			got.WriteString(map[string]string{"del": "-", "ins": "+", "skip": fmt.Sprintf("(%d from %d)", c.Left, c.Number),
				"": " "}[c.Kind])
		}
		if got.String() != want {
			t.Errorf("%q is folded to %q, want %q", kinds, got.String(), want)
		}
	}
	f("", "")
	f(" +-- ", " +-- ")
	f(strings.Repeat("-", 12), strings.Repeat("-", 12))
	f(" "+strings.Repeat("-", 13)+"+", " ----(5 from 6)----+")
	f(strings.Repeat("-", 20)+" "+strings.Repeat("-", 20), "----(12 from 5)---- ----(12 from 26)----")
}

func rawOf(all []Line) (raw []string) {
	for _, l := range all {
		raw = append(raw, l.Raw)
	}
	return raw
}
