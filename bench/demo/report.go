package demo

import (
	"fmt"
	"strings"

	"epitome/console"
	"epitome/event/journal"
)

// Report is the result of a session. Tokens are the model's.
type Report struct {
	Window      int          `json:"window"`
	Turns       int          `json:"turns"`
	Alone       string       `json:"alone"`        // how many turns the session lasts without epitome
	Raw         int          `json:"raw"`          // tokens of all requests, as the agent sent them
	Sent        int          `json:"sent"`         // and as the model received them
	Cached      int          `json:"cached"`       // of Sent
	RawLargest  int          `json:"raw_largest"`  // tokens of the largest request
	SentLargest int          `json:"sent_largest"` // likewise, as the model received it
	Extended    int          `json:"extended"`     // requests that begin with the whole one before; the first one, too
	Reads       int          `json:"reads"`        // turns with the text of files of epitome
	Asked       int          `json:"asked"`        // questions about earlier turns that the model answered
	Right       int          `json:"right"`        // answers that are right
	Sums        journal.Sums `json:"sums"`         // as epitome's pages show them
}

// Turn is one request of the agent.
type Turn struct {
	Number   int
	Did      string   // by agent or user since the request before
	Sent     int      // tokens, as the agent sent it
	Got      received // empty if the model gave no answer
	Step     string   // that epitome has newly decided; empty for none
	Question bool     // the user has asked something
	Answer   string   // to that
	Right    bool
	ReadBack bool // it has the text of a file of epitome
}

// add counts a turn that was answered.
func (r *Report) add(t Turn) {
	r.Turns++
	r.Raw += t.Sent
	r.Sent += t.Got.tokens
	r.Cached += t.Got.cached
	r.RawLargest = max(r.RawLargest, t.Sent)
	r.SentLargest = max(r.SentLargest, t.Got.tokens)
	if t.Got.extends {
		r.Extended++
	}
	if t.ReadBack {
		r.Reads++
	}
	if t.Answer != "" {
		r.Asked++
	}
	if t.Right {
		r.Right++
	}
}

func tokens(n int) string { return console.Tokens(int64(n)) }

// line prints a line.
func (s *session) line(format string, args ...any) {
	fmt.Fprintln(s.Out, strings.TrimRight(fmt.Sprintf(format, args...), " "))
}

// printTurn prints the turn, if it has anything new.
func (s *session) printTurn() {
	t, notes := &s.turn, s.notes()
	if len(notes) == 0 && t.Number > 2 && !t.Question {
		return
	}
	const cells = 8
	got, window := t.Got.tokens, s.report.Window
	full := min((got*cells+window/2)/window, cells)
	bar := strings.Repeat("█", full) + strings.Repeat("·", cells-full)
	s.line("%4d  %-25s%5s → %5s  %s %3d%%  %3d%%  %s", t.Number, console.Shorten(t.Did, 24), tokens(t.Sent), tokens(got),
		bar, 100*got/window, 100*t.Got.cached/max(got, 1), strings.Join(notes, ", "))
}

// notes returns what happened in the turn.
func (s *session) notes() (notes []string) {
	t := &s.turn
	if t.Step != "" {
		notes = append(notes, t.Step)
	}
	where := "answered without reading a file"
	if t.ReadBack {
		where = "read back"
	}
	switch {
	case t.Got.tokens == 0:
		notes = append(notes, "✗ no answer")
	case t.Right:
		notes = append(notes, where+": "+t.Answer+" ✓")
	case t.Answer != "":
		notes = append(notes, "WRONG: "+t.Answer)
	case t.ReadBack:
		notes = append(notes, where)
	}
	return notes
}
