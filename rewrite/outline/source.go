package outline

import (
	"strings"

	"epitome/rewrite/outline/definition"
)

// Shares of what an outline of a file may take, in hundredths.
const (
	headShare = 35
	tailShare = 10
	defsShare = 45 // at most
)

// leastSource is how many lines a file must have for an outline of it.
const leastSource = 40

// ofSource shows the head and the tail of a file, and between them the lines that define something, whole.
func ofSource(text, file string, keep int, count func(string) int) (o Outline, ok bool) {
	read, p := definition.ReaderOf(file), (*page)(nil)
	if read != nil {
		p = newPage(text, count)
	}
	if p == nil || p.lines() < leastSource {
		return o, false
	}
	n := numbering(p)
	p.bare = n != ""
	ranks := n.ranks(p, read)
	if len(ranks[0])+len(ranks[1])+len(ranks[2]) < 3 {
		if ranks = n.ranks(p, definition.ByIndentation()); len(ranks[0]) < 3 {
			return o, false
		}
	}
	o = Outline{Kind: Source, Numbered: p.bare}
	o.Text = p.show(keep, func() {
		all := p.left
		p.takeFrom(0, all*headShare/100)
		p.takeTail(all * tailShare / 100)
		defs := all * defsShare / 100
		for _, list := range ranks {
			before := p.left
			p.takeSpread(list, defs)
			defs -= before - p.left
		}
		p.takeFrom(0, p.left)
	})
	return o, o.Text != ""
}

// numbers is what stands behind the number of each line; empty if the lines have none.
type numbers string

// numbering returns how the lines are numbered, as tools do that read files.
func numbering(p *page) numbers {
	votes := map[numbers]int{}
	const most = 60
	looked := 0
	for i := 0; i < p.lines() && looked < most; i++ {
		line := strings.TrimLeft(p.bareLine(i), " ")
		if line == "" {
			continue
		}
		looked++
		digits := countDigits(line)
		if digits == 0 {
			continue
		}
		for _, sep := range [...]numbers{"→", "\t", ":", "|", " |"} {
			if strings.HasPrefix(line[digits:], string(sep)) {
				votes[sep]++
			}
		}
	}
	for _, sep := range [...]numbers{"→", "\t", ":", "|", " |"} {
		if looked > 0 && votes[sep]*10 >= looked*8 {
			return sep
		}
	}
	return ""
}

// countDigits returns how many digits a text begins with.
func countDigits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// strip returns what a line says without its number.
func (n numbers) strip(line string) string {
	if n == "" {
		return line
	}
	at := len(line) - len(strings.TrimLeft(line, " "))
	digits := countDigits(line[at:])
	if digits == 0 || !strings.HasPrefix(line[at+digits:], string(n)) {
		return line
	}
	return line[at+digits+len(n):]
}

// ranks returns the lines that define something: the most important ones, those in them, and those in those.
func (n numbers) ranks(p *page, read *definition.Reader) (ranks [3][]int) {
	next := n.strip(p.bareLine(0))
	for i := range p.lines() {
		line := next
		if i+1 < p.lines() {
			next = n.strip(p.bareLine(i + 1))
		}
		if rank := read.Rank(line, next); rank > 0 {
			ranks[rank-1] = append(ranks[rank-1], i)
		}
	}
	return ranks
}
