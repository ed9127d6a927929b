package console

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"epitome/event"
)

// The drawing area of a chart, in units of its viewBox.
const (
	chartLeft   = 72.0
	chartRight  = 796.0
	chartTop    = 30.0
	chartBottom = 230.0
)

const turnsDrawn = 250

// chart is a drawing of turns for the template "chart": a bar for the tokens after, a dotted line for those before, a
// line for the window.
type chart struct {
	Title          string // says to a screen reader what it shows
	Bars           []bar
	Amounts        []label // of the axis
	Before, Window string  // paths
	WindowText     label   // at the end of Window
	Marked         bool    // a bar has a mark
}

// bar is the tokens of a turn after epitome.
type bar struct {
	Label     string // below the axis; empty at most of many bars
	Title     string // shown on hover
	Link      string
	Mark      string // the step of the ladder that acted; empty: none
	Current   bool
	X, Middle float64
	Y, Height float64
	Width     float64
}

// Glyph returns the sign of the step that acted, each of another shape.
func (b bar) Glyph() string {
	return map[string]string{"offload": "●", "clear": "■", "compact": "◆", "rescue": "▲", "restore": "○"}[b.Mark]
}

type label struct {
	X, Y float64
	Text string
}

// turnChart draws the turns of a conversation: of many those around the current one. A line that rises above three
// windows leaves the chart, as it would flatten everything else.
func turnChart(s event.Story, current int) (c chart) {
	exchanges := s.Exchanges
	if over := len(exchanges) - turnsDrawn; over > 0 {
		at := slices.IndexFunc(exchanges, func(e event.Exchange) bool { return e.Turn == current })
		exchanges = exchanges[min(max(at-turnsDrawn/2, 0), over):][:turnsDrawn]
	}
	top, held := 1, 0 // tokens
	for _, e := range exchanges {
		top = max(top, e.TokensBefore.Total(), e.TokensAfter.Total(), e.Window)
		held = max(held, e.TokensAfter.Total(), e.Window)
	}
	above := ""
	if held > 0 && top > 3*held {
		top, above = 3*held, "≥ "
	}
	y := func(tokens int) float64 {
		return tenths(chartBottom - float64(min(tokens, top))/float64(top)*(chartBottom-chartTop))
	}
	for quarter := range 4 {
		amount := top * quarter / 4
		c.Amounts = append(c.Amounts, label{0, y(amount), Tokens(int64(amount))})
	}
	c.Amounts = append(c.Amounts, label{0, y(top), above + Tokens(int64(top))})
	width := (chartRight - chartLeft) / float64(max(len(exchanges), 4)) // few bars stay slim
	between := (len(exchanges) + 9) / 10                                // bars from one label to the next
	var before, window strings.Builder
	for i, e := range exchanges {
		x, turn, after := chartLeft+width*float64(i), strconv.Itoa(e.Turn), y(e.TokensAfter.Total())
		b := bar{
			Title: turnTitle(e), Link: "/-/conversations/" + url.PathEscape(s.ID) + "?turn=" + turn,
			Mark: event.Step(&e), Current: e.Turn == current, X: tenths(x), Middle: tenths(x + width/2),
			Y: after, Height: tenths(chartBottom - after), Width: tenths(width),
		}
		if i%between == 0 {
			b.Label = turn
		}
		c.Bars, c.Marked = append(c.Bars, b), c.Marked || b.Mark != ""
		line := "%s%.1f %.1f H%.1f" // level over each bar
		command := map[bool]string{true: "M", false: "L"}[i == 0]
		fmt.Fprintf(&before, line, command, x, y(e.TokensBefore.Total()), x+width)
		fmt.Fprintf(&window, line, command, x, y(e.Window), x+width)
		if e.Window > 0 {
			c.WindowText = label{tenths(x + width), y(e.Window) - 5, "window " + Tokens(int64(e.Window))}
		}
	}
	c.Title = fmt.Sprintf("Tokens before and after, turns %d to %d", exchanges[0].Turn, exchanges[len(exchanges)-1].Turn)
	c.Before = before.String()
	if c.WindowText.Text != "" {
		c.Window = window.String()
	}
	return c
}

// turnTitle says in a line what became of a turn.
func turnTitle(e event.Exchange) string {
	text := fmt.Sprintf("turn %d: %s tokens before, %s after", e.Turn, Tokens(int64(e.TokensBefore.Total())),
		Tokens(int64(e.TokensAfter.Total())))
	sums := event.SumsOf(e)
	if cached, known := sums.Usage.Cached(); known {
		text += ", " + Percent(cached) + " from the cache"
	}
	if changed(e) {
		text += "; " + changes(e)
	}
	return text
}

// tenths rounds a length.
func tenths(v float64) float64 { return math.Round(v*10) / 10 }
