package console

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"epitome/event"
	"epitome/event/journal"
)

// The drawing area of a chart, in units of its viewBox.
const (
	chartLeft   = 72.0
	chartRight  = 796.0
	chartTop    = 30.0
	chartBottom = 230.0
)

const mostColumns = 240 // more would be thinner than three units

// chart is a drawing of turns for the template "chart": a column for the tokens after, a dotted line for those before,
// a line for the window, and dashed ones for those at which the steps of the ladder act. All turns are on it: in a long
// conversation a column is several of them, with the least and the most tokens.
type chart struct {
	ID                 string // of the conversation
	Title              string // says to a screen reader what it shows
	Columns            []column
	Amounts            []label // of the axis
	Before, Window     string  // paths
	Clear, Compact     string  // paths of clear_at and compact_at
	WindowText         label   // at the end of Window
	BeforeText         label   // at the end of Before, which leaves the drawing; empty if it does not
	Ends               label   // at the first turn that would have failed without epitome; empty if none would
	ClearAt, CompactAt int     // tokens of the newest turn
}

// column is some turns of a chart.
type column struct {
	Turns             []event.Exchange
	Before, After     extent // tokens
	Label             string // below the axis; empty at most of many columns
	Mark              string // the highest step of the ladder that acted; empty: none
	Warned, IsCutOver bool   // the tokens sent since the last compaction have passed warn_at, or cutover_at
	Current           bool
	X, Middle, Width  length
	Most, Least       length // y of After
	Height, Rest      length // below Least, and from there to Most
}

// extent is the least and the most of some numbers.
type extent struct{ Least, Most int }

// label is a text in a chart.
type label struct {
	X, Y length
	Text string
}

// length is a distance in units of a chart's viewBox.
type length float64

func (l length) String() string { return strconv.FormatFloat(float64(l), 'f', 1, 64) }

// steps are the steps of the ladder that charts mark, the highest one last; the first is none.
var steps = []string{"", "restore", "offload", "clear", "compact", "rescue"}

// glyphs are the signs of the steps, each of another shape.
var glyphs = map[string]string{"offload": "●", "clear": "■", "compact": "◆", "rescue": "▲", "restore": "○"}

// First returns the first turn of a column.
func (c column) First() event.Exchange { return c.Turns[0] }

// Last returns the last turn of a column, to which it leads.
func (c column) Last() event.Exchange { return c.Turns[len(c.Turns)-1] }

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

// scale says where columns and tokens lie in a chart.
type scale struct {
	top   int    // tokens at the upper edge
	width length // of a column
}

// scaleOf returns the scale of turns. A line that rises above three windows leaves the chart, as it would flatten
// everything else.
func scaleOf(turns []event.Exchange, columns int) scale {
	held := max(extentOf(turns, after).Most, extentOf(turns, window).Most)
	top := max(extentOf(turns, before).Most, held, 1)
	if held > 0 {
		top = min(top, 3*held)
	}
	return scale{top: top, width: (chartRight - chartLeft) / length(max(columns, 4))} // few columns stay slim
}

// x returns where a column begins, counted from 0.
func (s scale) x(column int) length { return chartLeft + s.width*length(column) }

// y returns the height of so many tokens.
func (s scale) y(tokens int) length {
	return chartBottom - length(min(tokens, s.top))/length(s.top)*(chartBottom-chartTop)
}

// path returns the path along the most of a number in each column, with a stroke down to the least; there is none over
// a column of 0.
func (s scale) path(columns [][]event.Exchange, of func(e *event.Exchange) int) string {
	var path strings.Builder
	command := "M"
	for i, turns := range columns {
		n := extentOf(turns, of)
		if n.Most == 0 {
			command = "M"
			continue
		}
		fmt.Fprintf(&path, "%s%v %v H%v", command, s.x(i), s.y(n.Most), s.x(i+1))
		if s.y(n.Least)-s.y(n.Most) > 1 {
			fmt.Fprintf(&path, " V%v V%v", s.y(n.Least), s.y(n.Most))
		}
		command = "L"
	}
	return path.String()
}

