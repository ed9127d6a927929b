package outline

import (
	"strings"

	"epitome/rewrite/mark"
	"epitome/rewrite/outline/census"
)

// mostDiffering is how long a text may be of which Differing looks at the items.
const mostDiffering = 4 << 20

// Differing returns the items of a list of JSON, with their places, or the rows of a table, that differ most from the
// others: whole, in their order, in at most room bytes. There are none where many differ. count counts tokens.
func Differing(text string, room int, count func(string) int) (lines []string) {
	if len(text) > mostDiffering {
		return nil
	}
	before, body, _ := cutJSON(text)
	if body != "" {
		o := outliner{body: []byte(body), before: strings.Count(before, "\n"), most: 1}
		return o.differing(room)
	}
	g := grid{}
	if !g.find(text) {
		return nil
	}
	if g.p = newPage(text, count); g.p == nil || !g.read() {
		return nil
	}
	return few(g.odd(), room, func(i int) string { return g.p.bareLine(g.rows[i]) })
}

// differing returns the items that differ most of the list that matters.
func (o *outliner) differing(room int) []string {
	root, ok := o.root()
	if !ok {
		return nil
	}
	l := o.findList(&root)
	if l == nil {
		return nil
	}
	t := census.New()
	for _, at := range l.items {
		t.Learn(l.body, at)
	}
	odd, _ := t.OddItems(func(i int) census.Odd { return t.OddItem(l.body, l.items[i], i) })
	return few(odd, room, func(i int) string {
		if at := l.items[i]; at.End-at.Start > room {
			return ""
		}
		return l.pathOf(i) + ": " + inOneLine(l.body, l.items[i])
	})
}

// few returns the texts of those that differ most, in their order, as many as there is room for; none if many differ as
// much: then it says little to show some of them.
func few(odd []census.Odd, room int, text func(index int) string) (lines []string) {
	const most, least = 4, 1 // that differ, and what a value alone of its kind makes
	order := mostFirst(odd)
	n := 0
	for n < len(order) && odd[order[n]].Score >= max(least, odd[order[0]].Score/2) {
		n++
	}
	if n > most {
		return nil
	}
	taken := make([]string, len(odd))
	for _, k := range order[:n] {
		s := text(odd[k].Index)
		if s != "" && len(s) <= room && !mark.IsForged(s) {
			taken[k] = s
			room -= len(s)
		}
	}
	for _, s := range taken {
		if s != "" {
			lines = append(lines, s)
		}
	}
	return lines
}
