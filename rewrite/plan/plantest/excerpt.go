package plantest

import (
	"regexp"
	"strconv"
	"strings"

	"epitome/rewrite/plan"
)

// marks are those of gaps in an excerpt.
var marks = regexp.MustCompile(`(?m)^\[epitome: lines? (\d+)(?:-(\d+))?(?: of (\d+))? left out( of the final screen)?` +
	`(?:: it has \d+ bytes|: (\d+) lines(?:(?:, (\d+) of them)? of the form of line (\d+))?(?:, \d+ warnings of the form of line \d+)?(?:, \d+ with words of failure)?)?(?:\. The (\d+) gaps leave out (\d+) lines)?(?:\. [^\n]*)?\]\n`)

// Marks returns what the marks of gaps in an excerpt look like.
func Marks() *regexp.Regexp { return marks }

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
	at, gaps, omitted, said := 0, 0, 0, ""
	mark := Marks()
	for l := range strings.Lines(text) {
		if !strings.HasPrefix(l, plan.Mark) {
			if at >= len(lines) || lines[at] != l {
				t.Fatalf("%q is not line %d of %.300q", l, at+1, shown)
			}
			own += l
			at++
			continue
		}
		m := mark.FindStringSubmatch(l)
		if m == nil {
			t.Fatalf("%q is no mark of a gap", l)
		}
		if m[2] == "" {
			m[2], m[5] = m[1], "1"
		}
		n := number(m[2]) - number(m[1]) + 1
		if number(m[1]) != at+1 || n != number(m[5]) || at+n > len(lines) || (m[3] == "") != (gaps > 0) ||
			m[3] != "" && number(m[3]) != len(lines) {
			t.Fatalf("%q stands behind line %d of %d", l, at, len(lines))
		}
		if m[7] != "" && (number(m[7]) != at || m[6] != "" && number(m[6]) > n) {
			t.Fatalf("%q stands behind line %d", l, at)
		}
		gaps, omitted, at = gaps+1, omitted+n, at+n
		if m[8] != "" {
			said = m[8] + " " + m[9]
		}
	}
	if at != len(lines) || gaps == 0 {
		t.Fatalf("an excerpt with %d gaps ends with line %d of %d: %.300q", gaps, at, len(lines), text)
	}
	if want := strconv.Itoa(gaps) + " " + strconv.Itoa(omitted); said != want && (said != "" || gaps > 1) {
		t.Fatalf("the marks say that gaps and lines left out are %q, true is %q: %.300q", said, want, text)
	}
	return own
}

// number reads a number that was matched as one.
func number(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}
