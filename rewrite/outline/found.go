package outline

import (
	"strings"

	"epitome/rewrite/linenumber"
)

// found is JSON in a text, which may stand between other lines, and behind the numbers of lines.
type found struct {
	before, body, after string
	lines               int  // that come before those of the body, as lines are numbered
	numbered            bool // the lines have numbers of their own, which stand in none of these texts
}

// findJSON finds the JSON in a text; ok is false if there is none.
func findJSON(text string) (f found, ok bool) {
	f.before, f.body, f.after = cutJSON(text)
	f.lines = strings.Count(f.before, "\n")
	if f.body != "" {
		return f, true
	}
	numbers := linenumber.Of(text)
	if numbers == "" {
		return f, false
	}
	f.numbered = true
	f.before, f.body, f.after = cutJSON(numbers.Bare(text))
	return f, f.body != "" && f.count(text, numbers)
}

// count counts the lines that come before the body by their numbers. It reports whether all that have one, and say
// something, are of the body: those beside it are shown as they stand.
func (f *found) count(text string, numbers linenumber.Mark) bool {
	first := strings.Count(f.before, "\n")
	last := first + strings.Count(strings.TrimRight(f.body, "\n"), "\n")
	i := 0
	for line := range strings.Lines(text) {
		n := numbers.Number(line)
		if (i < first || i > last) && n > 0 && strings.TrimSpace(numbers.Strip(line)) != "" {
			return false
		}
		if i == first {
			f.lines = max(n-1, 0)
		}
		i++
	}
	return true
}
