package excerpt

import (
	"math/bits"
	"strings"

	"epitome/rewrite/excerpt/form"
	"epitome/rewrite/excerpt/glance"
	"epitome/rewrite/excerpt/looks"
	"epitome/rewrite/excerpt/stamp"
	"epitome/rewrite/record"
)

// Scores say how much a line tells, 0 to 255. They are held against one another alone, and against telling and others
// in choose.go, which say what share of the budget a line may be taken from: what failed, and why, lies above telling,
// and what is worth a look below it. Repetition and distance take something off (line, after, before).
const (
	scoreEnd       = 98 // how it all ended, and what will be gone for good: below it all but the plainest failures
	scoreReason    = 93 // why it failed
	scoreHeading   = 90 // above what failed
	scoreTotal     = 84 // counts at the end
	scoreBeside    = 68 // what is odd in a record in which something failed
	scorePause     = 52 // the last line before a long silence; the first one behind it tells one less
	scoreRare      = 50 // a line like no other
	scoreFirst     = 44 // the first line of a form that comes often
	scoreGoodTotal = 40 // of many parts, those that went well tell least
)

// Scores of lines by their weight: 0 has a word that may mean something else, 3 a tool's own form.
var (
	scoresOfFailure = [...]int{70, 80, 94, 100}
	scoresOfHint    = [...]int{others, 60, 60, 60}
	scoresOfWarning = [...]int{46, 62, 64, 64}
)

// lostWhereRare is what each line of a rare form takes off.
const lostWhereRare = 4

// scorer gives each line of a text its score.
type scorer struct {
	*selection
	seen map[uint64]int  // how many of them have been met
	same map[uint64]bool // contents of telling lines that have been met

	traces  traces
	records *record.Records // nil if there are none
}

// score says how much each line tells.
func (s *selection) score() {
	s.forms = map[uint64]int{}
	c := scorer{selection: s, seen: map[uint64]int{}, same: map[uint64]bool{}}
	c.traces = traces{text: s.text, lines: s.lines}
	if c.code = c.isProgram(); !c.code {
		c.records = recordsOf(s.text, s.lines)
	}
	if c.records != nil {
		belowNames(s.text, s.lines, c.records)
	}
	for i := range s.lines {
		if shape := s.lines[i].shape; shape != 0 {
			c.forms[shape]++
		}
	}
	c.findAgain()
	for i := range s.lines {
		c.line(i)
	}
	c.latest()
	c.parts()
	c.rare()
	c.silences()
}

// silences scores the lines around the longest pauses of a log: what stood still, and what came then.
func (c *scorer) silences() {
	const shortest, unusual, fewest = 10, 20, 20 // seconds, times the mean, lines
	last, sum, n := -1, 0, 0
	pause := func(i int) int {
		if last < 0 || c.lines[i].clock < c.lines[last].clock {
			return 0
		}
		return int(c.lines[i].clock - c.lines[last].clock)
	}
	for i := range c.lines {
		if c.lines[i].clock >= 0 {
			sum, n = sum+pause(i), n+1
			last = i
		}
	}
	if last = -1; n < fewest || c.code {
		return
	}
	for i := range c.lines {
		if c.lines[i].clock < 0 {
			continue
		}
		if p := pause(i); p >= shortest && p*n >= unusual*sum {
			c.raise(i-1, scorePause)
			c.raise(i, scorePause-1)
		}
		last = i
	}
}

// base returns what a line tells by itself.
func (c *scorer) base(l *line) int {
	if c.code && (l.row == nil || l.kind < form.Total && l.kind != form.Failure) {
		return 0
	}
	switch l.kind {
	case form.Failure:
		return scoresOfFailure[l.weight]
	case form.State, form.Loss:
		return scoreEnd
	case form.Reason:
		return scoreReason
	case form.Heading:
		return scoreHeading
	case form.Total:
		if l.says == form.Succeeds {
			return scoreGoodTotal
		}
		return scoreTotal
	case form.Hint:
		return scoresOfHint[l.weight]
	case form.Warning:
		return scoresOfWarning[l.weight]
	}
	return 0
}

// line gives a line its score, and those around it one of their own if it tells of a failure.
func (c *scorer) line(i int) {
	l := &c.lines[i]
	base := c.base(l)
	if base == 0 || c.again[i] {
		c.seen[l.shape]++
		return
	}
	c.seen[l.shape]++
	rank := bits.Len(uint(c.seen[l.shape])) - 1 //nolint:gosec // not negative
	switch l.kind {
	case form.Failure, form.Heading:
		base -= min(2*rank, 14)
	case form.Reason:
		base -= min(3*rank, 24)
	default:
		base -= min(7*rank, 30)
	}
	content := glance.Hash(c.lines[i].saying(c.text))
	if c.same[content] {
		base = min(base, others)
	}
	c.same[content] = true
	c.raise(i, base)
	if l.kind == form.Failure && base >= telling {
		c.after(i, base-rank)
		c.before(i, base-rank)
		if l.raised {
			c.place(i, base-rank)
		}
		if l.under > 0 {
			c.raise(int(l.under)-1, base)
		}
	}
}

// place scores where in the program's own code a trace of Python tells its failure, and the code there.
func (c *scorer) place(i, score int) {
	if at := c.traces.placeOf(i); at >= 0 {
		c.raise(at, score-7)
		if next := at + 1; next < i && c.lines[next].kind != form.Frame {
			c.raise(next, score-8)
		}
	}
}

