package excerpt

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestTheEndsOfALongTextAreReadLineByLine(t *testing.T) {
	f := func(text string, b bounds, head, middle, tail string) {
		t.Helper()
		if h, m, l := b.ends(text); h != head || m != middle || l != tail {
			t.Errorf("%q has the ends %q and %q around %q", text, h, l, m)
		}
	}
	f("", bounds{2, 2}, "", "", "")
	f("a\nb\nc\nd\ne\nf\n", bounds{100, 3}, "a\nb\nc\nd\ne\nf\n", "", "")
	f("a\nb\nc\nd\ne\nf\n", bounds{100, 2}, "a\nb\n", "c\nd\n", "e\nf\n")
	f("a\nb\nc\nd\ne\nf", bounds{100, 2}, "a\nb\n", "c\nd\n", "e\nf")
	f("a\nb\nc\nd\ne\nf\n", bounds{3, 9}, "a\n", "b\nc\nd\ne\n", "f\n")
	f(strings.Repeat("x", 50), bounds{3, 9}, "", strings.Repeat("x", 50), "")
	f("a\n"+strings.Repeat("x", 50)+"\nb", bounds{3, 9}, "a\n", strings.Repeat("x", 50)+"\n", "b")
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"a", "bcd", "\n"})).Draw(t, "text"), "")
		b := bounds{rapid.IntRange(1, 20).Draw(t, "bytes"), rapid.IntRange(1, 9).Draw(t, "lines")}
		at, n := 0, 0
		for _, l := range b.split(text, func(start, end int) line { return line{start: start, end: end} }) {
			if l.start != at || l.end <= at || l.end < len(text) && text[l.end-1] != '\n' {
				t.Fatalf("%q: a line is %q", text, text[l.start:l.end])
			}
			at = l.end
			n += max(l.lines, 1)
		}
		if at != len(text) || n != len(strings.SplitAfter(text, "\n"))-1 && n != strings.Count(text, "\n")+1 {
			t.Fatalf("%q has %d lines and ends at %d", text, n, at)
		}
	})
}

func TestAVeryLongTextIsCountedWhole(t *testing.T) {
	const n = 3 * mostLines
	e, ok := Of(strings.Repeat("a\n", n)+"end\n", Budget{Tokens: 50, Head: 0.2, Count: pieces}, ownMark)
	if !ok || e.Lines != n+1 {
		t.Fatalf("%d lines", e.Lines)
	}
	last := e.Parts[len(e.Parts)-1]
	if last.To != n+1 || !strings.HasSuffix(last.Text, "end\n") {
		t.Errorf("it ends with lines %d to %d: %q", last.From, last.To, last.Text)
	}
}
