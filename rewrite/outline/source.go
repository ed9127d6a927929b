package outline

import (
	"path"
	"strings"

	"epitome/rewrite/linenumber"
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

// IsNamed reports whether the name of a file says what it holds, and that this is no log: source, prose with headings,
// settings, a table.
func IsNamed(file string) bool {
	switch strings.ToLower(path.Ext(file)) {
	case ".csv", ".tsv", ".tab", ".diff", ".patch":
		return true
	}
	return definition.ReaderOf(file) != nil
}

// ofSource shows the head and the tail of a file, and between them the lines that define something, whole.
func ofSource(text, file string, keep int, count func(string) int) (o Outline, ok bool) {
	read, p := definition.ReaderOf(file), (*page)(nil)
	if read != nil {
		p = newPage(text, count)
	}
	if p == nil || p.lines() < leastSource {
		return o, false
	}
	n := linenumber.Of(text)
	p.bare = n != ""
	ranks := ranksOf(p, n, read)
	if len(ranks[0])+len(ranks[1])+len(ranks[2]) < 3 {
		if ranks = ranksOf(p, n, definition.ByIndentation()); len(ranks[0]) < 3 {
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

// ranksOf returns the lines that define something: the most important ones, those in them, and those in those.
func ranksOf(p *page, n linenumber.Mark, read *definition.Reader) (ranks [3][]int) {
	next := n.Strip(p.bareLine(0))
	for i := range p.lines() {
		line := next
		if i+1 < p.lines() {
			next = n.Strip(p.bareLine(i + 1))
		}
		if rank := read.Rank(line, next); rank > 0 {
			ranks[rank-1] = append(ranks[rank-1], i)
		}
	}
	return ranks
}

// countDigits returns how many digits a text begins with.
func countDigits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}
