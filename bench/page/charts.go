package page

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"epitome/bench/replay"
	"epitome/bench/report"
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

// tick is a line of the grid with its number.
type tick struct {
	At   string
	Text string
}

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

// units writes a length.
func units(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }

// tokensText writes a number of tokens shortly.
func tokensText(n int) string {
	switch {
	case n >= 1_000_000:
		return strconv.FormatFloat(float64(n)/1e6, 'f', -1, 64) + "M"
	case n >= 1000 && n%100 == 0:
		return strconv.FormatFloat(float64(n)/1e3, 'f', -1, 64) + "k"
	}
	return strconv.Itoa(n)
}

func find(r *replay.Report, window int, policy string) *replay.Row {
	i := slices.IndexFunc(r.Rows, func(row replay.Row) bool { return row.Window == window && row.Policy == policy })
	if i < 0 {
		return nil
	}
	return &r.Rows[i]
}

// dearest returns the highest cost in any window, and at least that of sending everything: the charts share one scale.
func dearest(r *replay.Report) float64 {
	most := 1.0
	for _, row := range r.Rows {
		if row.Cost != nil {
			most = max(most, *row.Cost)
		}
	}
	return most
}

func newBars(r *replay.Report, window int, policies []string) bars {
	scale := barRoom / dearest(r)
	out := bars{Window: tokensText(window), Height: barPitch*len(policies) + 8, One: units(barStart + scale)}
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
			Color: colorOf(i), Name: shortened(plain(policy)), Text: report.Optional(row.Cost, "%.3f"), Y: units(y),
			TextY:  units(y + 13),
			Length: units(length), ValueEnd: units(barStart + length + 5),
		})
	}
	return out
}

func shortened(name string) string {
	if runes := []rune(name); len(runes) > nameRunes {
		return string(runes[:nameRunes-1]) + "…"
	}
	return name
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
	Across  []tick
	Up      []tick
	Missing []string // policies without one of the figures
}

func newScatter(r *replay.Report, window int, policies []string) scatter {
	out := scatter{Window: tokensText(window)}
	right, bottom := axisEnd(dearest(r)), leastRecall(r)
	x := func(cost float64) float64 { return plotLeft + plotWidth*cost/right }
	y := func(recall float64) float64 { return plotTop + scatterTop*(100-recall)/(100-bottom) }
	for _, v := range steps(0, right) {
		out.Across = append(out.Across, tick{units(x(v)), axisText(v)})
	}
	for _, v := range steps(bottom, 100) {
		out.Up = append(out.Up, tick{units(y(v)), axisText(v)})
	}
	var labels [][2]float64
	for i, policy := range policies {
		row := find(r, window, policy)
		if row == nil || row.Cost == nil || row.Recall == nil {
			out.Missing = append(out.Missing, plain(policy))
			continue
		}
		at := [2]float64{x(*row.Cost), y(*row.Recall)}
		label := apart([2]float64{labelX(at[0]), at[1] + 4}, labels)
		labels = append(labels, label)
		name := fmt.Sprintf("%s: cost %.3f, needs met %.1f %%", plain(policy), *row.Cost, *row.Recall)
		out.Dots = append(out.Dots, dot{colorOf(i), i + 1, name, units(at[0]), units(at[1]), units(label[0]),
			units(label[1])})
	}
	return out
}

// labelX returns where a dot's number stands: behind it, or before it at the chart's edge.
func labelX(dot float64) float64 {
	if dot > chartWidth-30 {
		return dot - 20
	}
	return dot + 8
}

// apart moves a label up until it covers none of the others.
func apart(at [2]float64, others [][2]float64) [2]float64 {
	for range others {
		if !slices.ContainsFunc(others, func(o [2]float64) bool {
			return math.Abs(o[0]-at[0]) < 14 &&
				math.Abs(o[1]-at[1]) < 11
		}) {
			break
		}
		at[1] -= 11
	}
	return at
}

// leastRecall returns where the axis begins: the lowest recall in any window, rounded down to tens.
func leastRecall(r *replay.Report) float64 {
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
	Across, Up     []tick
	WindowY, Above string // Above says how far the raw line goes beyond the chart; empty: it does not
}

func newCourseChart(c replay.Course, window int, policies []string) courseChart {
	out := courseChart{Window: tokensText(window)}
	var shown []replay.SentSeries
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
		out.Above = tokensText(100 * (highest(c.Raw) / 100))
	}
	plot := plotting{requests: c.Requests, top: axisEnd(top)}
	out.Raw, out.WindowY = plot.line(c.Raw), units(plotTop+plot.y(window))
	for _, v := range steps(0, plot.top) {
		out.Up = append(out.Up, tick{units(plotTop + plot.y(int(v))), tokensText(int(v))})
	}
	for _, v := range steps(0, float64(c.Requests)) {
		if v == math.Trunc(v) && (v > 0 || c.Requests == 0) {
			out.Across = append(out.Across, tick{units(plotLeft + plot.x(int(v))), axisText(v)})
		}
	}
	for i, s := range shown {
		line := courseLine{
			Color: colorOf(slices.Index(policies, s.Policy)), Points: plot.line(s.Series), Name: plain(s.Policy),
			Count:    s.Decided,
			MarkFrom: units(plotTop + courseTop - float64(8*i)), MarkTo: units(plotTop + courseTop - float64(8*i) - 7),
		}
		for _, n := range report.Evenly(s.Decisions, mostMarks) {
			line.Marks = append(line.Marks, units(plotLeft+plot.x(n)))
		}
		out.Lines = append(out.Lines, line)
	}
	return out
}

// plotting is the scale of a conversation's chart.
type plotting struct {
	requests int
	top      float64 // tokens at the upper end
}

// x returns a request's place in the plot.
func (p plotting) x(number int) float64 {
	if p.requests < 2 {
		return plotWidth / 2
	}
	return plotWidth * float64(number-1) / float64(p.requests-1)
}

func (p plotting) y(tokens int) float64 { return courseTop * (1 - float64(tokens)/p.top) }

// line returns the points of a series; a single one is there twice, so that it is drawn.
func (p plotting) line(s replay.Series) string {
	places := report.Thin(s.Tokens, drawn)
	if len(places) == 1 {
		places = append(places, places[0])
	}
	points := make([]string, len(places))
	for i, place := range places {
		points[i] = units(p.x(s.Number(place))) + "," + units(p.y(s.Tokens[place]))
	}
	return strings.Join(points, " ")
}

// highest returns the most tokens in the series; 0 for none.
func highest(s replay.Series) int {
	most := 0
	for _, n := range s.Tokens {
		most = max(most, n)
	}
	return most
}

// step returns the distance between round numbers, three to eight of which make up the range.
func step(over float64) float64 {
	size := math.Pow(10, math.Floor(math.Log10(over)))
	switch share := over / size; {
	case share < 1.5:
		return size / 5
	case share < 3:
		return size / 2
	case share < 7:
		return size
	}
	return 2 * size
}

// axisEnd returns the first round number that is at least most. most is above zero.
func axisEnd(most float64) float64 { return step(most) * math.Ceil(most/step(most)-1e-9) }

// steps returns the round numbers from one to the other.
func steps(from, to float64) (all []float64) {
	if to <= from {
		return nil
	}
	by := step(to - from)
	for i := math.Ceil(from/by - 1e-9); i*by <= to*(1+1e-9); i++ {
		all = append(all, i*by+0) // never −0
	}
	return all
}

func axisText(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }
