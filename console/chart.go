package console

import (
	"fmt"
	"math"
	"strings"
)

// The drawing area of a chart, in units of its viewBox.
const (
	chartLeft   = 72.0
	chartRight  = 796.0
	chartTop    = 30.0
	chartBottom = 230.0
)

// column is one step of a chart: a turn or a day, with its tokens before and after.
type column struct {
	Label         string // below the axis
	Title         string // shown on hover
	Link          string // empty: none
	Before, After int64
	Window        int64  // of the model; 0: unknown, or there is none
	Mark          string // the step of the ladder that acted; empty: none
	Current       bool
}

// Glyph returns the sign of the step that acted, each of another shape.
func (c column) Glyph() string {
	return map[string]string{"offload": "●", "clear": "■", "compact": "◆", "rescue": "▲", "restore": "○"}[c.Mark]
}

// chart is a drawing of columns for the template "chart": a bar for After, a dotted line for Before, a line for Window.
type chart struct {
	Title          string // says to a screen reader what it shows
	Bars           []bar
	Amounts        []label // of the axis
	Before, Window string  // paths
	WindowText     label   // at the end of Window
	Marked         bool    // a bar has a mark
}

// bar is a column with its place. Of many columns only some have their label.
type bar struct {
	column
	X, Width, Middle, Y, Height float64
}

type label struct {
	X, Y float64
	Text string
}

// drawChart draws columns on a scale that holds the largest amount.
func drawChart(title string, columns []column) chart {
	most := int64(1)
	for _, c := range columns {
		most = max(most, c.Before, c.After, c.Window)
	}
	y := func(n int64) float64 { return tenths(chartBottom - float64(n)/float64(most)*(chartBottom-chartTop)) }
	c := chart{Title: title}
	for quarter := range int64(5) {
		amount := most * quarter / 4
		c.Amounts = append(c.Amounts, label{0, y(amount), Tokens(amount)})
	}
	width := (chartRight - chartLeft) / float64(max(len(columns), 4)) // few columns stay slim
	between := (len(columns) + 9) / 10                                // columns from one label to the next
	var before, window strings.Builder
	for i, col := range columns {
		if i%between != 0 {
			col.Label = ""
		}
		x := chartLeft + width*float64(i)
		c.Bars = append(c.Bars, bar{
			column: col, X: tenths(x), Width: tenths(width), Middle: tenths(x + width/2), Y: y(col.After),
			Height: tenths(chartBottom - y(col.After)),
		})
		c.Marked = c.Marked || col.Mark != ""
		line := "%s%.1f %.1f H%.1f" // level over each column
		command := map[bool]string{true: "M", false: "L"}[i == 0]
		fmt.Fprintf(&before, line, command, x, y(col.Before), x+width)
		fmt.Fprintf(&window, line, command, x, y(col.Window), x+width)
		if col.Window > 0 {
			c.WindowText = label{tenths(x + width), y(col.Window) - 5, "window " + Tokens(col.Window)}
		}
	}
	c.Before = before.String()
	if c.WindowText.Text != "" {
		c.Window = window.String()
	}
	return c
}

// tenths rounds a length.
func tenths(v float64) float64 { return math.Round(v*10) / 10 }
