package excerpt

import (
	"strings"

	"epitome/rewrite/excerpt/form"
	"epitome/rewrite/mark"
)

// widestToken is about the most bytes that one token covers: vocabularies hold runs of 128 spaces. What is longer than
// its budget of such tokens is not even counted.
const widestToken = 128

// gapTokens is about what the mark of a gap takes.
const gapTokens = 24

// selection chooses lines of one text.
type selection struct {
	text   string
	mark   string
	lines  []line
	count  func(string) int
	head   float64
	budget int    // tokens in all
	left   int    // tokens that may still be taken
	open   int    // gaps there are
	inRun  []bool // lines that are neither the first nor the last of a long run of one form
	again  []bool // warnings of forms that come often, neither the first nor the last
	taken  []bool
	tokens []int32        // of each line; -1 if it was not counted
	code   bool           // the text is a program rather than what one wrote
	scores []uint8        // how much a line tells; what has none is chosen for where it stands alone
	forms  map[uint64]int // how many lines have a form; none if nothing tells
}

func newSelection(text string, b Budget, forged string) *selection {
	return &selection{text: text, mark: strings.TrimSpace(forged), count: b.Count, head: min(max(b.Head, 0), 1),
		budget: max(b.Tokens, 0), left: max(b.Tokens, 0)}
}

// start makes room for what is told of each line.
func (s *selection) start() {
	n := len(s.lines)
	s.open = 1
	s.taken, s.tokens, s.scores, s.inRun = make([]bool, n), make([]int32, n), make([]uint8, n), make([]bool, n)
	s.again = make([]bool, n)
	for i := range s.tokens {
		s.tokens[i] = -1
	}
}

// of returns a line.
func (s *selection) of(i int) string { return s.text[s.lines[i].start:s.lines[i].end] }

// take takes a line if there is room for it and for the marks of the gaps that it makes. reserve is how many tokens
// must be left.
func (s *selection) take(i, reserve int) bool {
	if s.taken[i] {
		return true
	}
	gaps := s.gaps(i)
	marks := gapTokens * (max(s.open+gaps-1, 0) - (s.open - 1)) // one is free
	room := s.left - reserve - marks
	l := &s.lines[i]
	if l.lines > 0 || (l.end-l.start)/widestToken > room || s.isForged(i) {
		return false
	}
	if s.tokens[i] < 0 {
		s.tokens[i] = int32(min(s.count(s.text[l.start:l.end]), 1<<30)) //nolint:gosec // bounded above
	}
	n := int(s.tokens[i])
	if n > room {
		return false
	}
	s.left -= n + marks
	s.open += gaps
	s.taken[i] = true
	return true
}

// isForged reports whether a line looks like a mark.
func (s *selection) isForged(i int) bool {
	return s.mark != "" && mark.Begins(s.of(i), s.mark)
}

// gaps is by how many gaps taking a line changes their number: -1 to 1.
func (s *selection) gaps(i int) int {
	n := 1
	if i == 0 || s.taken[i-1] {
		n--
	}
	if i == len(s.lines)-1 || s.taken[i+1] {
		n--
	}
	return n
}

// Shares of the budget that must be left when lines are chosen for what they tell: some of the ends is always shown.
const (
	leftByTelling = 0.22 // by what failed, and why
	leftByOthers  = 0.5  // by warnings, rare lines, and one of each form
)

// Scores at and above which lines share a budget.
const (
	telling = 66
	others  = 30
)

// choose takes what tells most first, then the ends.
func (s *selection) choose() {
	s.takeEnds()
	order := s.order()
	for _, i := range order {
		reserve := leftByOthers
		if s.scores[i] >= telling {
			reserve = leftByTelling
		}
		s.take(i, int(reserve*float64(s.budget)))
	}
	s.findRuns()
	s.close()
	s.fill()
	s.close()
	for i := range s.inRun {
		s.inRun[i] = s.inRun[i] && (s.again[i] || s.lines[i].isProgress())
	}
	s.fewOfRuns()
	s.fill()
	s.close()
}

// isProgress reports whether a line is one of those that tell that something goes on.
func (l *line) isProgress() bool { return l.kind == form.Noise || l.chat || l.clock >= 0 }

// fewOfRuns lets a few lines of long runs stand at the beginning and at the end of the text.
func (s *selection) fewOfRuns() {
	const first, last = 4, 8
	n := first
	for i := 0; i < len(s.lines) && n > 0; i++ {
		if s.inRun[i] {
			s.inRun[i] = false
			n--
		}
	}
	n = last
	for i := len(s.lines) - 1; i >= 0 && n > 0; i-- {
		if s.inRun[i] {
			s.inRun[i] = false
			n--
		}
	}
}

// takeEnds takes the first and the last lines, unless one of them takes much.
func (s *selection) takeEnds() {
	const first, last, share = 2, 4, 12
	n := len(s.lines)
	reserve := s.left
	for k := range last {
		if i := n - 1 - k; i >= 0 {
			reserve -= s.budget / share
			s.take(i, reserve)
		}
	}
	for i := range min(first, n) {
		reserve -= s.budget / share
		s.take(i, reserve)
	}
}

// order returns the lines that tell, the most telling first, and of equal ones the first.
func (s *selection) order() []int {
	var n [256]int
	for _, score := range s.scores {
		n[score]++
	}
	var at [256]int
	sum := 0
	for score := 255; score >= others; score-- {
		at[score] = sum
		sum += n[score]
	}
	list := make([]int, sum)
	for i, score := range s.scores {
		if score >= others {
			list[at[score]] = i
			at[score]++
		}
	}
	return list
}

// findRuns finds long runs of lines of one form.
func (s *selection) findRuns() {
	const long = 8
	for i := 0; i < len(s.lines); {
		k := i + 1
		for k < len(s.lines) && (s.again[k] || goesOn(&s.lines[i], &s.lines[k])) {
			k++
		}
		if k-i >= long && s.lines[i].shape != 0 {
			for j := i + 1; j < k-1; j++ {
				s.inRun[j] = true
			}
		}
		i = k
	}
}

// goesOn reports whether a line tells no more than the one with which a run begins: it has its form, or both are of a
// program that goes on with its work.
func goesOn(first, l *line) bool {
	return l.shape == first.shape || l.chat && first.chat || l.kind == form.Noise && first.kind == form.Noise
}

// fill takes lines of the end and the beginning as long as they fit.
func (s *selection) fill() {
	first := min(max(int(float64(s.left)*s.head), 0), s.left)
	s.fillHead(s.left - first)
	s.fillTail()
	s.fillHead(0)
}

func (s *selection) fillHead(reserve int) {
	for i := range s.lines {
		if !s.inRun[i] && !s.isForged(i) && !s.take(i, reserve) {
			return
		}
	}
}

func (s *selection) fillTail() {
	for i := len(s.lines) - 1; i >= 0; i-- {
		if !s.inRun[i] && !s.isForged(i) && !s.take(i, 0) {
			return
		}
	}
}

// close takes the lines of gaps that are no longer than their marks, or not much.
func (s *selection) close() {
	for i := 0; i < len(s.lines); i++ {
		if s.taken[i] {
			continue
		}
		k := i
		for k < len(s.lines) && !s.taken[k] {
			k++
		}
		const least, mostLines, mostBytes = 4 * gapTokens, 3, 10 * gapTokens // bytes
		size := s.lines[k-1].end - s.lines[i].start
		if i > 0 && k < len(s.lines) && (size <= least || k-i <= mostLines && size <= mostBytes) {
			for j := i; j < k; j++ {
				s.take(j, 0)
			}
		}
		i = k
	}
}
