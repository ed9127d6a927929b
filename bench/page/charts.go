package page

import (
	"fmt"
	"math"
	"slices"

	"epitome/bench/replay/figures"
	"epitome/bench/report"
	"epitome/console/chart"
)

// The charts are drawn for a width of 400 units, which a phone shows without loss; all lengths here are in them.
const (
	chartWidth = 400
	barPitch   = 24  // from one bar to the next
	barStart   = 190 // names stand before it
	barRoom    = 158 // of the longest bar; its value stands behind it
	plotLeft   = 42
	plotWidth  = chartWidth - plotLeft - 10
	plotTop    = 12
	scatterTop = 190 // height of the plot
	courseTop  = 150 // height of the plot
	nameRunes  = 31  // of a name before a bar
	mostMarks  = 300 // of one policy in one chart
	drawn      = 400 // points of one line
)

// bar is a policy's cost.
type bar struct {
	Color                      int
	Name, Text                 string
	Y, TextY, Length, ValueEnd string
}

// bars is what the policies cost in one window.
type bars struct {
	Window string
	Height int
	One    string // where sending everything ends
	Bars   []bar
}

func find(r *figures.Report, window int, policy string) *figures.Row {
	i := slices.IndexFunc(r.Rows, func(row figures.Row) bool { return row.Window == window && row.Policy == policy })
	if i < 0 {
		return nil
	}
	return &r.Rows[i]
}

// dearest returns the highest cost in any window, and at least that of sending everything: the charts share one scale.
func dearest(r *figures.Report) float64 {
	most := 1.0
	for _, row := range r.Rows {
		if row.Cost != nil {
			most = max(most, *row.Cost)
		}
	}
	return most
}

func newBars(r *figures.Report, window int, policies []string) bars {
	scale := barRoom / dearest(r)
	out := bars{Window: chart.TokensText(window), Height: barPitch*len(policies) + 8,
		One: chart.Units(barStart + scale)}
	for i, policy := range policies {
		row := find(r, window, policy)
		if row == nil {
			continue
		}
		length := 0.0
		if row.Cost != nil {
			length = scale * *row.Cost
		}
		y := float64(barPitch*i + 4)
		out.Bars = append(out.Bars, bar{
			Color: colorOf(i), Name: chart.Shortened(chart.Plain(policy), nameRunes),
			Text: report.Optional(row.Cost, "%.3f"), Y: chart.Units(y), TextY: chart.Units(y + 13),
			Length: chart.Units(length), ValueEnd: chart.Units(barStart + length + 5),
		})
	}
	return out
}

// dot is a policy by cost and recall.
type dot struct {
	Color, Number             int
	Name, X, Y, LabelX, Label string
}

// scatter is recall against cost in one window.
type scatter struct {
	Window  string
	Dots    []dot
	Across  []chart.Tick
	Up      []chart.Tick
	Missing []string // policies without one of the figures
}

func newScatter(r *figures.Report, window int, policies []string) scatter {
	out := scatter{Window: chart.TokensText(window)}
	right, bottom := chart.AxisEnd(dearest(r)), leastRecall(r)
	x := func(cost float64) float64 { return plotLeft + plotWidth*cost/right }
	y := func(recall float64) float64 { return plotTop + scatterTop*(100-recall)/(100-bottom) }
	for _, v := range chart.Steps(0, right) {
		out.Across = append(out.Across, chart.Tick{At: chart.Units(x(v)), Text: chart.AxisText(v)})
	}
	for _, v := range chart.Steps(bottom, 100) {
		out.Up = append(out.Up, chart.Tick{At: chart.Units(y(v)), Text: chart.AxisText(v)})
	}
	var dots []spot
	for i, policy := range policies {
		row := find(r, window, policy)
		if row == nil || row.Cost == nil || row.Recall == nil {
			out.Missing = append(out.Missing, chart.Plain(policy))
			continue
		}
		at := spot{x(*row.Cost), y(*row.Recall)}
		dots = append(dots, at)
		name := fmt.Sprintf("%s: cost %.3f, needs met %.1f\u00a0%%", chart.Plain(policy), *row.Cost, *row.Recall)
		out.Dots = append(out.Dots, dot{Color: colorOf(i), Number: i + 1, Name: name, X: chart.Units(at.x),
			Y: chart.Units(at.y)})
	}
	var labels []spot
	for i := range out.Dots {
		label := beside(dots[i], dots, labels)
		labels = append(labels, label)
		out.Dots[i].LabelX, out.Dots[i].Label = chart.Units(label.x), chart.Units(label.y)
	}
	return out
}

// spot is a dot's middle, or where the number of a dot begins, on its line.
type spot struct{ x, y float64 }

const (
	dotRadius   = 5
	numberWidth = 13 // of two digits
	numberTall  = 8
)