// amounts returns the round numbers of the axis, six at most.
func (s scale) amounts() (all []label) {
	step := roundStep(s.top)
	for n := 0; n <= s.top; n += step {
		all = append(all, label{0, s.y(n), Tokens(int64(n))})
	}
	return all
}

// roundStep returns the least of 1, 2, 5, 10, 20, … that goes into top five times at most.
func roundStep(top int) int {
	for power := 1; ; power *= 10 {
		for _, step := range [...]int{power, 2 * power, 5 * power} {
			if top <= 5*step {
				return step
			}
		}
	}
}

// turnChart draws turns of a conversation.
func turnChart(s journal.Story, turns []event.Exchange, current int) chart {
	columns := slices.Collect(slices.Chunk(turns, (len(turns)+mostColumns-1)/mostColumns))
	at := scaleOf(turns, len(columns))
	c := chart{
		ID:      s.ID,
		Title:   fmt.Sprintf("Tokens before and after, turns %d to %d", turns[0].Turn, turns[len(turns)-1].Turn),
		Amounts: at.amounts(),
		Before:  at.path(columns, before), Window: at.path(columns, window),
		Clear: at.path(columns, clearLine), Compact: at.path(columns, compactLine),
	}
	between := (len(columns) + 9) / 10 // columns from one label to the next
	for i, turns := range columns {
		drawn := at.column(i, turns)
		first, last := drawn.First(), drawn.Last()
		drawn.Current = first.Turn <= current && current <= last.Turn
		if i%between == 0 {
			drawn.Label = strconv.Itoa(first.Turn)
		}
		c.Columns = append(c.Columns, drawn)
		if last.Window > 0 {
			c.WindowText = label{at.x(i + 1), at.y(last.Window) - 5, "window " + Tokens(int64(last.Window))}
			c.ClearAt, c.CompactAt = last.ClearLine, last.CompactLine
		}
		if first.Turn <= s.EndsAt && s.EndsAt <= last.Turn {
			c.Ends = label{drawn.Middle, chartTop, fmt.Sprintf("would have ended at turn %d", s.EndsAt)}
		}
	}
	most := extentOf(turns, before).Most
	if most > at.top {
		c.BeforeText = label{at.x(len(columns)), chartTop + 14, "↑ " + Tokens(int64(most)) + " before"}
	}
	return c
}

// column draws turns as the column with an index.
func (s scale) column(i int, turns []event.Exchange) column {
	c := column{
		Turns: turns, Before: extentOf(turns, before), After: extentOf(turns, after),
		X: s.x(i), Middle: s.x(i) + s.width/2, Width: s.width,
	}
	c.Most, c.Least = s.y(c.After.Most), s.y(c.After.Least)
	c.Height, c.Rest = chartBottom-c.Least, c.Least-c.Most
	for _, e := range turns {
		c.Mark = steps[max(slices.Index(steps, c.Mark), slices.Index(steps, event.Step(&e)))]
		warned, isCutOver := passes(e)
		c.Warned, c.IsCutOver = c.Warned || warned, c.IsCutOver || isCutOver
	}
	return c
}

// Marks returns the steps that columns have marks of, for the legend.
func (c chart) Marks() []string {
	return slices.DeleteFunc(slices.Clone(steps), func(step string) bool {
		return step == "" || !slices.ContainsFunc(c.Columns, func(drawn column) bool { return drawn.Mark == step })
	})
}

// passes reports whether a turn is the one that reached warn_at or cutover_at, which count the tokens that were sent
// since the last compaction.
func passes(e event.Exchange) (warnAt, cutoverAt bool) {
	cutoverAt = e.Compaction.Reason == event.ReasonBudget
	for _, w := range e.Warnings {
		warnAt = warnAt || w.Reason == event.ReasonBudget
		cutoverAt = cutoverAt || w.Due == event.ReasonBudget
	}
	return warnAt, cutoverAt
}
