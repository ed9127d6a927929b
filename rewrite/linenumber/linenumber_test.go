package linenumber

import (
	"fmt"
	"strings"
	"testing"
)

// numbered are lines with what stands before each of them.
func numbered(form string, lines ...string) string {
	var b strings.Builder
	for i, l := range lines {
		fmt.Fprintf(&b, form+"%s\n", i+7, l)
	}
	return b.String()
}

func TestNumbersAreFoundAndTakenAway(t *testing.T) {
	lines := []string{"package a", "", "  12: no number", "var x = 3"}
	bare := strings.Join(lines, "\n") + "\n"
	for form, want := range map[string]Mark{"%6d\t": "\t", "%d→": "→", "%d:": ":", "%4d |": " |", "%d|": "|"} {
		text := numbered(form, lines...)
		got := Of(text)
		if got != want {
			t.Errorf("%q: the mark is %q, want %q", text, got, want)
		}
		if s := got.Bare(text); s != bare {
			t.Errorf("%q: bare is %q", text, s)
		}
		if first, _, _ := strings.Cut(text, "\n"); got.Number(first) != 7 {
			t.Errorf("%q: the first line has number %d", first, got.Number(first))
		}
	}
	if s := Of(strings.Repeat("\n", 100_000) + numbered("%d:", lines...)); s != "" {
		t.Errorf("all of a text is read, and the mark is %q", s)
	}
	if s := Of(numbered("%d:", lines...) + strings.Repeat("none\n", 9)); s != "" {
		t.Errorf("few lines have a number, and the mark is %q", s)
	}
}

// Times, years and counts begin lines, too, and are no numbers of them.
func TestWhatDoesNotRiseIsNoNumber(t *testing.T) {
	for _, line := range []string{"10:02:%02d GET /v1\n", "2026\t%d\n", "3:%d\n", "99999999999%d\tx\n"} {
		var b strings.Builder
		for i := range 80 {
			fmt.Fprintf(&b, line, i%60)
		}
		if m := Of(b.String()); m != "" {
			t.Errorf("%q counts as numbered, with %q behind", line, m)
		}
	}
}
