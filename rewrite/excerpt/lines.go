package excerpt

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
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

// speaksOfFailure reports whether a line in small letters speaks of failure. A list of words takes a tenth of the time of
// one expression.
func speaksOfFailure(line string) bool {
	return slices.ContainsFunc(failureWords, func(word string) bool { return strings.Contains(line, word) })
}

// harmless matches texts that have words of failureWords and speak of no failure; reason matches a failing line that
// says why.
var (
	harmless = regexp.MustCompile(`(?i)\b(?:0|no|without|any)\b[^,;.]{0,12}[ _-](?:errors?|failures?|failed|fail|conflicts)\b|` +
		`\b(?:errors?|failures?|failed|fail)["']?[:= ]+(?:0|none|null|false|nil)\b|errors?[ _-]?free|` +
		`^[^,;]*\b(?:ok|passed)(?:\s[^,;a-z]*)?$|^\s*(?:ok\b|pass\b|passed\b|[✓√✔])[^,;]*$`)
	reason = regexp.MustCompile(`(?i)(?:error|exception|fatal|panic\w*|fail\w*|abort\w*|killed|denied|cannot|can't)\b[^:]{0,40}: \S|: .*(?:cannot|can't|no such|undefined)`)
)

// How much of a text is shown.
const (
	headLines, tailLines = 3, 6
	above, below         = 4, 2    // lines around a failing line
	mostOfShape          = 3       // failing lines that look alike
	failureScore         = 6       // of a failing line, beside log(lines / lines of its shape)
	reasonScore          = 2       // of one that says why, beside that
	endShare             = 4       // the first lines take at most a quarter of the budget, and so do the last
	gapTokens            = 16      // of the note of a gap
	longestLine          = 8 << 10 // bytes of a line that is shown
)

// Lines keeps the first and last lines of a text, its failing lines with what stands around them, and lines of a rare
// shape, within about budget tokens. Each line that is shown stands in the text word for word, and each gap says how
// many lines it leaves out; omitted is all of them. If no line would be left out, Lines returns nothing.
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
		if s := x.shapes[i]; s.fails && s.shown < mostOfShape {
			s.shown++
			x.showFailure(i)
		}
	}
	for _, i := range order {
		x.show(i)
	}
	x.fillSmallGaps()
	return x.join()
}

// textLines are the lines of a text, and which of them are shown.
type textLines struct {
	lines  []string
	shapes []*shape // of each line
	shown  []bool
	budget int // tokens that are left
	count  Count
}

// shape is what lines have in common that differ in numbers alone.
type shape struct {
	lines    int
	fails    bool
	isForged bool
	score    float64 // of a failing line
	shown    int     // failing lines that are shown as such
}

// read splits a text and finds the shapes of its lines.
func read(text string, budget int, count Count) *textLines {
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	x := &textLines{lines, make([]*shape, len(lines)), make([]bool, len(lines)), budget, count}
	known := map[string]*shape{}
	var masked []byte
	for i, line := range lines {
		masked = mask(masked[:0], line)
		s := known[string(masked)]
		if s == nil {
			s = shapeOf(string(masked))
			known[string(masked)] = s
		}
		s.lines++
		x.shapes[i] = s
	}
	return x
}

func shapeOf(masked string) *shape {
	s, small := &shape{isForged: isForged(masked)}, strings.ToLower(masked)
	s.fails = !s.isForged && speaksOfFailure(small) && speaksOfFailure(harmless.ReplaceAllString(small, ""))
	if s.fails {
		s.score = failureScore
		if reason.MatchString(masked) {
			s.score += reasonScore
		}
	}
	return s
}

// mask appends a line without white space at its ends, each number as 0 if it is 0, else as 9.
func mask(b []byte, line string) []byte {
	line = strings.TrimSpace(line[:min(len(line), longestLine)])
	inNumber := false
	for _, c := range []byte(line) {
		isDigit := c >= '0' && c <= '9'
		if !isDigit || !inNumber {
			b = append(b, c)
		}
		if isDigit && c > '0' {
			b[len(b)-1] = '9'
		}
		inNumber = isDigit
	}
	return b
}

