// Package figures is what a replay tells of policies: as data, as tables, and held to goals.
//
// It promises that one set of figures has one report to the last digit, and that a figure of nothing is none.
package figures

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"epitome/bench/report"
)

// Row is one policy in one window over all conversations. Shares are in percent; null: there was nothing to count.
// A request is hot when the client's own has more than half of the window's tokens, or more than 100 000.
type Row struct {
	Window int      `json:"window"` // tokens
	Policy string   `json:"policy"`
	Died   int      `json:"died"` // conversations with a request over the window
	Over   int      `json:"over"` // requests over the window
	Tokens int      `json:"tokens"`
	Cost   *float64 `json:"cost"` // relative to sending everything; cached input at a tenth
	Bill
	BreaksPer100  *float64 `json:"breaks_per_100"` // requests that change messages which the provider has cached
	Unrecorded    int      `json:"unrecorded"`     // breaks without a decision
	Dearer        int      `json:"dearer"`         // conversations that cost over 2 % more than sending everything
	RecallAll     *float64 `json:"recall_all"`     // needs met in context, mean over answers
	Recall        *float64 `json:"recall"`         // of hot requests, and so down to UserText
	Recent        *float64 `json:"recall_recent"`  // last seen at most five groups before
	Older         *float64 `json:"recall_older"`   // last seen before that
	Bare          *float64 `json:"bare"`           // needs that stand in the policy's own texts alone, on no line of a client's
	BareOlder     *float64 `json:"bare_older"`     // of those in Older
	Lines         *float64 `json:"recall_lines"`   // long lines in calls
	UserText      *float64 `json:"user_text"`      // of hot requests: what stands there word for word
	Signal        *float64 `json:"signal"`         // of results changed when they come: telling lines that are shown
	SignalFirst   *float64 `json:"signal_first"`   // of those with such lines: the first of them is shown
	Seen          *float64 `json:"seen"`           // of all results: telling lines that are shown when they come
	SignalNeeded  *float64 `json:"signal_needed"`  // of results changed when they come: lines shown of those needed next
	SignalResults int      `json:"signal_results"` // with such lines
	SignalLines   int      `json:"signal_lines"`
	Misses        int      `json:"misses"`      // needs that the request does not meet in context, lines aside
	Retrievable   *float64 `json:"retrievable"` // of what is needed and was taken out: what lies in an artifact
	ReadBack
	CPUMS   *float64 `json:"cpu_ms"`  // processor time of shaping a request, median; else time
	Cached  *float64 `json:"cached"`  // in Messages and Responses: of the tokens sent, those from the provider's cache
	Dropped int      `json:"dropped"` // thinking blocks that the provider left out
	Invalid int      `json:"invalid"` // requests
}

// Report is the result of Replay.
type Report struct {
	Machine       report.Machine `json:"machine"`
	Subjects      []string       `json:"subjects"` // the policies the goals are about
	Conversations int            `json:"conversations"`
	Copies        int            `json:"copies"` // conversations left out, as they are the beginning of another one
	Requests      int            `json:"requests"`
	CacheMinutes  float64        `json:"cache_minutes"` // how long the provider has a request cached; 0: for ever
	Timed         int            `json:"timed"`         // requests whose pause after the one before is known
	Expired       int            `json:"expired"`       // of those, how many came after the provider's cache had expired
	RawTokens     int            `json:"raw_tokens"`    // of all requests as the clients sent them
	Unit          string         `json:"unit"`          // what tokens are counted in
	Rows          []Row          `json:"rows"`
	Kinds         []Kind         `json:"kinds,omitempty"`
	Misses        []Miss         `json:"misses,omitempty"`
	Floors        []report.Floor `json:"floors"`
	Goals         []report.Goal  `json:"goals"`
	Faults        []string       `json:"faults"`  // the first of each policy in each conversation
	Origins       []Origin       `json:"origins"` // what was read, by format
	Skipped       []string       `json:"skipped"` // what could not be replayed, and why
	Notes         []string       `json:"notes"`   // what else to know of the figures
	Courses       []Course       `json:"courses"` // of each conversation, in the order of the files
}

// Origin is what was read in one format.
type Origin struct {
	Format        string `json:"format"`
	Dialect       string `json:"dialect"` // in which they were played
	Logs          int    `json:"logs"`
	Conversations int    `json:"conversations"`
	Timed         int    `json:"timed"` // conversations of which the log says when their messages came
}

// Missed lists the goals that were missed. That nothing was replayed is one.
func (r *Report) Missed() []string {
	return append(report.MissedFloors(r.Floors), report.MissedGoals(r.Goals)...)
}

