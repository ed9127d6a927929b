package console

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"epitome/event"
	"epitome/event/journal"
)

const mostColumns = 240 // more would be thinner than three units

// chart is what the template "chart" draws of turns: a column for the tokens after, a dotted line for those before, a
// line for the window, and dashed ones for those at which the steps of the ladder act. All turns are on it: in a long
// conversation a column is several of them, with the least and the most tokens.
type chart struct {
	ID             string // of the conversation
	Title          string // says to a screen reader what it shows
	Columns        []column
	Slots          int    // columns that have room; few stay slim
	Top            int    // tokens at the upper edge
	Most           int    // tokens before; over Top they leave the drawing
	Amounts        []int  // round numbers of the axis, six at most
	Before, Window string // paths, in columns and tokens, which grow downwards
	Clear, Compact string // paths of clear_at and compact_at
	WindowAt       int    // tokens of the newest turn, like those that follow
	ClearAt        int
	CompactAt      int
}

// column is some turns of a chart.
type column struct {
	Turns             []event.Exchange
	Before, After     extent // tokens
	Label             string // below the axis; empty at most of many columns
	Mark              string // the highest step of the ladder that acted; empty: none
	Warned, IsCutOver bool   // the tokens sent since the last compaction have passed warn_at, or cutover_at
	Current, Passes   bool   // it has the turn that is shown, or the first one that is larger than the window
}

// extent is the least and the most of some numbers.
type extent struct{ Least, Most int }

// steps are the steps of the ladder that charts mark, the highest one last; the first is none.
var steps = []string{"", "restore", "offload", "clear", "compact", "rescue"}

// glyphs are the signs of the steps, each of another shape.
var glyphs = map[string]string{"offload": "●", "clear": "■", "compact": "◆", "rescue": "▲", "restore": "○"}

// First returns the first turn of a column.
func (c column) First() event.Exchange { return c.Turns[0] }

// Last returns the last turn of a column, to which it leads.
func (c column) Last() event.Exchange { return c.Turns[len(c.Turns)-1] }

// has reports whether a turn is one of the column's.
func (c column) has(turn int) bool { return c.First().Turn <= turn && turn <= c.Last().Turn }

// extentOf returns the least and the most of a number of some turns.
func extentOf(turns []event.Exchange, of func(e *event.Exchange) int) extent {
	n := extent{of(&turns[0]), of(&turns[0])}
	for i := range turns {
		n.Least = min(n.Least, of(&turns[i]))
		n.Most = max(n.Most, of(&turns[i]))
	}
	return n
}

// Numbers of a turn that a chart shows.
func before(e *event.Exchange) int      { return e.TokensBefore.Total() }
func after(e *event.Exchange) int       { return e.TokensAfter.Total() }
func window(e *event.Exchange) int      { return e.Window }
func clearLine(e *event.Exchange) int   { return e.ClearLine }
func compactLine(e *event.Exchange) int { return e.CompactLine }

// turnChart draws the turns of a conversation. A line that rises above three windows leaves the chart, as it would
// flatten everything else.
func turnChart(s journal.Story, current int) chart {
	turns := s.Exchanges
	columns := slices.Collect(slices.Chunk(turns, (len(turns)+mostColumns-1)/mostColumns))
	c := chart{
		ID: s.ID, Slots: max(len(columns), 4), Most: extentOf(turns, before).Most,
		Title: fmt.Sprintf("Tokens before and after, turns %d to %d", turns[0].Turn, turns[len(turns)-1].Turn),
	}
	held := max(extentOf(turns, after).Most, extentOf(turns, window).Most)
	c.Top = max(c.Most, held, 1)
	if held > 0 {
		c.Top = min(c.Top, 3*held)
	}
	step := 1
	for i := 0; c.Top > 5*step; i++ {
		step = step * [...]int{4, 5, 4}[i%3] / 2 // 1, 2, 5, 10, 20, …
	}
	for n := 0; n <= c.Top; n += step {
		c.Amounts = append(c.Amounts, n)
	}
	c.Before, c.Window = c.path(columns, before), c.path(columns, window)
	c.Clear, c.Compact = c.path(columns, clearLine), c.path(columns, compactLine)
	between := (len(columns) + 9) / 10 // columns from one label to the next
	for i, turns := range columns {
		drawn := newColumn(turns)
		drawn.Current, drawn.Passes = drawn.has(current), drawn.has(s.BeyondFrom)
		if i%between == 0 {
			drawn.Label = strconv.Itoa(turns[0].Turn)
		}
		c.Columns = append(c.Columns, drawn)
		if last := drawn.Last(); last.Window > 0 {
			c.WindowAt, c.ClearAt, c.CompactAt = last.Window, last.ClearLine, last.CompactLine
		}
	}
	return c
}

// path returns the path along the most of a number in each column, with a stroke down to the least; there is none over
// a column of 0.
func (c *chart) path(columns [][]event.Exchange, of func(e *event.Exchange) int) string {
	var path strings.Builder
	command := "M"
	for i, turns := range columns {
		n := extentOf(turns, of)
		if n.Most == 0 {
			command = "M"
			continue
		}
		least, most := c.Top-min(n.Least, c.Top), c.Top-min(n.Most, c.Top)
		fmt.Fprintf(&path, "%s%d %d H%d", command, i, most, i+1)
		if least > most {
			fmt.Fprintf(&path, " V%d V%d", least, most)
		}
		command = "L"
	}
	return path.String()
}

// Y returns where so many tokens lie, in percent of the height from the upper edge.
func (c *chart) Y(tokens int) float64 { return 100 - share(tokens, c.Top) }

// newColumn returns turns as a column.
func newColumn(turns []event.Exchange) column {
	c := column{Turns: turns, Before: extentOf(turns, before), After: extentOf(turns, after)}
	for _, e := range turns {
		c.Mark = steps[max(slices.Index(steps, c.Mark), slices.Index(steps, event.Step(&e)))]
		c.IsCutOver = c.IsCutOver || e.Compaction.Reason == event.ReasonBudget
		for _, w := range e.Warnings {
			c.Warned = c.Warned || w.Reason == event.ReasonBudget
			c.IsCutOver = c.IsCutOver || w.Due == event.ReasonBudget
		}
	}
	return c
}

// Marks returns the steps that columns have marks of, for the legend.
func (c *chart) Marks() []string {
	return slices.DeleteFunc(slices.Clone(steps), func(step string) bool {
		return step == "" || !slices.ContainsFunc(c.Columns, func(drawn column) bool { return drawn.Mark == step })
	})
}