// raise gives a line at least this score.
func (c *scorer) raise(i, score int) {
	c.scores[i] = max(c.scores[i], uint8(min(max(score, 0), 255))) //nolint:gosec // bounded
}

// after scores what stands behind a failure: its message, its code, its trace.
func (c *scorer) after(i, score int) {
	const most = 16 // lines
	blank, lost, frames, beside := 0, 0, 0, 0
	head := &c.lines[i]
	for j := i + 1; j < min(len(c.lines), i+most); j++ {
		l := &c.lines[j]
		switch {
		case l.kind == form.Noise, l.kind == form.Total, l.kind == form.State, l.kind == form.Failure:
			return
		case head.raised && (l.chat || l.clock >= 0): // a message of its own
			return
		case head.raised && l.opensTrace(): // of another one
			c.raise(j, score-2)
			return
		case l.kind == form.Heading:
			c.raise(j, score-2)
		case l.shape == 0: // empty
			if blank++; blank > 2 {
				return
			}
		case l.kind == form.Frame:
			if looks.IsOwn(c.lines[j].body(c.text)) {
				frames++
				c.raise(j, score-3-2*frames)
			}
		case l.kind == form.Reason, l.indent > head.indent, looks.IsFramed(c.lines[j].body(c.text)):
			lost++
			c.raise(j, score-4-lost)
		case blank > 0:
			return
		default:
			if beside++; beside > 4 {
				return
			}
			lost += 4
			c.raise(j, score-8-lost)
		}
	}
}

// before scores what stands before a failure that comes last: the innermost frame of a trace, the messages of a test.
func (c *scorer) before(i, score int) {
	const most = 7 // lines
	head := &c.lines[i]
	lost := 0
	for j := i - 1; j >= max(0, i-most); j-- {
		l := &c.lines[j]
		if l.kind == form.Heading {
			c.raise(j, score-1)
			return
		}
		if l.shape == 0 && j >= i-2 {
			continue
		}
		if l.shape == 0 || l.indent <= head.indent || l.kind == form.Noise || l.kind == form.Failure {
			return
		}
		lost += 2
		c.raise(j, score-4-lost)
	}
}

// latest gives the last line of each form of totals and ends its full score: the last one counts.
func (c *scorer) latest() {
	met := map[uint64]bool{}
	for i := len(c.lines) - 1; i >= 0; i-- {
		l := &c.lines[i]
		if (l.kind == form.Total || l.kind == form.State) && !met[l.shape] {
			met[l.shape] = true
			c.raise(i, max(c.base(l), scoreTotal))
		}
	}
}

// parts scores the lines that say of each part of a run that it went well, if they are few.
func (c *scorer) parts() {
	const most = 24
	var list []int
	for i := range c.lines {
		if l := &c.lines[i]; l.kind == form.Noise && l.says == form.Succeeds {
			list = append(list, i)
		}
	}
	for _, i := range list {
		if len(list) <= most {
			c.raise(i, others)
		}
	}
}

// rare scores lines of forms that are rare in a text that repeats itself, and the first line of each form that is not.
func (c *scorer) rare() {
	const fewest = 40
	if c.records != nil {
		c.rareInRecords()
		return
	}
	repeated, inner, n := 0, 0, 0
	for i := range c.lines {
		if shape := c.lines[i].shape; shape != 0 {
			n++
			if c.lines[i].indent > 3 {
				inner++
			}
			if c.forms[shape] >= often {
				repeated++
			}
		}
	}
	if n < fewest || 2*inner > n && 5*repeated < 4*n { // a tree is no log, if its lines are not alike
		return
	}
	if 2*repeated < n && !c.byWording() {
		return
	}
	c.oddUnder(func(i int) uint64 { return c.lines[i].shape })
	c.rareForms(func(int) bool { return false })
}

// rareForms scores lines of rare forms, but for those that are common, and the first line of each form that is often.
func (c *scorer) rareForms(isCommon func(i int) bool) {
	const sometimes = 2
	met := map[uint64]bool{}
	for i := range c.lines {
		l := &c.lines[i]
		switch {
		case l.shape == 0 || l.kind == form.Frame:
		case isCommon(i):
		case c.forms[l.shape] <= sometimes:
			c.raise(i, scoreRare-lostWhereRare*c.forms[l.shape])
		case c.forms[l.shape] >= often && !met[l.shape] && len(met) < 20:
			met[l.shape] = true
			c.raise(i, scoreFirst)
		}
	}
}

// isProgram reports whether many lines look like those of a program, or like what a search has found in files: what
// they say of errors is no failure.
func (c *scorer) isProgram() bool {
	const samples = 300
	step := max(1, len(c.lines)/samples)
	code, found, n := 0, 0, 0
	for i := 0; i < len(c.lines); i += step {
		body, indent := stamp.Strip(c.lines[i].body(c.text))
		if body == "" {
			continue
		}
		n++
		isRemark := indent == 0 && strings.HasPrefix(body, "* ") // of curl; one of a program is deeper
		if !isRemark && looks.IsCode(body[:min(len(body), glance.MostSeen)]) {
			code++
		}
		if looks.IsFound(body) && c.lines[i].row == nil {
			found++
		}
	}
	return 6*code > n || 2*found > n
}
