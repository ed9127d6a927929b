package outline

import (
	"cmp"
	"slices"
	"strings"

	"epitome/rewrite/outline/census"
	"epitome/rewrite/outline/within"
)

// Bounds of tables.
const (
	leastRows    = 12
	mostColumns  = 60
	headerLines  = 10 // among which the names of the columns stand
	sampleRows   = 60
	sameColumns  = 90 // hundredths of the rows that have as many cells as there are columns, at least
	firstRows    = 4  // that are shown before all else
	rowsShown    = 12
	oddRowShare  = 50 // hundredths
	fieldsShare  = 30
	widestHeader = 600 // bytes
)

// grid is a text of rows and columns.
type grid struct {
	p      *page
	header int // line with the names of the columns
	names  []string
	split  func(line string) []string
	rows   []int // lines
	other  []int // lines that are no rows
	t      *census.Census
}

// ofTable shows a table: the names of the columns, the first and the last rows and those that differ, whole. Before it
// stands how often each value of a column comes.
func ofTable(text string, keep int, count func(string) int) (o Outline, ok bool) {
	g := grid{}
	if !g.find(text) {
		return o, false
	}
	if g.p = newPage(text, count); g.p == nil || !g.read() {
		return o, false
	}
	told := "In it: " + amount(len(g.rows), false, "row")
	if len(g.other) > 0 {
		told += " and " + amount(len(g.other), false, "other line")
	}
	told += ". Their columns:\n"
	told += g.t.Describe(keep*fieldsShare/100-count(told), count) + "\n"
	odd := g.oddRows()
	o.Kind = Table
	o.Text = g.p.show(keep-count(told), func() { g.choose(odd) })
	if o.Text != "" {
		o.Text = told + o.Text
	}
	return o, o.Text != ""
}

// find looks for the names of the columns among the first lines, and for how they are told apart.
func (g *grid) find(text string) bool {
	var lines []string
	for line := range strings.Lines(text) {
		if lines = append(lines, strings.TrimRight(line, "\r\n")); len(lines) == headerLines+sampleRows {
			break
		}
	}
	for i := range min(headerLines, len(lines)-leastRows) {
		if len(lines[i]) > widestHeader || strings.TrimSpace(lines[i]) == "" {
			continue
		}
		ways := [...]func(string) []string{splitBars, splitTabs, splitCommas, splitSemicolons,
			columnsOf(lines[i]).split, splitGaps, splitWords}
		isRuled := isRule(lines[i+1])
		for k, split := range ways {
			names := split(lines[i])
			if areNames(names, k >= 4 && !isRuled) && fits(lines[i+1:], split, names) {
				g.header, g.names, g.split = i, names, split
				return true
			}
		}
	}
	return false
}

// areNames reports whether cells can name columns; aligned columns are named in capitals.
func areNames(cells []string, capitals bool) bool {
	if len(cells) < 3 || len(cells) > mostColumns {
		return false
	}
	seen := map[string]bool{}
	for _, c := range cells {
		c = strings.TrimSpace(c)
		if seen[c] || !isName(c) || capitals && c != strings.ToUpper(c) {
			return false
		}
		seen[c] = true
	}
	return true
}

// isName reports whether a cell can name a column.
func isName(cell string) bool {
	const longest, words = 40, 4
	first := strings.TrimLeft(cell, `"#% `)
	return first != "" && len(cell) <= longest && (within.IsWord(first[:1]) || first[0] == '$' || first[0] >= 0x80) &&
		!strings.ContainsAny(cell, "{}=;:[]<>!,") && strings.Count(cell, " ") < words && !isRule(cell)
}

// fits reports whether nearly all lines have a cell for each name, and few of them have what would be its name.
func fits(lines []string, split func(string) []string, names []string) bool {
	n, fit, same := 0, 0, 0
	for _, line := range lines {
		if strings.TrimSpace(line) == "" || isRule(line) {
			continue
		}
		n++
		cells := split(line)
		if len(cells) != len(names) {
			continue
		}
		fit++
		if slices.IndexFunc(names, func(name string) bool { return slices.Contains(cells, name) }) >= 0 {
			same++
		}
	}
	return n >= leastRows-2 && 100*fit >= sameColumns*n && 4*same <= fit
}

// isRule reports whether a line only draws.
func isRule(line string) bool {
	return strings.Trim(line, "-+|=: ") == "" && strings.ContainsAny(line, "-=")
}

// splitBars splits a row of Markdown or of a database.
func splitBars(line string) []string {
	if !strings.Contains(line, "|") {
		return nil
	}
	cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return cells
}

func splitTabs(line string) []string       { return splitAt(line, '\t') }
func splitCommas(line string) []string     { return splitAt(line, ',') }
func splitSemicolons(line string) []string { return splitAt(line, ';') }

// splitAt splits a row at a character that stands outside of quotes.
func splitAt(line string, sep byte) (cells []string) {
	if strings.IndexByte(line, '"') < 0 {
		return strings.Split(line, string(rune(sep)))
	}
	start, quoted := 0, false
	for i := range len(line) {
		switch {
		case line[i] == '"':
			quoted = !quoted
		case line[i] == sep && !quoted:
			cells = append(cells, line[start:i])
			start = i + 1
		}
	}
	return append(cells, line[start:])
}

