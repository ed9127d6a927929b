package demo

import (
	_ "embed"
	"fmt"
	"io"
	"strings"
	"text/template"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"epitome/console"
	"epitome/event"
)

// Report is the result of a session. Tokens are the model's.
type Report struct {
	Window      int         `json:"window"`
	Seed        uint64      `json:"seed"`
	Died        int         `json:"died"`   // the turn in which the session dies without epitome; 0 if in none
	Failed      string      `json:"failed"` // why it died with epitome; empty if it did not
	Raw         Load        `json:"raw"`    // of the requests as the agent sent them
	Sent        Load        `json:"sent"`   // and as the model received them
	Extended    int         `json:"extended"`
	Unexplained int         `json:"unexplained"` // requests that neither extend the one before nor hold a decision
	Restart     Restart     `json:"restart"`
	Excerpt     *Excerpt    `json:"excerpt"` // the first one
	Kept        Kept        `json:"kept"`
	Money       event.Money `json:"money"` // as epitome's pages show it
	Reads       int         `json:"reads"` // turns with the text of a file in which epitome had put something
	Asked       int         `json:"asked"` // questions about earlier turns that the model answered
	Right       int         `json:"right"`
	Compactions int         `json:"compactions"`
	Turns       []Turn      `json:"turns"`
}

// Load is the sum of many requests.
type Load struct {
	Tokens  int `json:"tokens"`
	Cached  int `json:"cached"` // of Tokens
	Largest int `json:"largest"`
}

func (l *Load) add(tokens, cached int) {
	l.Tokens, l.Cached, l.Largest = l.Tokens+tokens, l.Cached+cached, max(l.Largest, tokens)
}

// Turn is one request of the agent.
type Turn struct {
	Turn     int           `json:"turn"`
	Did      string        `json:"did"`    // by agent or user since the request before
	Sent     int           `json:"sent"`   // tokens, as the agent sent it
	Got      int           `json:"got"`    // tokens, as the model received it; 0 if it gave no answer
	Cached   int           `json:"cached"` // of Got
	Shaping  event.Shaping `json:"shaping"`
	Question *question     `json:"-"`
	Answer   string        `json:"answer,omitempty"` // to the question
	ReadBack bool          `json:"read_back,omitempty"`
}

// Excerpt is the text that the model received in the place of a large result.
type Excerpt struct {
	Turn   int      `json:"turn"`
	Before int      `json:"before"` // tokens
	After  int      `json:"after"`
	Lines  []string `json:"lines"`
}

// newExcerpt shortens the text of an edit for printing.
func newExcerpt(turn int, e event.Edit) *Excerpt {
	const head, tail = 8, 6
	lines := strings.Split(strings.TrimSpace(e.Text), "\n")
	for i := 1; i < len(lines); i++ { // the first one has the path
		lines[i] = console.Shorten(lines[i], width-4)
	}
	if hidden := len(lines) - head - tail; hidden > 0 {
		lines = append(append(lines[:head:head], fmt.Sprintf("… %d lines …", hidden)), lines[head+hidden:]...)
	}
	return &Excerpt{turn, e.Before, e.After, lines}
}

// Restart says whether the request before a restart was sent in the same bytes after it.
type Restart struct {
	Turn  int  `json:"turn"`
	Bytes int  `json:"bytes"`
	Equal bool `json:"equal"`
}

// Kept says where the messages of the agent's last request are.
type Kept struct {
	Messages int `json:"messages"`
	Whole    int `json:"whole"`  // in the request as the model received it
	Stored   int `json:"stored"` // in files that epitome names
	Lost     int `json:"lost"`
	Files    int `json:"files"`
	KB       int `json:"kb"`
}

// Missed returns the faults of the session.
func (r *Report) Missed() (faults []string) {
	add := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Sprintf(format, args...))
		}
	}
	if r.Failed != "" {
		return []string{fmt.Sprintf("the session died in turn %d: %s", len(r.Turns), r.Failed)}
	}
	add(r.Unexplained > 0, "%s changed earlier messages without a decision", english.Plural(r.Unexplained, "request", ""))
	add(!r.Restart.Equal, "after the restart the request had other bytes")
	add(r.Kept.Lost > 0, "%s lost", english.Plural(r.Kept.Lost, "message is", "messages are"))
	add(r.Right < r.Asked, "%d of %d answers are wrong", r.Asked-r.Right, r.Asked)
	return faults
}

// Life returns how many turns the session lasts without epitome.
func (r *Report) Life() string {
	if r.Died == 0 {
		return fmt.Sprintf("%d of %d", len(r.Turns), len(r.Turns))
	}
	return fmt.Sprintf("%d, then error 400", r.Died-1)
}

// Cost returns the cost of the session in nano-dollars.
func (r *Report) Cost() int64 { return r.Money.Billed + r.Money.Own }

//go:embed report.tmpl
var reportText string

// Print writes the result of the session. Its turns were printed as they were played.
func (r *Report) Print(w io.Writer) error {
	funcs := template.FuncMap{"tokens": tokens, "dollars": console.Dollars,
		"comma":   func(n int) string { return humanize.Comma(int64(n)) },
		"percent": func(n, of int) string { return console.Percent(float64(n) / float64(max(of, 1))) },
		"plural": func(n any, noun string) string {
			if fmt.Sprint(n) != "1" {
				noun += "s"
			}
			return fmt.Sprint(n, " ", noun)
		},
	}
	return template.Must(template.New("").Funcs(funcs).Parse(reportText)).Execute(w, r)
}

func tokens(n int) string { return console.Tokens(int64(n)) }