// order returns the lines by what they tell, the most telling first.
func (x *textLines) order() []int {
	order, score := make([]int, len(x.lines)), make([]float64, len(x.lines))
	for i, s := range x.shapes {
		order[i], score[i] = i, s.score+math.Log(float64(len(x.lines))/float64(s.lines))
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(score[b], score[a]) })
	return order
}

// mayShow reports whether there is a line i that may be shown and is not.
func (x *textLines) mayShow(i int) bool {
	return i >= 0 && i < len(x.lines) && !x.shown[i] && len(x.lines[i]) <= longestLine && !x.shapes[i].isForged
}

// show shows line i if there is room for it, and returns the tokens that it takes.
func (x *textLines) show(i int) int {
	if x.budget <= 0 || !x.mayShow(i) {
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

// showFailure shows a line, what stands around it, and its heading.
func (x *textLines) showFailure(i int) {
	if x.show(i); !x.shown[i] {
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

// heading returns the nearest line above i that is less indented and not blank; i if there is none.
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

// fillSmallGaps shows each single line that takes no more than the note of a gap would.
func (x *textLines) fillSmallGaps() {
	for i := 1; i+1 < len(x.lines); i++ {
		if x.shown[i-1] && x.shown[i+1] && x.mayShow(i) {
			x.shown[i] = x.count(x.lines[i]) <= gapTokens
		}
	}
}

// join returns the lines that are shown with notes of the gaps, and how many lines are not shown.
func (x *textLines) join() (short string, omitted int) {
	var b strings.Builder
	for i := 0; i < len(x.lines); i++ {
		first := i
		for i < len(x.lines) && !x.shown[i] {
			i++
		}
		switch n := i - first; {
		case n == 1:
			fmt.Fprintf(&b, "%s 1 line omitted (%d)]\n", Mark, i)
		case n > 1:
			fmt.Fprintf(&b, "%s %d lines omitted (%d-%d)]\n", Mark, n, first+1, i)
		}
		omitted += i - first
		if i < len(x.lines) {
			b.WriteString(x.lines[i])
		}
	}
	if omitted == 0 {
		return "", 0
	}
	return b.String(), omitted
}

// beside matches what belongs to a failure near it: what was wanted and what came, and the place.
var beside = regexp.MustCompile(`(?i)^[>|#\s]*(?:[-+] ?\S|(?:left|right|want|wanted|got|expected|received|actual|caused by)\b)|` +
	`[\w/)]\.\w+["']?(?:[:(]| line )\d|\bline \d|-->`)

// Failure returns the failure that an output reports as lines of the output: the message, what was expected and what
// came, and the place. It is empty if no line speaks of failure.
func Failure(text string) string {
	const mostLines, mostBytes, longest = 6, 720, 400 // longest is in bytes of a line
	x := read(text, 0, nil)
	order := x.order()
	if len(order) == 0 || !x.shapes[order[0]].fails {
		return ""
	}
	best, heading := order[0], x.heading(order[0])
	near := []int{best, heading, best - 1, best - 2}
	for k := range 12 {
		near = append(near, best+1+k)
	}
	room, shown := mostBytes, 0
	for _, k := range append(near, best-3, best-4) {
		if !x.mayShow(k) || shown == mostLines {
			continue
		}
		n := len(strings.TrimSpace(x.lines[k]))
		tells := k == best || k == heading || x.shapes[k].fails || beside.MatchString(x.lines[k])
		if tells && n > 0 && n <= min(longest, room) {
			x.shown[k] = true
			room -= n
			shown++
		}
	}
	var list []string
	for k, line := range x.lines {
		if x.shown[k] {
			list = append(list, strings.TrimSuffix(line, "\n"))
		}
	}
	return strings.Join(list, "\n")
}
