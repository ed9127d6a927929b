// Package drawing draws what happened as charts: the tokens of a conversation turn by turn, and exchanges by time.
//
// It promises that the parts of a chart are together what the requests have, that a chart has a bounded size whatever
// happened, and that equal figures make equal charts.
package drawing

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"epitome/console/chart"
	"epitome/console/figure"
	"epitome/console/pages/words"
	"epitome/event"
)

// The chart of a conversation is drawn for a width of 800 units; all lengths here are in them.
const (
	courseLeft   = 50
	courseWidth  = 740
	courseTop    = 66 // marks stand above
	courseHeight = 190
	cacheTop     = 286 // of the strip that shows what the cache had
	cacheHeight  = 28
	labelRoom    = 90 // of a line's name
	labelHeight  = 14
	mostPoints   = 160 // of one line
	mostStrokes  = 100 // of what the cache had
	mostColumns  = 60  // that can be pointed at
	mostMarks    = 24  // of one kind
	mostMisses   = 40
)

// Course is a conversation as a chart.
type Course struct {
	Parts    []Part // from the bottom up
	areas    []area
	raw      string // points
	above    int    // tokens up to which the raw line goes on beyond the chart; 0: it does not
	lines    []limit
	marks    []mark
	hits     string // a path of strokes, one for a turn or for some, as high as the share that the cache had
	misses   []spot
	columns  []column
	across   []chart.Tick
	up       []chart.Tick
	pitch    string // width of a stroke of hits
	first    int    // turn at the left
	last     int
	describe string
}

// area is a part of what was sent, with all that is below it.
type area struct{ class, points string }

// limit is a line across: the window, and where rungs act.
type limit struct {
	class, name, points string
	label               label
}

// label is where the name of a line stands: its slot across, and the height of its line.
type label struct {
	slot int
	line float64
	x, y string
	side string // "end" if the name ends at x; empty: it begins there
}

// mark is where a rung did something: a letter in a shape of its own.
type mark struct {
	letter, title, x, y string
	seq                 uint64
}

// spot is where the cache missed.
type spot struct{ path, title string }

// column is a turn, or the last one of some, that can be pointed at.
type column struct{ x, width, title string }

// NewCourse draws the turns, the oldest first; nil if none of them is a conversation with tokens.
func NewCourse(turns []event.Exchange) *Course {
	sent, raw := make([]int, len(turns)), make([]int, len(turns))
	var before, after event.Tokens
	most, mostRaw := 0, 0
	for i := range turns {
		e := &turns[i]
		sent[i], raw[i] = e.TokensAfter.Total(), e.TokensBefore.Total()
		most, mostRaw = max(most, sent[i], e.Window), max(mostRaw, raw[i])
		before, after = sum(before, e.TokensBefore), sum(after, e.TokensAfter)
	}
	if mostRaw == 0 {
		return nil
	}
	top := 1.05 * float64(max(most, mostRaw))
	c := &Course{Parts: PartsOf(before, after), first: turns[0].Turn, last: turns[len(turns)-1].Turn}
	if limit := 2.2 * float64(most); most > 0 && top > 1.5*limit { // else what was sent would be a line at the bottom
		top, c.above = limit, mostRaw
	}
	plot := chart.Plot{Left: courseLeft, Top: courseTop, Width: courseWidth, Height: courseHeight, Count: len(turns),
		Most: chart.AxisEnd(top)}
	c.up, c.across = plot.Up(), c.numbers(plot)
	c.stack(plot, turns, chart.Thin(sent, mostPoints))
	c.raw = plot.Line(raw, chart.Thin(raw, mostPoints), numberOf)
	c.limits(plot, turns)
	c.mark(plot, turns)
	c.cache(plot, turns)
	c.point(plot, turns)
	newest := turns[len(turns)-1]
	sentWords := "was sent"
	if words.Watched(newest) {
		sentWords = "would have been sent"
	}
	c.describe = fmt.Sprintf("Tokens of turns %d to %d. The newest request came with %s tokens and "+sentWords+" with %s.",
		c.first, c.last, figure.Thousands(int64(newest.TokensBefore.Total())),
		figure.Thousands(int64(newest.TokensAfter.Total())))
	return c
}