// splitGaps splits a row where there are two spaces or more.
func splitGaps(line string) (cells []string) {
	for line = strings.TrimSpace(line); line != ""; {
		cell, rest, _ := strings.Cut(line, "  ")
		cells = append(cells, strings.TrimSpace(cell))
		line = strings.TrimLeft(rest, " ")
	}
	return cells
}

// columns are where the columns of an aligned table begin, in characters.
type columns []int

// columnsOf are the columns below a line of names that have two spaces or more between them.
func columnsOf(names string) (all columns) {
	spaces, n := 2, 0
	for _, c := range names {
		switch {
		case c == ' ':
			spaces++
		case spaces > 1:
			all = append(all, n)
			fallthrough
		default:
			spaces = 0
		}
		n++
	}
	return all
}

// split splits a row where the columns begin: a cell may be empty. A row is not aligned with anything but two spaces
// right before one of them: there a word of a longer cell may begin.
func (all columns) split(line string) (cells []string) {
	start, n, next, spaces := 0, 0, 0, 2
	for i, c := range line {
		if next < len(all) && n == all[next] {
			if spaces < 2 {
				return nil
			}
			if next++; next > 1 {
				cells = append(cells, strings.TrimSpace(line[start:i]))
				start = i
			}
		}
		if n++; c == ' ' {
			spaces++
		} else {
			spaces = 0
		}
	}
	for cells = append(cells, strings.TrimSpace(line[start:])); len(cells) < len(all); {
		cells = append(cells, "")
	}
	return cells
}

// splitWords splits a row at every space, as ps has it.
func splitWords(line string) []string {
	const columns = 11 // of ps aux: the last of them may have spaces
	cells := strings.Fields(line)
	if len(cells) <= columns {
		return cells
	}
	cells = cells[:columns-1]
	for _, c := range cells {
		line = strings.TrimSpace(line)[len(c):]
	}
	return append(cells, strings.TrimSpace(line))
}

// read takes the rows in, and reports whether there are enough of them.
func (g *grid) read() bool {
	names := make([]string, len(g.names))
	for k, name := range g.names {
		names[k] = strings.Trim(name, `" `)
	}
	g.t = census.OfColumns(names)
	var room []byte
	for i := g.header + 1; i < g.p.lines(); i++ {
		line := g.p.bareLine(i)
		cells := g.split(line)
		switch {
		case strings.TrimSpace(line) == "" || isRule(line):
			continue
		case len(cells) != len(g.names):
			g.other = append(g.other, i)
			continue
		}
		for k, c := range cells {
			room = valueOfCell(c, room[:0])
			g.t.LearnCell(k, room)
		}
		g.t.EndRow()
		g.rows = append(g.rows, i)
	}
	return len(g.rows) >= leastRows
}

// valueOfCell returns a cell as a value of JSON, a number or a string, which may stand in room.
func valueOfCell(cell string, room []byte) []byte {
	cell = strings.TrimSpace(cell)
	if isNumber(cell) || len(cell) >= 2 && cell[0] == '"' {
		return append(room, cell...)
	}
	return append(append(append(room, '"'), cell...), '"')
}

// isNumber reports whether a text is a number, as tables have them.
func isNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	whole := countDigits(s)
	if s == "" || whole == 0 {
		return false
	}
	return whole == len(s) || s[whole] == '.' && whole+1 < len(s) && countDigits(s[whole+1:]) == len(s)-whole-1
}

// odd returns the rows that differ, in their order.
func (g *grid) odd() []census.Odd {
	var room []byte
	odd, _ := g.t.OddItems(func(r int) census.Odd {
		o := census.Odd{Index: r}
		for k, c := range g.split(g.p.bareLine(g.rows[r])) {
			room = valueOfCell(c, room[:0])
			g.t.OddCell(&o, k, room)
		}
		return o
	})
	return odd
}

// oddRows returns the lines of rows that differ, those that differ most first.
func (g *grid) oddRows() (lines []int) {
	odd := g.odd()
	slices.SortStableFunc(odd, func(a, b census.Odd) int { return cmp.Compare(b.Score, a.Score) })
	for _, o := range odd {
		lines = append(lines, g.rows[o.Index])
	}
	return lines
}

// choose shows what matters: what stands above the rows, the first ones, those that differ, the last ones, and then the
// others.
func (g *grid) choose(odd []int) {
	const most = 20
	all := g.p.left
	for i := range min(g.p.lines(), g.header+2+firstRows) {
		g.p.take(i)
	}
	g.p.takeAll(g.other[max(0, len(g.other)-most):], all*toldShare/100)
	g.p.takeAll(odd, all*oddRowShare/100)
	g.p.takeAll(g.rows[max(0, len(g.rows)-2):], g.p.left)
	g.p.takeAll(g.rows[:min(len(g.rows), rowsShown)], g.p.left)
}
