package excerpt

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"epitome/rewrite/mark"
)

// failureWords are parts of lines that speak of failure, in small letters.
var failureWords = []string{
	"error", "fail", "fatal", "panic", "exception", "traceback", "assert", "abort", "denied", "refused", "rejected",
	"forbidden", "cannot", "can't", "could not", "couldn't", "unable", "undefined", "undeclared", "unexpected", "unknown",
	"unreachable", "uncaught", "invalid", "missing", "not found", "not ok", "not a ", "not valid", "not in scope",
	"no such", "nonexistent", "mismatch", "conflict", "violat", "killed", "segfault", "core dumped", "out of memory",
	"out of bounds", "out of range", "out of space", "timed out", "time out", "timeout", "corrupt", "broken", "crash",
	"expected", "received:", "actual", "got:", "but was", "!=", "attempt to", "✗", "✘", "✖", "●", "×",
}

// speaksOfFailure reports whether a line does, whose letters are small. A list of words takes a tenth of the time of one
// expression.
func speaksOfFailure(line string) bool {
	return slices.ContainsFunc(failureWords, func(word string) bool { return strings.Contains(line, word) })
}

// harmless matches whatever speaks of no failure for all that; reason a failing line that says why.
var (
	harmless = regexp.MustCompile(`(?i)\b(?:0|no|without|any)\b[^,;.]{0,12}[ _-](?:errors?|failures?|failed|fail|conflicts)\b|` +
		`\b(?:errors?|failures?|failed|fail)["']?[:= ]+(?:0|none|null|false|nil)\b|errors?[ _-]?free|` +
		`^[^,;]*\b(?:ok|passed)(?:\s[^,;a-z]*)?$|^\s*(?:ok\b|pass\b|passed\b|[✓√✔])[^,;]*$`)
	reason = regexp.MustCompile(`(?i)(?:error|exception|fatal|panic\w*|fail\w*|abort\w*|killed|denied|cannot|can't)\b[^:]{0,40}: \S|: .*(?:cannot|can't|no such|undefined)`)
)

// How much of a text its ends take, and what a hit takes along.
const (
	headLines, tailLines = 3, 6
	above, below         = 4, 2    // lines around a hit
	mostOfShape          = 3       // hits that look alike
	failureScore         = 6       // of a failing line, beside log(lines / lines of its shape)
	reasonScore          = 2       // of one that says why, beside that
	endShare             = 4       // the ends take at most one token of so many
	gapTokens            = 16      // of the mark of a gap
	longestLine          = 8 << 10 // bytes of a line that is looked at
)

// textLines are the lines of a text, and what is known of each.
type textLines struct {
	lines  []string
	shape  []*shape
	shown  []bool
	budget int
	count  Count
}

// shape is what lines have in common that differ in numbers alone.
type shape struct {
	n     int
	fails bool
	why   bool // it says why, too
	used  int  // hits that are shown
}

// Lines keeps of a text its first and last lines, those that speak of failure with what stands around them, and those
// of a rare shape, within about budget tokens. Each line that is shown stands in the text word for word, and each gap
// says how many lines it leaves out; omitted is all of them. Nothing is returned if no line would be left out.
func Lines(text string, budget int, count Count) (short string, omitted int) {
	x := read(text, budget, count)
	ends := budget / endShare
	for i := 0; i < min(headLines, len(x.lines)) && ends > 0; i++ {
		ends -= x.show(i)
	}
	ends = budget / endShare
	for i := len(x.lines) - 1; i >= max(len(x.lines)-tailLines, 0) && ends > 0; i-- {
		ends -= x.show(i)
	}
	order := x.order()
	for _, i := range order {
		if !x.shape[i].fails || x.shape[i].used >= mostOfShape {
			continue
		}
		x.shape[i].used++
		x.showHit(i)
	}
	for _, i := range order {
		if x.budget <= 0 {
			break
		}
		x.show(i)
	}
	x.fillSmallGaps()
	return x.join()
}

