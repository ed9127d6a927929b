package excerpt

import (
	"slices"
	"strconv"
	"strings"

	"epitome/rewrite/excerpt/form"
	"epitome/rewrite/excerpt/looks"
	"epitome/rewrite/excerpt/stamp"
)

// rank says what a line is worth that stands without the lines around it.
type rank uint8

const (
	untelling rank = iota
	found          // it is what all the failures were to show
	saysAll        // it says what failed and why
	saysWhat       // it says what failed, or is the own line of an exception
	saysWhy        // the message of a failure
	saysWhere      // the innermost place of its trace in the program's own code
	beside         // a message goes on: more of it, or code
	counts         // how many failed
	minor          // style, progress, and what many lines say in the same form
	lastRank  = minor
)

// often is from how many lines of one form on each further one tells little.
const often = 8

// Failures returns the lines of a command's output that tell what failed and why, whole, in their order, each once, and
// at most most of them. What says both goes first, then what failed, then why, and then where in a trace; last come
// complaints of style, progress, and what is said often. How many failed is told where not all fit. Of a text of more
// than a megabyte, or of very many lines, it looks at the two ends.
func Failures(text string, most int) []string {
	t := tellingOf(text)
	return linesAt(text, t.lines, t.most(most))
}

// FailuresWithWhy returns what Failures does, and behind each line that says what failed and no more, the next one that
// says why: then there are at most twice as many.
func FailuresWithWhy(text string, most int) []string {
	t := tellingOf(text)
	list := t.most(most)
	for _, i := range slices.Clone(list) {
		k := i
		if t.ranks[i] == saysWhat {
			k = nextWhy(t.ranks, i)
		}
		if !slices.Contains(list, k) && t.lines[k].end-t.lines[k].start <= longestLine {
			list = append(list, k)
		}
	}
	return linesAt(text, t.lines, list)
}

// Losses returns the lines that say what will be gone for good, as a plan has them, whole, in their order, at most most
// of them. Of a text of more than a megabyte, or of very many lines, it looks at the two ends.
func Losses(text string, most int) []string {
	all := newJudge().lines(text, bounds{bytes: mostRead, lines: mostLines})
	var list []int
	for i := range all {
		if l := &all[i]; l.kind == form.Loss && l.end-l.start <= longestLine && len(list) < most {
			list = append(list, i)
		}
	}
	return linesAt(text, all, list)
}

// nextWhy is the line that says why line i failed: the next one that says so, before another one says what failed; i if
// there is none.
func nextWhy(ranks []rank, i int) int {
	const far = 12 // lines
	for k := i + 1; k < min(len(ranks), i+far); k++ {
		switch ranks[k] {
		case saysWhy:
			return k
		case found, saysAll, saysWhat:
			return i
		}
	}
	return i
}

// linesAt are some of the lines of a text, in their order, without white space around them.
func linesAt(text string, all []line, list []int) []string {
	slices.Sort(list)
	lines := make([]string, len(list))
	for k, i := range list {
		lines[k] = strings.TrimSpace(text[all[i].start:all[i].end])
	}
	return lines
}

// Telling says of each line of a text whether it tells what failed or why: false where a reader of the output could do
// without it. In a text that looks like a program no line tells. What Failures does not look at is false.
func Telling(text string) []bool {
	s := newSelection(text, Budget{}, "")
	s.lines = newJudge().lines(text, bounds{bytes: mostRead, lines: mostLines})
	if (&scorer{selection: s}).isProgram() {
		return nil
	}
	var tells []bool
	for i, r := range ranksOf(text, s.lines) {
		unread := make([]bool, max(s.lines[i].lines-1, 0))
		tells = append(append(tells, r != untelling && r < counts), unread...)
	}
	return tells
}

// ranked are the lines of a text, each with its rank.
type ranked struct {
	text  string
	lines []line
	ranks []rank
}

// tellingOf ranks the lines of a text.
func tellingOf(text string) *ranked {
	all := newJudge().lines(text, bounds{bytes: mostRead, lines: mostLines})
	if r := recordsOf(text, all); r != nil {
		belowNames(text, all, r)
	}
	return &ranked{text, all, ranksOf(text, all)}
}

// most are the lines that tell most, and the totals if not all that tell are among them.
func (t *ranked) most(n int) []int {
	list, all := t.pick(n)
	if !all {
		withCounts(t.ranks, t.lines)
		list, _ = t.pick(n)
	}
	return list
}

// pick returns the n most telling lines, each once, and whether these are all. What has a place without a file stands
// below the name of its file, or alone.
func (t *ranked) pick(n int) (list []int, all bool) {
	seen, named, all := map[string]bool{}, map[int32]bool{0: true}, true
	for r := found; r <= lastRank; r++ {
		for i := range t.lines {
			l, own := &t.lines[i], int32(i)+1 //nolint:gosec // bounded by mostLines
			if t.ranks[i] != r || named[own] || l.end-l.start > longestLine || !t.isNew(i, seen) {
				continue
			}
			if n > 1 && !named[l.under] && len(list)+2 <= n {
				list, named[l.under] = append(list, int(l.under)-1), true
			}
			switch {
			case len(list) >= n:
				return list, false
			case n > 1 && !named[l.under]:
				all = false
			default:
				list, named[own] = append(list, i), true
			}
		}
	}
	return list, all
}