// beside is where the number of a dot stands: as near as there is room for it that no dot and no number takes.
func beside(at spot, dots, labels []spot) spot {
	for away := 0.0; away < 8; away++ {
		side, high := 3*away, numberTall/2.0
		for _, label := range [...]spot{
			{at.x + 8 + side, at.y + high},
			{at.x - 8 - numberWidth - side, at.y + high},
			{at.x - numberWidth/2, at.y - 8 - side},
			{at.x - numberWidth/2, at.y + 8 + numberTall + side},
			{at.x + 6 + side, at.y - 5 - side},
			{at.x + 6 + side, at.y + 5 + numberTall + side},
			{at.x - 6 - numberWidth - side, at.y - 5 - side},
			{at.x - 6 - numberWidth - side, at.y + 5 + numberTall + side},
		} {
			if label.isFree(dots, labels) {
				return label
			}
		}
	}
	return spot{at.x + 8, at.y + numberTall/2}
}

// isFree reports whether a number can stand there: within the chart, over no dot and no other number.
func (s spot) isFree(dots, labels []spot) bool {
	return s.x >= plotLeft && s.x+numberWidth <= chartWidth && s.y-numberTall >= -8 && s.y <= plotTop+scatterTop &&
		!slices.ContainsFunc(dots, s.covers) && !slices.ContainsFunc(labels, s.meets)
}

// covers reports whether a number there would stand over the dot.
func (s spot) covers(dot spot) bool {
	return dot.x+dotRadius > s.x && dot.x-dotRadius < s.x+numberWidth &&
		dot.y+dotRadius > s.y-numberTall && dot.y-dotRadius < s.y
}

// meets reports whether two numbers would stand over one another.
func (s spot) meets(other spot) bool {
	return math.Abs(s.x-other.x) < numberWidth+1 && math.Abs(s.y-other.y) < numberTall+2
}

// leastRecall returns where the axis begins: the lowest recall in any window, rounded down to tens.
func leastRecall(r *figures.Report) float64 {
	least := 90.0
	for _, row := range r.Rows {
		if row.Recall != nil {
			least = min(least, 10*math.Floor(*row.Recall/10))
		}
	}
	return least
}

// courseLine is what one policy sent.
type courseLine struct {
	Color            int
	Points           string
	Marks            []string // where a decision was made
	MarkFrom, MarkTo string   // those of each policy stand by themselves
	Name             string
	Count            int // decisions
}

// courseChart is one conversation in one window.
type courseChart struct {
	Window         string
	Raw            string // points
	Lines          []courseLine
	Across, Up     []chart.Tick
	WindowY, Above string // Above says how far the raw line goes beyond the chart; empty: it does not
}

func newCourseChart(c figures.Course, window int, policies []string) courseChart {
	out := courseChart{Window: chart.TokensText(window)}
	var shown []figures.SentSeries
	sent := window
	for _, s := range c.Sent {
		if s.Window == window {
			shown = append(shown, s)
			sent = max(sent, highest(s.Series))
		}
	}
	top := float64(max(sent, highest(c.Raw))) * 1.05
	// Where the client's conversation is far too long for the window, what was sent would be a line at the bottom.
	if limit := 2.2 * float64(sent); top > 1.5*limit {
		top = limit
		out.Above = chart.TokensText(100 * (highest(c.Raw) / 100))
	}
	inner := chart.Plot{Width: plotWidth, Height: courseTop, Count: c.Requests, Most: chart.AxisEnd(top)}
	plot := inner
	plot.Left, plot.Top = plotLeft, plotTop
	out.Raw, out.WindowY = line(inner, c.Raw), chart.Units(plot.Y(window))
	out.Up, out.Across = plot.Up(), plot.Across()
	for i, s := range shown {
		line := courseLine{
			Color: colorOf(slices.Index(policies, s.Policy)), Points: line(inner, s.Series),
			Name: chart.Plain(s.Policy), Count: s.Decided,
			MarkFrom: chart.Units(plotTop + courseTop - float64(8*i)),
			MarkTo:   chart.Units(plotTop + courseTop - float64(8*i) - 7),
		}
		for _, n := range chart.Evenly(s.Decisions, mostMarks) {
			line.Marks = append(line.Marks, chart.Units(plot.X(n)))
		}
		out.Lines = append(out.Lines, line)
	}
	return out
}

// line returns the points of a series.
func line(p chart.Plot, s figures.Series) string {
	return p.Line(s.Tokens, chart.Thin(s.Tokens, drawn), s.Number)
}

// highest returns the most tokens in the series; 0 for none.
func highest(s figures.Series) int {
	most := 0
	for _, n := range s.Tokens {
		most = max(most, n)
	}
	return most
}
