package console

import (
	"fmt"
	"math"
	"strings"
)

// The drawing area of a chart, in units of its viewBox.
const (
	chartLeft   = 60
	chartRight  = 796
	chartTop    = 30
	chartBottom = 230
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

// chart is a drawing of columns for the template "chart": a bar for After, a dotted line for Before, a line for Window.
type chart struct {
	Title          string // says to a screen reader what it shows
	Bars           []bar
	Before, Window string // paths
	WindowText     label
	Amounts        []label // of the axis
	Labels         []label // below the columns
	Marked         bool    // a bar has a mark
}

// bar is a column with its place.
type bar struct {
	column
	X, Width, Middle string
	Y, Height        string
	Glyph            string // of its mark
}

type label struct{ X, Y, Text string }

// glyphs are the signs of the steps of the ladder, each of another shape.
var glyphs = map[string]string{"offload": "●", "clear": "■", "compact": "◆", "rescue": "▲"}

// drawChart draws columns on a scale that holds the largest amount.
func drawChart(title string, columns []column) chart {
	most := int64(1)
	for _, c := range columns {
		most = max(most, c.Before, c.After, c.Window)
	}
	step := roundStep(float64(most) / 4)
	top := step * math.Ceil(float64(most)/step)
	y := func(n int64) float64 { return chartBottom - float64(n)/top*(chartBottom-chartTop) }
	c := chart{Title: title}
	for v := 0.0; v <= top*1.001; v += step {
		c.Amounts = append(c.Amounts, label{"", units(y(int64(v))), Tokens(int64(v))})
	}
	width := float64(chartRight-chartLeft) / float64(max(len(columns), 4)) // few columns stay slim
	between := (len(columns) + 9) / 10                                     // columns from one label to the next
	for i, col := range columns {
		x, height := chartLeft+width*float64(i), chartBottom-y(col.After)
		middle := units(x + width/2)
		c.Bars = append(c.Bars, bar{
			column: col, X: units(x), Width: units(width), Middle: middle, Y: units(y(col.After)), Height: units(height),
			Glyph: glyphs[col.Mark],
		})
		c.Marked = c.Marked || col.Mark != ""
		if i%between == 0 {
			c.Labels = append(c.Labels, label{X: middle, Text: col.Label})
		}
		if col.Window > 0 {
			c.WindowText = label{units(x + width), units(y(col.Window) - 5), "window " + Tokens(col.Window)}
		}
	}
	c.Before = steps(columns, width, func(col column) float64 { return y(col.Before) })
	if c.WindowText.Text != "" {
		c.Window = steps(columns, width, func(col column) float64 { return y(col.Window) })
	}
	return c
}

// steps returns the path of a line that is level over each column.
func steps(columns []column, width float64, y func(column) float64) string {
	var path strings.Builder
	for i, col := range columns {
		x := chartLeft + width*float64(i)
		fmt.Fprintf(&path, "L%.1f %.1f H%.1f", x, y(col), x+width)
	}
	return strings.Replace(path.String(), "L", "M", 1)
}

// roundStep returns the first of 1, 2, 5, 10, 20, 50 and so on that is at least v.
func roundStep(v float64) float64 {
	size := math.Pow(10, math.Floor(math.Log10(v)))
	for _, factor := range []float64{1, 2, 5} {
		if size*factor >= v {
			return max(1, size*factor)
		}
	}
	return max(1, size*10)
}

// units writes a length.
func units(v float64) string { return fmt.Sprintf("%.1f", v) }
