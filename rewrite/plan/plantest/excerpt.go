package plantest

import (
	"regexp"
	"strconv"
	"strings"

	"epitome/rewrite/plan"
)

// The marks of an excerpt: of a gap, and the note above it.
var (
	gap  = regexp.MustCompile(`^\[epitome: (\d+) lines? omitted \((\d+)(?:-(\d+))?\)\]\n$`)
	note = regexp.MustCompile(`^\[epitome: (\d+) of (\d+) lines? omitted, `)
)

// IsExcerpt reports whether a text begins as an excerpt does.
func IsExcerpt(text string) bool { return note.MatchString(text) }

// OfScreen reports whether an excerpt is one of a final screen.
func OfScreen(text string) bool {
	first, _, _ := strings.Cut(text, "\n")
	return strings.Contains(first, " omitted, of the final screen of ")
}

// HoldExcerpt holds promise 8 of an excerpt of shown: it is made of the text's own whole lines in their order and of
// marks, each gap has a mark, and each number of lines in a mark is true. It returns the lines that are shown.
func HoldExcerpt(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, text, shown string) (own string) {
	t.Helper()
	lines := strings.SplitAfter(shown, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	said := note.FindStringSubmatch(text)
	if said == nil {
		t.Fatalf("%.300q does not begin with a note", text)
	}
	_, text, _ = strings.Cut(text, "\n")
	at, omitted := 0, 0
	for l := range strings.Lines(text) {
		if !strings.HasPrefix(l, plan.Mark) {
			if at >= len(lines) || lines[at] != l {
				t.Fatalf("%q is not line %d of %.300q", l, at+1, shown)
			}
			own += l
			at++
			continue
		}
		m := gap.FindStringSubmatch(l)
		if m == nil {
			t.Fatalf("%q is no mark of a gap", l)
		}
		if m[3] == "" {
			m[3] = m[2]
		}
		n := number(m[3]) - number(m[2]) + 1
		if number(m[2]) != at+1 || n != number(m[1]) || at+n > len(lines) {
			t.Fatalf("%q stands behind line %d of %d", l, at, len(lines))
		}
		omitted, at = omitted+n, at+n
	}
	if at != len(lines) || omitted == 0 || number(said[1]) != omitted || number(said[2]) != len(lines) {
		t.Fatalf("an excerpt ends with line %d of %d, and omits %d: %.300q", at, len(lines), omitted, said[0])
	}
	return own
}

// number reads a number that was matched as one.
func number(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}
