package demo

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"epitome/console"
)

// width is the number of columns of a line.
const width = 100

// Colours of a terminal.
const red, green, yellow, cyan, faint = "31", "32", "33", "36", "2"

// table prints the turns as they are played. Turns without anything new share a line.
type table struct {
	to     io.Writer
	color  bool
	window int
	shown  map[string]bool // kinds of events
	folded []Turn
}

func newTable(o Options) *table {
	t := &table{to: o.Live, color: o.Color, window: o.Window, shown: map[string]bool{}}
	t.line("", "An agent sends its whole conversation again each turn. In time it outgrows its model, which here\n"+
		"holds %s tokens; epitome, between the two, keeps small what the model gets. Agent, user and\n"+
		"model are scripted. Epitome is the real one.\n", humanize.Comma(int64(o.Window)))
	t.line(faint, "%4s  %-25s%5s   %5s  %-12s  %5s  %s", "turn", "the agent", "sends", "gets", "window used", "cache",
		"what epitome did")
	return t
}

// paint colours a text; "" stands for no colour.
func (t *table) paint(color, text string) string {
	if !t.color || color == "" {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

func (t *table) line(color, format string, args ...any) {
	fmt.Fprintln(t.to, t.paint(color, strings.TrimRight(fmt.Sprintf(format, args...), " ")))
}

// turn prints a turn, or folds it.
func (t *table) turn(x Turn) {
	isNew := x.Turn <= 2 || x.Question != nil || x.Shaping.Cleared+x.Shaping.Compacted > 0 || x.Got == 0
	if kind := fmt.Sprint(x.Shaping.Causes, x.ReadBack); !t.shown[kind] {
		t.shown[kind], isNew = true, true
	}
	if !isNew {
		t.folded = append(t.folded, x)
		return
	}
	t.unfold()
	const cells = 8
	full := min((x.Got*cells+t.window/2)/t.window, cells)
	bar := strings.Repeat("█", full) + strings.Repeat("·", cells-full)
	start := fmt.Sprintf("%4d  %-25s%5s → %5s  %s %3d%%  %3d%%  ", x.Turn, console.Shorten(x.Did, 24), tokens(x.Sent),
		tokens(x.Got), bar, 100*x.Got/t.window, 100*x.Cached/max(x.Got, 1))
	for i, note := range append(t.notes(x), "") {
		if i == 0 || note != "" {
			t.line("", "%s%s", start, note)
		}
		start = strings.Repeat(" ", utf8.RuneCountInString(start))
	}
}

// notes returns what happened in a turn.
func (t *table) notes(x Turn) (notes []string) {
	add := func(color, format string, args ...any) {
		notes = append(notes, t.paint(color, fmt.Sprintf(format, args...)))
	}
	out := ": −" + tokens(x.Shaping.TakenOut) // of all steps together
	step := func(color, verb string, n int, noun string) {
		if n > 0 {
			add(color, "%s %s%s", verb, english.Plural(n, noun, ""), out)
			out = ""
		}
	}
	step(yellow, "compact", x.Shaping.Compacted, "message")
	step(cyan, "clear", x.Shaping.Cleared, "result")
	step("", "offload", x.Shaping.Offloaded, "result")
	switch {
	case x.Got == 0:
		add(red, "✗ no answer")
	case x.Answer == "" && x.ReadBack:
		add("", "read back")
	case x.Answer == "":
	case x.Answer != x.Question.want:
		add(red, "WRONG: %s", x.Answer)
	case x.ReadBack:
		add(green, "read back: %s ✓", x.Answer)
	default:
		add(green, "still there: %s ✓", x.Answer)
	}
	return notes
}

// unfold prints the folded turns on one line.
func (t *table) unfold() {
	if len(t.folded) == 0 {
		return
	}
	var offloaded, out, reads int
	for _, x := range t.folded {
		offloaded, out = offloaded+x.Shaping.Offloaded, out+x.Shaping.TakenOut
		if x.ReadBack {
			reads++
		}
	}
	var did []string
	if offloaded > 0 {
		did = append(did, fmt.Sprintf("offload %s: −%s", english.Plural(offloaded, "result", ""), tokens(out)))
	}
	if reads > 0 {
		did = append(did, "read back "+english.Plural(reads, "time", ""))
	}
	last := t.folded[len(t.folded)-1]
	t.line(faint, "%4s  %-25s%5s → %5s  %s", "·", "… "+english.Plural(len(t.folded), "turn", ""), tokens(last.Sent),
		tokens(last.Got), strings.Join(did, "; "))
	t.folded = nil
}

// death prints that the session ends here without epitome.
func (t *table) death(why *refusal) {
	t.unfold()
	t.line(red, "      ✗ without epitome the session dies here. The model, sent the agent's request as it is, answers\n"+
		"        400 %s: %s", why.Code, strings.Replace(why.Message, ". ", ".\n        ", 1))
}

// restart prints what a restart showed.
func (t *table) restart(r Restart) {
	t.unfold()
	text, color := "the same "+humanize.Comma(int64(r.Bytes)), green
	if !r.Equal {
		text, color = "OTHER", red
	}
	t.line(color, "      ↻ epitome was restarted. Sent again, the last request reached the model in %s bytes.", text)
}
