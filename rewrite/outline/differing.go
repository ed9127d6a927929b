package outline

import (
	"bytes"
	"slices"
	"strings"

	"epitome/rewrite/mark"
	"epitome/rewrite/outline/alike"
	"epitome/rewrite/outline/census"
	"epitome/rewrite/outline/within"
	"epitome/rewrite/span"
)

// mostDiffering is how long a text may be of which Differing looks at the items.
const mostDiffering = 4 << 20

// Differing returns what differs most from the others in a list: lines of JSON or rows of a table as they stand there,
// or items of one JSON value, each in one line behind its place. isPreview tells the last of these. All are whole, in
// their order, in at most room bytes. There are none where many differ. count counts tokens.
func Differing(text string, room int, count func(string) int) (lines []string, isPreview bool) {
	if len(text) > mostDiffering {
		return nil, false
	}
	if found, ok := findJSON(text); ok {
		o := outliner{body: []byte(found.body), before: found.lines, most: 1}
		lines, isPreview = o.differing(room)
		return lines, isPreview || found.numbered && len(lines) > 0
	}
	g := grid{}
	if g.find(text) {
		g.p = newPage(text, count)
	}
	if g.p == nil || !g.read() {
		return slices.DeleteFunc(alike.Differing(text, room), mark.IsForged), false
	}
	return few(g.odd(), room, func(it *census.Odd) []string { return []string{g.p.bareLine(g.rows[it.Index])} }), false
}

// differing returns the items that differ most of the list that matters, and whether they are no lines of the text.
func (o *outliner) differing(room int) (lines []string, isPreview bool) {
	root, ok := o.root()
	if !ok {
		return nil, false
	}
	l := o.findList(&root)
	if l == nil {
		return nil, false
	}
	t := census.New()
	for _, at := range l.items {
		t.Learn(l.body, at)
	}
	odd, _ := t.OddItems(func(i int) census.Odd { return t.OddItem(l.body, l.items[i], i) })
	if len(odd) > 1 && odd[0].Index == 0 && l.holds('[') {
		besideHeader(odd)
	}
	lines = few(odd, room, func(it *census.Odd) []string { return l.shorten(it, room, t.Tells) })
	return lines, len(lines) > 0 && l.what != "line"
}

// shorten returns an item that differs, in one line, or what names it and what differs in it where that is longer than
// room.
func (l *list) shorten(it *census.Odd, room int, tells func(key string) bool) []string {
	at := l.items[it.Index]
	if l.what == "line" {
		return []string{l.lineAt(at)}
	}
	const indented = 4 // times as long as in one line, at most
	if at.End-at.Start <= indented*room {
		if s := l.pathOf(it.Index) + ": " + span.InOneLine(l.body, at); len(s) <= room {
			return []string{s}
		}
	}
	return l.beside(it, room, tells)
}

// beside returns of an item that differs, and is too long to be shown whole, what names it and what differs most in it,
// each behind its path, in at most room bytes; nothing if there is no room for both.
func (l *list) beside(it *census.Odd, room int, tells func(key string) bool) (lines []string) {
	item := l.items[it.Index]
	if it.Most.Empty() || l.what == "line" {
		return nil
	}
	name := within.NameOf(l.body, item, tells)
	for _, at := range [...]span.Span{name, it.Most} {
		if at.Empty() {
			continue
		}
		steps, ok := within.StepsTo(l.body, item, at)
		if !ok {
			return nil
		}
		line := l.pathOf(it.Index) + steps + ": " + span.InOneLine(l.body, at)
		if room -= len(line); room < 0 {
			return nil
		}
		if len(lines) == 0 || at != name {
			lines = append(lines, line)
		}
	}
	return lines
}

// besideHeader weighs rows that differ where the first has the names of columns, which differ from all else: what is
// alone of its kind in another row has a name beside it, and the header differs as much as the most of the others.
func besideHeader(odd []census.Odd) {
	most := 0.
	for k := range odd[1:] {
		odd[k+1].Score *= 2
		most = max(most, odd[k+1].Score)
	}
	odd[0].Score = min(odd[0].Score, most)
}

// lineAt returns the line of the text in which a value begins, without its end.
func (l *list) lineAt(at span.Span) string {
	start := bytes.LastIndexByte(l.body[:at.Start], '\n') + 1
	line, _, _ := bytes.Cut(l.body[start:], []byte{'\n'})
	return strings.TrimSuffix(string(line), "\r")
}

// few returns the texts of those that differ most, in their order, as many as there is room for; none if many differ as
// much: then it says little to show some of them.
func few(odd []census.Odd, room int, text func(*census.Odd) []string) (lines []string) {
	const most, least = 4, 1 // that differ, and what a value alone of its kind makes
	order := mostFirst(odd)
	n := 0
	for n < len(order) && odd[order[n]].Score >= max(least, odd[order[0]].Score/2) {
		n++
	}
	if n > most {
		return nil
	}
	taken := make([][]string, len(odd))
	for _, k := range order[:n] {
		all := text(&odd[k])
		if size := len(strings.Join(all, "")); size <= room && !slices.ContainsFunc(all, mark.IsForged) {
			taken[k] = all
			room -= size
		}
	}
	return slices.Concat(taken...)
}
