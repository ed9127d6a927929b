package console

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"epitome/event"
	"epitome/event/journal"
)

// conversation is the data of the page of a conversation, at one of its turns.
type conversation struct {
	journal.Story
	Chart               chart
	FirstKept, LastKept int  // turns
	IsAlive             bool // the newest turn got its answer
	Turn                event.Exchange
	Edits               event.Edits      // of Turn, in the order of the request's messages; the owner's only
	Events              []event.Exchange // turns with a change, a failure or a cache miss, the newest first
	More                int              // older ones that are not listed
	Found               any              // Hits in what was taken out, if the owner looks for something
}

const eventsListed = 20

// conversationAt returns the conversation that a request names in its path, at the turn that its query names.
func (o *Console) conversationAt(r *http.Request) (any, error) {
	s, err := o.story(r, r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	turn, err := turnOf(s, r)
	if err != nil {
		return nil, err
	}
	c := newConversation(s, turn)
	if !isOwner(r) {
		return c, nil
	}
	c.Edits, err = o.program.Edits(c.Turn.Decision)
	if err == nil && r.URL.Query().Has("find") {
		c.Found, err = o.find(r)
	}
	return c, err
}

// turnOf returns the turn of a conversation that a query names. The error says that it is not there.
func turnOf(s journal.Story, r *http.Request) (event.Exchange, error) {
	asked := r.URL.Query().Get("turn")
	if asked == "" {
		return newestTurn(s), nil
	}
	for _, e := range s.Exchanges {
		if strconv.Itoa(e.Turn) == asked {
			return e, nil
		}
	}
	text := fmt.Sprintf("this conversation has no turn %.20q: its newest is turn %d", asked, s.Turns)
	n, _ := strconv.Atoi(asked)
	if n > 0 && n <= s.Turns {
		text = fmt.Sprintf("turn %d of this conversation is no longer kept", n)
	}
	return event.Exchange{}, refusal{http.StatusNotFound, text}
}

// newestTurn returns the newest turn with tokens, else the oldest turn; the zero Exchange if no turn is kept.
func newestTurn(s journal.Story) (turn event.Exchange) {
	for i, e := range s.Exchanges {
		if i == 0 || e.TokensBefore.Total() > 0 {
			turn = e
		}
	}
	return turn
}

// newConversation returns a conversation at a turn.
func newConversation(s journal.Story, turn event.Exchange) *conversation {
	c := &conversation{Story: s, Turn: turn}
	if len(s.Exchanges) == 0 {
		return c
	}
	newest := s.Exchanges[len(s.Exchanges)-1]
	c.FirstKept, c.LastKept = s.Exchanges[0].Turn, newest.Turn
	c.IsAlive = failed(newest) == ""
	c.Chart = turnChart(s, turn.Turn)
	for _, e := range slices.Backward(s.Exchanges) {
		if !changed(e) && failed(e) == "" && !e.Miss.IsLoss() {
			continue
		}
		if len(c.Events) < eventsListed {
			c.Events = append(c.Events, e)
		} else {
			c.More++
		}
	}
	return c
}

// Rows returns the messages of the turn in their order, each once: edits, and between them messages that were sent as
// they came, in edits without a rung.
func (c *conversation) Rows() (rows []event.Edit) {
	next := 0 // the first message that no row has
	addUnchanged := func(end int) {
		if next < end {
			rows = append(rows, event.Edit{Item: next, Last: end - 1})
		}
	}
	for _, e := range c.Edits.List {
		addUnchanged(e.Item)
		rows = append(rows, e)
		next = max(next, e.Last+1)
	}
	addUnchanged(c.Turn.Items)
	return rows
}

// Part is what a request spends tokens on.
type Part struct {
	Name          string
	Before, After int
}

// Parts returns what a request spends tokens on, as it came and as it was sent, without what it has nothing of.
func Parts(b, a event.Tokens) []Part {
	all := []Part{
		{"System prompt", b.System, a.System}, {"Tools", b.Tools, a.Tools}, {"User", b.User, a.User},
		{"Assistant", b.Assistant, a.Assistant}, {"Tool results", b.Results, a.Results},
		{"Summaries", b.Summary, a.Summary}, {"Images and files", b.Images, a.Images}, {"Other", b.Other, a.Other},
	}
	return slices.DeleteFunc(all, func(p Part) bool { return p.Before+p.After == 0 })
}

// The drawing area of a chart, in units of its viewBox.
const (
	chartLeft   = 72.0
	chartRight  = 796.0
	chartTop    = 30.0
	chartBottom = 230.0
)

const turnsDrawn = 250

// chart is a drawing of turns for the template "chart": a bar for the tokens after, a dotted line for those before, a
// line for the window, and dashed ones for those at which the steps of the ladder act.
type chart struct {
	ID                 string // of the conversation
	Title              string // says to a screen reader what it shows
	Bars               []bar
	Amounts            []label // of the axis
	Before, Window     string  // paths
	Clear, Compact     string  // paths of clear_at and compact_at
	WindowText         label   // at the end of Window
	ClearAt, CompactAt int     // tokens of the newest turn
}

// bar is the tokens of a turn after epitome.
type bar struct {
	event.Exchange
	Label             string // below the axis; empty at most of many bars
	Mark              string // the step of the ladder that acted; empty: none
	Warned, IsCutOver bool   // the tokens sent since the last compaction have passed warn_at, or cutover_at
	Current           bool
	X, Middle, Width  length
	Y, Height         length
}

// label is a text in a chart.
type label struct {
	X, Y length
	Text string
}

// length is a distance in units of a chart's viewBox.
type length float64

func (l length) String() string { return strconv.FormatFloat(float64(l), 'f', 1, 64) }

// glyphs are the signs of the steps, each of another shape.
var glyphs = map[string]string{"offload": "●", "clear": "■", "compact": "◆", "rescue": "▲", "restore": "○"}

// scale says where turns and tokens lie in a chart.
type scale struct {
	top   int    // tokens at the upper edge
	above string // stands before them where a turn has more
	width length // of a turn
}

// scaleOf returns the scale of turns. A line that rises above three windows leaves the chart, as it would flatten
// everything else.
func scaleOf(turns []event.Exchange) scale {
	top, held := 1, 0 // tokens
	for _, e := range turns {
		held = max(held, e.TokensAfter.Total(), e.Window)
		top = max(top, e.TokensBefore.Total(), held)
	}
	s := scale{top: top, width: (chartRight - chartLeft) / length(max(len(turns), 4))} // few bars stay slim
	if held > 0 && top > 3*held {
		s.top, s.above = 3*held, "≥ "
	}
	return s
}

// x returns where a turn begins, counted from 0.
func (s scale) x(turn int) length { return chartLeft + s.width*length(turn) }

// y returns the height of so many tokens.
func (s scale) y(tokens int) length {
	return chartBottom - length(min(tokens, s.top))/length(s.top)*(chartBottom-chartTop)
}

// path returns the path at a height over each bar; there is none over a bar of 0.
func (s scale) path(turns []event.Exchange, height func(e *event.Exchange) int) string {
	var path strings.Builder
	command := "M"
	for i := range turns {
		tokens := height(&turns[i])
		if tokens == 0 {
			command = "M"
			continue
		}
		fmt.Fprintf(&path, "%s%v %v H%v", command, s.x(i), s.y(tokens), s.x(i+1))
		command = "L"
	}
	return path.String()
}

// turnChart draws the turns of a conversation: of many those around the current one.
func turnChart(s journal.Story, current int) chart {
	turns := s.Exchanges
	over := len(turns) - turnsDrawn
	if over > 0 {
		at := slices.IndexFunc(turns, func(e event.Exchange) bool { return e.Turn == current })
		turns = turns[min(max(at-turnsDrawn/2, 0), over):][:turnsDrawn]
	}
	at := scaleOf(turns)
	c := chart{
		ID:      s.ID,
		Title:   fmt.Sprintf("Tokens before and after, turns %d to %d", turns[0].Turn, turns[len(turns)-1].Turn),
		Before:  at.path(turns, func(e *event.Exchange) int { return e.TokensBefore.Total() }),
		Window:  at.path(turns, func(e *event.Exchange) int { return e.Window }),
		Clear:   at.path(turns, func(e *event.Exchange) int { return e.ClearLine }),
		Compact: at.path(turns, func(e *event.Exchange) int { return e.CompactLine }),
	}
	for quarter := range 4 {
		tokens := at.top * quarter / 4
		c.Amounts = append(c.Amounts, label{0, at.y(tokens), Tokens(int64(tokens))})
	}
	c.Amounts = append(c.Amounts, label{0, at.y(at.top), at.above + Tokens(int64(at.top))})
	between := (len(turns) + 9) / 10 // bars from one label to the next
	for i, e := range turns {
		y := at.y(e.TokensAfter.Total())
		b := bar{
			Exchange: e, Mark: event.Step(&e), Current: e.Turn == current,
			X: at.x(i), Middle: at.x(i) + at.width/2, Width: at.width, Y: y, Height: chartBottom - y,
		}
		b.Warned, b.IsCutOver = passes(e)
		if i%between == 0 {
			b.Label = strconv.Itoa(e.Turn)
		}
		c.Bars = append(c.Bars, b)
		if e.Window > 0 {
			c.WindowText = label{at.x(i + 1), at.y(e.Window) - 5, "window " + Tokens(int64(e.Window))}
			c.ClearAt, c.CompactAt = e.ClearLine, e.CompactLine
		}
	}
	return c
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