// read splits a text and finds the shapes of its lines.
func read(text string, budget int, count Count) *textLines {
	x := &textLines{lines: strings.SplitAfter(text, "\n"), budget: budget, count: count}
	if x.lines[len(x.lines)-1] == "" {
		x.lines = x.lines[:len(x.lines)-1]
	}
	x.shape, x.shown = make([]*shape, len(x.lines)), make([]bool, len(x.lines))
	shapes := map[string]*shape{}
	var masked []byte
	for i, l := range x.lines {
		masked = mask(masked[:0], l)
		s := shapes[string(masked)]
		if s == nil {
			small := strings.ToLower(string(masked))
			s = &shape{fails: speaksOfFailure(small) && speaksOfFailure(harmless.ReplaceAllString(small, "")) &&
				!mark.IsForged(string(masked))}
			s.why = s.fails && reason.Match(masked)
			shapes[string(masked)] = s
		}
		s.n++
		x.shape[i] = s
	}
	return x
}

// mask appends a line without its white space at the ends, each number as 0 if it is 0, else as 9.
func mask(b []byte, line string) []byte {
	line = strings.TrimSpace(line[:min(len(line), longestLine)])
	for i := 0; i < len(line); i++ {
		if c := line[i]; c < '0' || c > '9' {
			b = append(b, c)
			continue
		}
		digit := byte('0')
		for ; i < len(line) && line[i] >= '0' && line[i] <= '9'; i++ {
			if line[i] != '0' {
				digit = '9'
			}
		}
		b, i = append(b, digit), i-1
	}
	return b
}

// order is the lines by what they tell, the most telling first.
func (x *textLines) order() []int {
	order, score := make([]int, len(x.lines)), make([]float64, len(x.lines))
	for i, s := range x.shape {
		order[i], score[i] = i, math.Log(float64(len(x.lines))/float64(s.n))
		if s.fails {
			score[i] += failureScore
		}
		if s.why {
			score[i] += reasonScore
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(score[b], score[a]) })
	return order
}

// show shows line i if there is room for it, and returns what that takes.
func (x *textLines) show(i int) int {
	if i < 0 || i >= len(x.lines) || x.shown[i] || len(x.lines[i]) > longestLine || mark.IsForged(x.lines[i]) {
		return 0
	}
	n := x.count(x.lines[i])
	if i > 0 && i+1 < len(x.lines) && !x.shown[i-1] && !x.shown[i+1] { // one gap becomes two
		n += gapTokens
	}
	if n > x.budget {
		return 0
	}
	x.shown[i] = true
	x.budget -= n
	return n
}

// fillSmallGaps shows what takes no more than the mark of a gap in its place.
func (x *textLines) fillSmallGaps() {
	for i := 1; i+1 < len(x.lines); i++ {
		if !x.shown[i] && x.shown[i-1] && x.shown[i+1] && len(x.lines[i]) <= longestLine && !mark.IsForged(x.lines[i]) {
			x.shown[i] = x.count(x.lines[i]) <= gapTokens
		}
	}
}

// showHit shows a line, what stands around it, and the heading under which it stands if it is indented.
func (x *textLines) showHit(i int) {
	if x.show(i) == 0 && !x.shown[i] {
		return
	}
	x.show(x.heading(i))
	for k := 1; k <= above; k++ {
		x.show(i - k)
		if k <= below {
			x.show(i + k)
		}
	}
}

// heading is the nearest line above i that is less indented and not blank, not far off; i if there is none.
func (x *textLines) heading(i int) int {
	const far = 60 // lines
	depth := indent(x.lines[i])
	for k := i - 1; depth > 0 && k >= max(0, i-far); k-- {
		if strings.TrimSpace(x.lines[k]) != "" && indent(x.lines[k]) < depth {
			return k
		}
	}
	return i
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// join is what is shown, with the gaps between, and how many lines are not.
func (x *textLines) join() (short string, omitted int) {
	var b strings.Builder
	for i := 0; i < len(x.lines); {
		from := i
		for i < len(x.lines) && !x.shown[i] {
			i++
		}
		if i > from {
			omitted += i - from
			b.WriteString(gap(from+1, i))
			continue
		}
		b.WriteString(x.lines[i])
		i++
	}
	if omitted == 0 {
		return "", 0
	}
	return b.String(), omitted
}

// gap says which lines are left out.
func gap(from, to int) string {
	if from == to {
		return fmt.Sprintf("%s 1 line omitted (%d)]\n", mark.Start, from)
	}
	return fmt.Sprintf("%s %d lines omitted (%d-%d)]\n", mark.Start, to-from+1, from, to)
}