// isNew reports whether line i says what no line in seen does, and notes what it says.
func (t *ranked) isNew(i int, seen map[string]bool) bool {
	what := strings.TrimSpace(t.lines[i].body(t.text))
	said := t.lines[i].saying(t.text)
	if strings.HasPrefix(what, "panic: ") { // Go says it again then
		said, _, _ = strings.Cut(what, " [recovered")
	}
	isName := t.lines[i].raised || t.lines[i].row != nil && t.lines[i].row.Opens
	if seen[said] || t.ranks[i] != saysWhere && !isName && !strings.ContainsAny(what, " \t") {
		return false
	}
	seen[said] = true
	return true
}

// saying is what a line says, without white space around it. What processes with ranks say in one form, each of itself,
// is the same.
func (l *line) saying(text string) string {
	what := strings.TrimSpace(l.body(text))
	rest, isRanked := stamp.CutRank(what)
	if isRanked && l.kind == form.Failure {
		return strconv.FormatUint(l.shape, 16)
	}
	return rest
}

// withCounts ranks the totals, too.
func withCounts(ranks []rank, all []line) {
	for i := range all {
		if all[i].kind == form.Total && all[i].says == form.Fails {
			ranks[i] = counts
		}
	}
}

// ranksOf ranks all lines.
func ranksOf(text string, all []line) []rank {
	near := nearFailures(all)
	warned := warnings(all)
	forms := map[uint64]int{}
	var places []int
	t := &traces{text: text, lines: all}
	ranks := make([]rank, len(all))
	for i := range all {
		l := &all[i]
		switch {
		case l.kind == form.Failure && l.weight > 1:
			forms[l.shape]++
			ranks[i] = l.rank(forms[l.shape])
			if ranks[i] < minor {
				places = append(places, t.placeOf(i))
			}
		case i > 0 && all[i-1].opens() && l.mayBeMessage():
			ranks[i] = saysWhy
		case l.kind == form.Reason && near[i] && !warned[i] && looks.HasLetters(l.body(text)):
			ranks[i] = saysWhy
			if l.row.Late || i > 0 && all[i-1].kind == form.Reason && all[i-1].row == l.row {
				ranks[i] = beside
			}
		}
	}
	for _, at := range places {
		if at >= 0 {
			ranks[at] = saysWhere
		}
	}
	return ranks
}

// traces finds the places of failures in stack traces.
type traces struct {
	text  string
	lines []line
	known []bool // lines of which it is known whether they are places
	own   []bool // those that are
}

// isPlace reports whether line k is a frame in the program's own code, with its file and line.
func (t *traces) isPlace(k int) bool {
	l := &t.lines[k]
	if l.kind != form.Frame || l.end-l.start > longestLine {
		return false
	}
	if t.known == nil {
		t.known, t.own = make([]bool, len(t.lines)), make([]bool, len(t.lines))
	}
	if !t.known[k] {
		of := l.body(t.text)
		t.known[k], t.own[k] = true, looks.HasPlace(of) && looks.IsOwn(of)
	}
	return t.own[k]
}

// placeOf is the line of the innermost frame in the program's own code of the trace that belongs to failure i; -1 if
// there is none. Python's traces end in the failure, and the frame stands before it; all others begin with it.
func (t *traces) placeOf(i int) int {
	const far = 40 // lines
	all, found := t.lines, -1
	for k := i - 1; k >= max(0, i-far) && all[k].kind != form.Failure && all[k].lines == 0; k-- {
		if all[k].opensTrace() {
			if found >= 0 {
				return found
			}
			break
		}
		if found < 0 && t.isPlace(k) {
			found = k
		}
	}
	for k := i + 1; k < min(len(all), i+far); k++ {
		l := &all[k]
		switch {
		case t.isPlace(k):
			return k
		case l.kind == form.Failure && l.indent <= all[i].indent, l.kind == form.State, l.kind == form.Total:
			return -1
		case l.kind == form.Warning, l.chat, l.opensTrace(), l.lines > 0: // the frames behind it are its own
			return -1
		}
	}
	return -1
}

// opensTrace reports whether a line stands above a trace of which the innermost frame is the last.
func (l *line) opensTrace() bool {
	return l.kind == form.Heading && l.row != nil && l.row.Tool == "Python"
}

// opens reports whether the message of a line stands on the next one.
func (l *line) opens() bool { return l.row != nil && l.row.Opens }

// mayBeMessage reports whether a line says something, and no tool's form says what that is.
func (l *line) mayBeMessage() bool {
	return l.shape != 0 && (l.kind == form.Plain || l.kind == form.Hint || l.kind == form.Failure)
}

// rank ranks a line that tells of a failure. nth says how many lines of its form there are up to it.
func (l *line) rank(nth int) rank {
	switch {
	case nth >= often, l.row != nil && l.row.Late:
		return minor
	case l.says == form.Sought:
		return found
	case l.row != nil && l.row.Whole:
		return saysAll
	}
	return saysWhat
}

// nearFailures says which lines stand so near a failure, or behind a heading of failures, that they may belong to it.
func nearFailures(all []line) []bool {
	const before, after = 8, 12 // lines
	near := make([]bool, len(all))
	for i := range all {
		from := i
		switch {
		case all[i].kind == form.Failure && all[i].weight > 1:
			from = max(0, i-before)
		case all[i].kind != form.Heading:
			continue
		}
		for k := from; k < min(len(all), i+after+1); k++ {
			near[k] = true
		}
	}
	return near
}

// warnings says which lines belong to a warning: those behind it, up to an empty line, or to one that fails.
func warnings(all []line) []bool {
	const most = 12 // lines
	warned := make([]bool, len(all))
	left := 0
	for i := range all {
		switch l := &all[i]; {
		case l.kind == form.Warning:
			left = most
		case l.shape == 0, l.kind == form.Failure, l.kind == form.Heading:
			left = 0
		case left > 0:
			left--
			warned[i] = true
		}
	}
	return warned
}
