// Package terminal shows what an epitome has done on a terminal, as one line and as tables.
//
// No text from outside reaches the terminal with a control character in it.
package terminal

import (
	"slices"
	"strings"
	"unicode/utf8"

	"epitome/console/figure"
)

// column is one of a table.
type column struct {
	title string
	left  bool // its cells begin at the left; else they end at the right
	most  int  // characters of a cell; 0: as many as it has
	rank  int  // the column with the highest goes first where there is no room; one with 0 stays
}

// table is rows under titles.
type table struct {
	columns []column
	rows    [][]string // of plain texts
}

// gap stands between two columns.
const gap = "  "

// lines writes the table, titles first, in at most width characters a line; 0 is no bound.
func (t table) lines(width int) (lines []string) {
	widths := t.widths()
	shown := t.fit(widths, width)
	var titles []string
	for _, c := range t.columns {
		titles = append(titles, c.title)
	}
	for _, row := range append([][]string{titles}, t.rows...) {
		line := t.line(row, widths, shown)
		if width > 0 {
			line = figure.Shorten(line, width)
		}
		lines = append(lines, line)
	}
	return lines
}

// widths are the columns' widths, in characters.
func (t table) widths() (widths []int) {
	for i, c := range t.columns {
		w := utf8.RuneCountInString(c.title)
		for _, row := range t.rows {
			w = max(w, utf8.RuneCountInString(row[i]))
		}
		if c.most > 0 {
			w = min(w, max(c.most, utf8.RuneCountInString(c.title)))
		}
		widths = append(widths, w)
	}
	return widths
}

// fit says which columns have room in a line.
func (t table) fit(widths []int, width int) (shown []int) {
	all := -len(gap)
	for i, w := range widths {
		shown = append(shown, i)
		all += w + len(gap)
	}
	for width > 0 && all > width {
		last := slices.MaxFunc(shown, func(a, b int) int { return t.columns[a].rank - t.columns[b].rank })
		if t.columns[last].rank == 0 {
			break
		}
		shown = slices.DeleteFunc(shown, func(i int) bool { return i == last })
		all -= widths[last] + len(gap)
	}
	return shown
}

// line puts cells beside one another.
func (t table) line(cells []string, widths, shown []int) string {
	var b strings.Builder
	for n, i := range shown {
		cell := figure.Shorten(cells[i], widths[i])
		pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
		if n > 0 {
			b.WriteString(gap)
		}
		if t.columns[i].left {
			b.WriteString(cell + pad)
		} else {
			b.WriteString(pad + cell)
		}
	}
	return strings.TrimRight(b.String(), " ")
}

// mostText bounds, in characters, what is shown of one text that came from outside.
const mostText = 200

// plain returns a text as a terminal may get it: bounded, with what cannot be seen made visible.
func plain(text string) string { return figure.Plain(figure.Shorten(text, mostText)) }