// short writes a number of tokens as a reader takes it in.
func short(n int) string { return figure.Tokens(int64(n)) }

func numberOf(place int) int { return place + 1 }

func sum(a, b event.Tokens) event.Tokens {
	return event.Tokens{System: a.System + b.System, Tools: a.Tools + b.Tools, User: a.User + b.User,
		Assistant: a.Assistant + b.Assistant, Results: a.Results + b.Results, Summary: a.Summary + b.Summary,
		Images: a.Images + b.Images, Other: a.Other + b.Other}
}

// numbers are the turns' numbers below the plot.
func (c *Course) numbers(plot chart.Plot) (all []chart.Tick) {
	for _, v := range chart.Steps(float64(c.first-1), float64(c.last)) {
		if turn := int(v); float64(turn) == v && turn >= c.first {
			all = append(all, chart.Tick{At: chart.Units(plot.X(turn - c.first + 1)), Text: strconv.Itoa(turn)})
		}
	}
	return all
}

// stack draws what was sent by its parts, the highest one first, as those below are drawn over it.
func (c *Course) stack(plot chart.Plot, turns []event.Exchange, places []int) {
	height := make([]int, len(turns))
	for _, p := range c.Parts {
		for i := range turns {
			height[i] += p.of(&turns[i].TokensAfter)
		}
		end := chart.Units(plot.Top + plot.Height)
		points := plot.Line(height, places, numberOf)
		left, right := chart.Units(plot.X(1)), chart.Units(plot.X(len(turns)))
		c.areas = append([]area{{p.Class, left + "," + end + " " + points + " " + right + "," + end}}, c.areas...)
	}
}

// limits draws the window, and the lines at which rungs act.
func (c *Course) limits(plot chart.Plot, turns []event.Exchange) {
	for _, l := range []struct {
		class, name string
		of          func(*event.Exchange) int
	}{
		{"window", "window", func(e *event.Exchange) int { return e.Window }},
		{"compacts", "compact", func(e *event.Exchange) int { return int(e.CompactLine) }},
		{"clears", "clear", func(e *event.Exchange) int { return int(e.ClearLine) }},
	} {
		var values, places []int
		for i := range turns {
			values = append(values, l.of(&turns[i]))
		}
		for i, v := range values {
			if v > 0 && (i == 0 || i == len(values)-1 || v != values[i-1] || v != values[i+1]) {
				places = append(places, i)
			}
		}
		if len(places) == 0 {
			continue
		}
		places = places[max(0, len(places)-mostPoints):]
		last := values[places[len(places)-1]]
		c.lines = append(c.lines, c.labelled(limit{class: l.class, name: l.name + " " + short(last),
			points: plot.Line(values, places, numberOf)}, plot.Y(last), values[0] == last))
	}
}

// labelled puts the label of a line on it: at its right end, else at its left end where it is as high there, else
// beside what stands at the right end. No label stands on another.
func (c *Course) labelled(l limit, y float64, level bool) limit {
	taken := func(slot int) bool {
		return slices.ContainsFunc(c.lines, func(other limit) bool {
			return other.label.slot == slot && math.Abs(other.label.line-y) < labelHeight
		})
	}
	slot := 0
	for slot < 3 && (taken(slot) || slot == 1 && !level) {
		slot++
	}
	l.label = label{slot: slot, line: y, y: chart.Units(y + 4), side: "end"}
	switch slot {
	case 0:
		l.label.x = strconv.Itoa(courseLeft + courseWidth - 4)
	case 1:
		l.label.x, l.label.side = strconv.Itoa(courseLeft+4), ""
	default:
		l.label.x = strconv.Itoa(courseLeft + courseWidth - 4 - labelRoom*(slot-1))
	}
	return l
}

