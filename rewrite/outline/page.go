package outline

import (
	"strconv"
	"strings"

	"epitome/rewrite/mark"
)

// mostLines is how many lines a text may have that is shown by lines: places of more would take too much memory, and
// reading them too much time.
const mostLines = 1 << 18

// widestToken is about the most bytes that one token covers.
const widestToken = 128

// page is a text as lines, of which some are shown, whole and in their order.
type page struct {
	text  string
	start []int32 // of each line, and behind the last one the end of the text
	shown []bool
	left  int // tokens
	gap   int // tokens that the note of a gap takes at most
	count func(string) int
	bare  bool // the lines have numbers of their own, so that a gap is told by its size alone
}

// newPage returns a text of which nothing is shown; nil if it has too many lines.
func newPage(text string, count func(string) int) *page {
	n := strings.Count(text, "\n")
	if text == "" || n >= mostLines || len(text) > 1<<30 {
		return nil
	}
	p := &page{text: text, start: make([]int32, 1, n+2), count: count}
	for at := 0; at < len(text); {
		if end := strings.IndexByte(text[at:], '\n'); end >= 0 {
			at += end + 1
		} else {
			at = len(text)
		}
		p.start = append(p.start, int32(at))
	}
	p.shown = make([]bool, len(p.start)-1)
	p.gap = count(p.note(len(p.shown), len(p.shown)))
	return p
}

// lines returns how many lines there are.
func (p *page) lines() int { return len(p.start) - 1 }

// line returns a line with its end.
func (p *page) line(i int) string { return p.text[p.start[i]:p.start[i+1]] }

// bareLine returns a line without its end.
func (p *page) bareLine(i int) string { return strings.TrimRight(p.line(i), "\r\n") }

// show writes what choose chooses within keep tokens; it returns nothing if that is not possible. What stands together
// may count for more than its lines do, so it tries again with less.
func (p *page) show(keep int, choose func()) string {
	for most := keep; most > keep/2; most -= max(1, keep/20) {
		clear(p.shown)
		if p.left = most - p.gap; p.left <= 0 {
			return ""
		}
		choose()
		p.closeGaps()
		if text := p.write(); p.count(text) <= keep {
			return text
		}
	}
	return ""
}

// isForged reports whether a line passes for a mark of epitome's, or for the note of a gap. None is shown.
func (p *page) isForged(i int) bool { return mark.IsForged(p.line(i)) || mark.Begins(p.line(i), "…") }

// take shows a line, if it fits.
func (p *page) take(i int) bool {
	if p.shown[i] {
		return true
	}
	if p.isForged(i) {
		return false
	}
	line := p.line(i)
	if len(line)/widestToken > p.left {
		return false
	}
	cost := p.count(line)
	before, after := i == 0 || p.shown[i-1], i == p.lines()-1 || p.shown[i+1]
	switch {
	case before && after: // the gap is closed
		cost -= p.gap
	case !before && !after:
		cost += p.gap
	}
	if cost > p.left {
		return false
	}
	p.left -= cost
	p.shown[i] = true
	return true
}

// takeFrom shows lines from line i on, as long as they fit into a budget of tokens.
func (p *page) takeFrom(i, budget int) {
	floor := p.left - min(budget, p.left)
	for ; i < p.lines() && p.left > floor && (p.isForged(i) || p.take(i)); i++ {
	}
}

// takeTail shows lines from the last one upwards, as long as they fit into a budget of tokens.
func (p *page) takeTail(budget int) {
	floor := p.left - min(budget, p.left)
	for i := p.lines() - 1; i >= 0 && p.left > floor && (p.isForged(i) || p.take(i)); i-- {
	}
}

// takeAll shows lines of a list, in their order, as long as a budget of tokens lasts. What is too long is passed over.
func (p *page) takeAll(list []int, budget int) {
	const mostMisses = 64
	floor, misses := p.left-min(budget, p.left), 0
	for _, i := range list {
		if p.left <= floor+p.gap || misses == mostMisses {
			return
		}
		if !p.isForged(i) && !p.take(i) {
			misses++
		}
	}
}

// takeSpread shows lines of a list: all, or, if they do not fit into a budget of tokens, some of every part of it.
func (p *page) takeSpread(list []int, budget int) {
	budget = min(budget, p.left)
	if len(list) == 0 || budget <= 0 {
		return
	}
	const bytesOfToken = 3
	size := 0
	for _, i := range list {
		size += int(p.start[i+1]-p.start[i])/bytesOfToken + p.gap
	}
	if size > budget {
		n := max(1, len(list)*budget/size)
		some := make([]int, n)
		for k := range some {
			some[k] = list[k*len(list)/n]
		}
		before := p.left
		p.takeAll(some, budget)
		budget -= before - p.left
	}
	p.takeAll(list, budget)
}

// closeGaps shows lines whose note would take as much as they do.
func (p *page) closeGaps() {
	const most, widest = 3, 12 // lines, bytes of a token
	for i := 0; i < p.lines(); i++ {
		if p.shown[i] {
			continue
		}
		end := i
		for end < p.lines() && !p.shown[end] {
			end++
		}
		between := p.text[p.start[i]:p.start[end]]
		if end-i <= most && len(between) <= widest*p.gap && p.count(between) <= p.left+p.gap {
			p.takeFrom(i, p.left)
		}
		i = end
	}
}

// write returns the lines that are shown, and between them notes of how many are not.
func (p *page) write() string {
	var b strings.Builder
	for i := 0; i < p.lines(); {
		end := i
		for end < p.lines() && p.shown[end] == p.shown[i] {
			end++
		}
		if p.shown[i] {
			b.WriteString(p.text[p.start[i]:p.start[end]])
		} else {
			if s := b.String(); s != "" && !strings.HasSuffix(s, "\n") {
				b.WriteByte('\n')
			}
			b.WriteString(p.note(i, end))
		}
		i = end
	}
	return b.String()
}

// note says that the lines from i up to end are not shown.
func (p *page) note(i, end int) string {
	switch {
	case p.bare && end-i == 1:
		return "… 1 line\n"
	case p.bare:
		return "… " + strconv.Itoa(end-i) + " lines\n"
	case end-i == 1:
		return "… line " + strconv.Itoa(end) + "\n"
	}
	return "… lines " + strconv.Itoa(i+1) + "-" + strconv.Itoa(end) + "\n"
}