// Print writes the report as tables.
func (r *Report) Print(w io.Writer) error {
	t := report.NewTable(w, r.Machine)
	r.Fill(t)
	return t.Flush()
}

// Fill writes the report into a table.
func (r *Report) Fill(t report.Table) {
	t.Row("%d conversations, %d requests, %.1f M tokens as the clients sent them (%s)", r.Conversations, r.Requests,
		float64(r.RawTokens)/1e6, r.Unit)
	switch {
	case r.Timed > 0 && r.CacheMinutes > 0:
		t.Row("%d of %d requests whose times are known came after more than %g minutes, when a provider's cache holds nothing any more",
			r.Expired, r.Timed, r.CacheMinutes)
	case r.Timed > 0:
		t.Row("the provider's cache forgets nothing")
	}
	if r.Copies > 0 {
		t.Row("%d conversations were left out: they are the beginning of another one", r.Copies)
	}
	for _, o := range r.Origins {
		t.Row("read %s: %d conversations from %d logs, %d with times, played as %s", o.Format, o.Conversations, o.Logs,
			o.Timed, o.Dialect)
	}
	if r.Conversations > 0 {
		r.fillFigures(t)
	}
	for _, fault := range r.Faults {
		t.Row("FAULT %s", fault)
	}
	for _, why := range r.toldOfSkipped() {
		t.Row("SKIPPED %s", why)
	}
	for _, note := range r.Notes {
		t.Row("NOTE %s", note)
	}
}

// fillFigures writes what was measured, and how that stands to the goals.
func (r *Report) fillFigures(t report.Table) {
	printRows(t, "Window of %d tokens", r.Rows)
	t.Row("%s", legend)
	for _, k := range r.Kinds {
		printRows(t, k.title(), k.Rows)
	}
	printBills(t, r.Rows)
	printReadBack(t, r.Rows)
	printMisses(t, r.Misses)
	t.Section("Goals", "figure\tvalue\tgoal\tverdict")
	for _, f := range r.Floors {
		t.Row("%s", f)
	}
	for _, g := range r.Goals {
		t.Row("%s", g)
	}
}

// legend says what the columns are whose heads do not.
const legend = "\nin context: of what answers need, what the requests still hold in whole lines; bare: as a name alone. " +
	"hot to user text: in requests of more than half the window, or of 100 000 tokens.\n" +
	"signal: of results changed when they come, the lines shown that tell what went wrong; first: of the first ones. " +
	"Every column: docs/benchmarks.md#replay"

// mostSkipped is how many of what was left out are told to readers: folders of logs hold much else.
const mostSkipped = 20

func (r *Report) toldOfSkipped() []string {
	if len(r.Skipped) <= mostSkipped {
		return r.Skipped
	}
	rest := fmt.Sprintf("and %d more, which the report as JSON has", len(r.Skipped)-mostSkipped)
	return append(r.Skipped[:mostSkipped:mostSkipped], rest)
}

// printRows writes rows, a table for each window; title has a place for the window.
func printRows(t report.Table, title string, rows []Row) {
	share := func(v *float64) string { return report.Optional(v, "%.1f") }
	marked := slices.ContainsFunc(rows, func(x Row) bool { return x.Cached != nil })
	for i, x := range rows {
		if i == 0 || x.Window != rows[i-1].Window {
			head := "policy\tdied\tM tokens\tcost\tbilled\tdearer\tbreaks/100" +
				"\tin context all %\thot\trecent\tolder\tbare hot\tbare older\tlines\tuser text" +
				"\tseen\tsignal\tfirst\tof results\tneeded next\tretrievable\tinvalid\tms/request"
			if marked {
				head += "\tcached %"
			}
			t.Section(fmt.Sprintf(title, x.Window), head)
		}
		cells := []string{
			x.Policy, strconv.Itoa(x.Died), fmt.Sprintf("%.1f", float64(x.Tokens)/1e6), report.Optional(x.Cost, "%.3f"),
			report.Optional(x.Billed, "%.3f"), strconv.Itoa(x.Dearer), report.Optional(x.BreaksPer100, "%.2f"),
			share(x.RecallAll), share(x.Recall), share(x.Recent), share(x.Older), share(x.Bare), share(x.BareOlder),
			share(x.Lines), share(x.UserText), share(x.Seen), share(x.Signal), share(x.SignalFirst), strconv.Itoa(x.SignalResults),
			share(x.SignalNeeded), share(x.Retrievable), strconv.Itoa(x.Invalid), report.Optional(x.CPUMS, "%.2f"),
		}
		if marked {
			cells = append(cells, share(x.Cached))
		}
		t.Row("%s", strings.Join(cells, "\t"))
	}
}
