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

// speaksOfFailure reports whether a line in small letters speaks of failure. One expression takes ten times as long.
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
// many lines it leaves out; omitted is all of them.
func Lines(text string, budget int, count Count) (short string, omitted int) {
	x := choiceOf(text, budget, count)
	x.choose()
	return x.join()
}

// choice is which lines of a text are shown.
type choice struct {
	lines  []string
	shapes []*shape // of each line
	shown  []bool
	budget int // tokens that are left
	count  Count
}

// shape is what lines have in common that differ in numbers alone.
type shape struct {
	lines   int
	failure float64 // 0 if they do not speak of failure
	shown   int     // lines that are shown because they do
}

// choiceOf begins the choice of lines of a text.
func choiceOf(text string, budget int, count Count) *choice {
	lines := slices.Collect(strings.Lines(text))
	x := &choice{lines, make([]*shape, len(lines)), make([]bool, len(lines)), budget, count}
	known := map[string]*shape{}
	for i, line := range lines {
		masked := mask(line)
		s := known[masked]
		if s == nil {
			s = &shape{failure: failure(masked)}
			known[masked] = s
		}
		s.lines++
		x.shapes[i] = s
	}
	return x
}

// mask returns a line without white space at its ends, each number as 0 if it is 0, else as 9.
func mask(line string) string {
	line = strings.TrimSpace(line[:min(len(line), longestLine)])
	b, inNumber := make([]byte, 0, len(line)), false
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
	return string(b)
}

// failure returns the score of a line that speaks of failure, and 0 for others.
func failure(line string) float64 {
	small := strings.ToLower(line)
	switch {
	case !speaksOfFailure(small) || !speaksOfFailure(harmless.ReplaceAllString(small, "")):
		return 0
	case reason.MatchString(line):
		return failureScore + reasonScore
	}
	return failureScore
}

// choose shows as many lines as there is room for.
func (x *choice) choose() {
	first, last := x.budget/endShare, x.budget/endShare
	for i := 0; i < min(headLines, len(x.lines)) && first > 0; i++ {
		first -= x.show(i)
	}
	for i := len(x.lines) - 1; i >= max(len(x.lines)-tailLines, 0) && last > 0; i-- {
		last -= x.show(i)
	}
	order := x.order()
	for _, i := range order {
		s := x.shapes[i]
		if s.failure == 0 || s.shown == mostOfShape {
			continue
		}
		s.shown++
		if x.show(i); x.shown[i] {
			for _, k := range x.around(i, below) {
				x.show(k)
			}
		}
	}
	for _, i := range order {
		x.show(i)
	}
}

// order returns the lines by what they tell, the most telling first.
func (x *choice) order() []int {
	order, score := make([]int, len(x.lines)), make([]float64, len(x.lines))
	for i, s := range x.shapes {
		order[i], score[i] = i, s.failure+math.Log(float64(len(x.lines))/float64(s.lines))
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(score[b], score[a]) })
	return order
}

// mayShow reports whether there is a line i that may be shown and is not.
func (x *choice) mayShow(i int) bool {
	return i >= 0 && i < len(x.lines) && !x.shown[i] && len(x.lines[i]) <= longestLine && !isForged(x.lines[i])
}

// show shows line i if there is room for it, and returns the tokens that it takes.
func (x *choice) show(i int) int {
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

// around returns the lines that belong to failing line i: its heading and those near it, the nearest first.
func (x *choice) around(i, below int) []int {
	list := []int{x.heading(i)}
	for k := 1; k <= max(above, below); k++ {
		if k <= above {
			list = append(list, i-k)
		}
		if k <= below {
			list = append(list, i+k)
		}
	}
	return list
}

// heading returns the nearest line above i that is less indented and not blank; i if there is none.
func (x *choice) heading(i int) int {
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

// join returns the lines that are shown with notes of the gaps, and how many lines are not shown.
func (x *choice) join() (short string, omitted int) {
	var b strings.Builder
	for i := 0; i < len(x.lines); i++ {
		first := i
		for i < len(x.lines) && !x.shown[i] {
			i++
		}
		if n := i - first; n > 0 {
			fmt.Fprintf(&b, "%s %s omitted (%d-%d)]\n", Mark, Amount(n), first+1, i)
			omitted += n
		}
		if i < len(x.lines) {
			b.WriteString(x.lines[i])
		}
	}
	return b.String(), omitted
}

// beside matches what belongs to a failure near it: what was wanted and what came, and the place.
var beside = regexp.MustCompile(`(?i)^[>|#\s]*(?:[-+] ?\S|(?:left|right|want|wanted|got|expected|received|actual|caused by)\b)|` +
	`[\w/)]\.\w+["']?(?:[:(]| line )\d|\bline \d|-->`)

// Failure returns the failure that an output reports as lines of the output: the message, what was expected and what
// came, and the place. It is empty if no line speaks of failure.
func Failure(text string) string {
	const mostLines, mostBytes, longest, far = 6, 720, 400, 12 // longest is in bytes of a line, far in lines below
	x := choiceOf(text, 0, nil)
	order := x.order()
	if len(order) == 0 || x.shapes[order[0]].failure == 0 {
		return ""
	}
	best, room, shown := order[0], mostBytes, 0
	for at, k := range append([]int{best}, x.around(best, far)...) {
		if !x.mayShow(k) || shown == mostLines {
			continue
		}
		n := len(strings.TrimSpace(x.lines[k]))
		isAnnounced := k == best+1 && strings.HasSuffix(strings.TrimSpace(x.lines[best]), ":")
		tells := at < 2 || isAnnounced || x.shapes[k].failure > 0 || beside.MatchString(x.lines[k])
		if tells && n > 0 && n <= min(longest, room) {
			x.shown[k] = true
			room -= n
			shown++
		}
	}
	var b strings.Builder
	for k, line := range x.lines {
		if x.shown[k] {
			b.WriteString(line)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}
