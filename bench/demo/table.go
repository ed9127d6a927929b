package demo

import (
	"fmt"
	"io"
	"strings"
)

// table tells the turns as they come. A turn in which nothing happened, or nothing that has not been shown before, is
// folded with those beside it.
type table struct {
	page
	color  bool
	mode   string // that epitome runs in
	window int
	begun  bool
	shown  map[string]bool // ways to shorten a result
	folded []Turn
}

func newTable(o Options) *table {
	t := &table{page: page{to: o.Live}, color: o.Color, mode: o.Mode, window: o.Window,
		shown: map[string]bool{}}
	if t.to == nil {
		t.to = io.Discard
	}
	return t
}

// Colours, as a terminal is told them.
const (
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
	faint  = "2"
)

func (t *table) paint(color, s string) string {
	if !t.color {
		return s
	}
	return "\x1b[" + color + "m" + s + "\x1b[0m"
}

// head writes what stands above the first turn.
func (t *table) head() {
	if t.begun {
		return
	}
	t.begun = true
	for _, l := range wrap(fmt.Sprintf("An agent sends its whole conversation again each turn. In time it outgrows its model, which here holds %s tokens; epitome, between the two, "+
		"%s. Agent, user and model are scripted. Epitome is the real one, and every figure is counted where it arrives.",
		thousands(t.window), doingIn(t.mode)), width) {
		t.line("%s", l)
	}
	t.line("")
	t.line("%s", t.paint(faint, fmt.Sprintf("%4s  %-25s%5s   %5s  %-12s  %5s  %s", "turn", "the agent", "sends", "gets",
		"window used", "cache", "what epitome did")))
}

// doingIn says what epitome does in a mode.
func doingIn(mode string) string {
	switch mode {
	case "off":
		return "touches nothing, for its mode is off"
	case "observe":
		return "only says what it would do, for its mode is observe"
	}
	return "keeps small what the model gets"
}

// turn tells one turn, or keeps it for later.
func (t *table) turn(x Turn) {
	t.head()
	if !t.news(x) {
		t.folded = append(t.folded, x)
		return
	}
	t.unfold()
	first, more := "", t.notes(x)
	if len(more) > 0 {
		first, more = more[0], more[1:]
	}
	t.line("%4d  %-25s%5s → %5s  %s %3d%%  %4s  %s",
		x.Turn, clip(x.Did, 25), short(x.Sent), short(x.Got), bar(x.Got, t.window),
		share(x.Got, t.window), fmt.Sprintf("%d%%", 100*x.Cached/max(x.Got, 1)), first)
	for _, n := range more {
		t.line("%67s%s", "", n)
	}
}

// news reports whether the turn has something that was not shown before.
func (t *table) news(x Turn) bool {
	news := x.Turn <= 2 || x.Asked || x.Summary != nil || x.Got == 0
	first := func(what string) bool {
		before := t.shown[what]
		t.shown[what] = true
		return !before
	}
	for _, s := range x.Steps {
		news = first(s.How) || s.Kind != Offload || news
	}
	return x.ReadBack && first("read back") || news
}

// unfold tells the turns that were kept, on one line.
func (t *table) unfold() {
	if len(t.folded) == 0 {
		return
	}
	last, n, reads := t.folded[len(t.folded)-1], Step{}, 0
	for _, x := range t.folded {
		for _, s := range x.Steps {
			n.Count, n.Before, n.After = n.Count+1, n.Before+s.Before, n.After+s.After
		}
		if x.ReadBack {
			reads++
		}
	}
	var did []string
	if n.Count > 0 {
		did = append(did, fmt.Sprintf("offload %s, %s → %s", number(n.Count, "result"), short(n.Before), short(n.After)))
	}
	if reads > 0 {
		did = append(did, "read back "+times(reads))
	}
	t.line("%s", t.paint(faint, fmt.Sprintf("%4s  %-25s%5s → %5s  %s", "·", "… "+number(len(t.folded), "turn"),
		short(last.Sent), short(last.Got), strings.Join(did, "; "))))
	t.folded = nil
}

// death tells that the session would have ended without epitome.
func (t *table) death(why refusalError) {
	t.head()
	t.unfold()
	mark := "✗ "
	for _, l := range wrap("without epitome the session dies here. The model, sent the agent's request as it is, answers "+why.Error(), width-8) {
		t.line("      %s", t.paint(red, mark+l))
		mark = "  "
	}
}

// restart tells what came of the restart.
func (t *table) restart(r Restart) {
	t.unfold()
	l, color := "the same "+thousands(r.Bytes)+" bytes.", green
	if !r.Equal {
		l, color = "OTHER bytes.", red
	}
	t.line("      %s", t.paint(color, "↻ epitome was restarted. Sent again, the last request came in "+l))
}

// notes returns what happened in a turn.
func (t *table) notes(x Turn) (list []string) {
	for _, s := range x.Steps {
		switch s.Kind {
		case Offload:
			list = append(list, fmt.Sprintf("offload %s → %s, %s", short(s.Before), short(s.After), s.How))
		case Clear:
			list = append(list, t.paint(cyan,
				fmt.Sprintf("clear %s, %s → %s", number(s.Count, "result"), short(s.Before), short(s.After))))
		case Compact:
			list = append(list, t.paint(yellow,
				fmt.Sprintf("compact %s → %s", number(s.Count, "message"), short(s.Summary))))
		default:
			list = append(list, t.paint(red, "CHANGED, and nothing says why"))
		}
	}
	if x.Summary != nil {
		list = append(list, t.paint(yellow, fmt.Sprintf("by the model: %s → %s", short(x.Summary.Input), short(x.Summary.Output))))
	}
	switch q := x.Question; {
	case q != nil && q.Got != q.Want:
		list = append(list, t.paint(red, "WRONG: "+q.Got))
	case q != nil && q.ReadBack:
		list = append(list, t.paint(green, "read back: "+q.Got+" ✓"))
	case q != nil:
		list = append(list, t.paint(green, "still there: "+q.Got+" ✓"))
	case x.ReadBack:
		list = append(list, "read back")
	case x.Got == 0:
		list = append(list, t.paint(red, "✗ no answer"))
	}
	return list
}