// mark puts a mark above each turn in which a rung did something.
func (c *Course) mark(plot chart.Plot, turns []event.Exchange) {
	for row, kind := range []struct {
		letter string
		of     func(*event.Exchange) bool
	}{
		{"R", func(e *event.Exchange) bool { return e.Rescue.Kind != "" }},
		{"K", func(e *event.Exchange) bool { return e.Compacted > 0 }},
		{"C", func(e *event.Exchange) bool { return e.Cleared > 0 }},
		{"O", func(e *event.Exchange) bool { return e.Offloaded > 0 }},
	} {
		var places []int
		for i := range turns {
			if kind.of(&turns[i]) {
				places = append(places, i)
			}
		}
		for _, i := range chart.Evenly(places, mostMarks) {
			c.marks = append(c.marks, mark{letter: kind.letter, seq: turns[i].Seq, x: chart.Units(plot.X(i + 1)),
				y: strconv.Itoa(10 + 15*row), title: fmt.Sprintf("turn %d: %s", turns[i].Turn, words.Done(turns[i]))})
		}
	}
}

// shareOf is the share of the input of some turns that the provider's cache had, of those whose answer tells it.
func shareOf(turns []event.Exchange) float64 {
	read, input := 0, 0
	for i := range turns {
		if u := turns[i].Usage; u.Source == event.UsageProvider && !u.CacheUnknown {
			read, input = read+min(u.Read, u.Input), input+u.Input
		}
	}
	return float64(read) / float64(max(1, input))
}

// cache draws what the provider's cache had of each turn, of a long conversation of some turns together, and where it
// missed.
func (c *Course) cache(plot chart.Plot, turns []event.Exchange) {
	var missed []int
	for i := range turns {
		if words.IsMiss(turns[i].Miss) {
			missed = append(missed, i)
		}
	}
	var hits strings.Builder
	together := (len(turns) + mostStrokes - 1) / mostStrokes // turns of a stroke
	c.pitch = chart.Units(courseWidth * float64(together) / float64(len(turns)))
	for first := 0; first < len(turns); first += together {
		behind := min(len(turns), first+together)
		if share := shareOf(turns[first:behind]); share > 0 {
			x := (plot.X(first+1) + plot.X(behind)) / 2
			fmt.Fprintf(&hits, "M%s %dv-%s", chart.Units(x), cacheTop+cacheHeight, chart.Units(cacheHeight*share))
		}
	}
	c.hits = hits.String()
	for _, i := range chart.Evenly(missed, mostMisses) {
		c.misses = append(c.misses, spot{
			fmt.Sprintf("M%s %dl8 8m0-8l-8 8", chart.Units(plot.X(i+1)-4), cacheTop+cacheHeight-9),
			fmt.Sprintf("turn %d: %s", turns[i].Turn, words.Miss(turns[i].Miss))})
	}
}

// point makes columns that can be pointed at, which say the numbers of their turn.
func (c *Course) point(plot chart.Plot, turns []event.Exchange) {
	count := min(len(turns), mostColumns)
	width := courseWidth / float64(count)
	for k := range count {
		i := int(math.Round(float64(k+1)*float64(len(turns))/float64(count))) - 1
		e := turns[i]
		sentWords := "sent"
		if words.Watched(e) {
			sentWords = "would be sent with"
		}
		title := fmt.Sprintf("turn %d: came %s, %s %s", e.Turn, short(e.TokensBefore.Total()), sentWords,
			short(e.TokensAfter.Total()))
		if u := e.Usage; u.Source == event.UsageProvider && !u.CacheUnknown && u.Input > 0 {
			title += fmt.Sprintf(", cached %d %%", 100*u.Read/u.Input)
		}
		if done := words.Done(e); done != "nothing" && done != "nothing new" {
			title += ", " + done
		}
		c.columns = append(c.columns, column{chart.Units(courseLeft + float64(k)*width), chart.Units(width), title})
	}
}
