package replay

import (
	"fmt"
	"io"
	"slices"

	"epitome/bench/price"
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
	BreaksPer100 *float64 `json:"breaks_per_100"` // requests that change messages which the provider has cached
	Unrecorded   int      `json:"unrecorded"`     // breaks without a decision
	Dearer       int      `json:"dearer"`         // conversations that cost over 2 % more than sending everything
	RecallAll    *float64 `json:"recall_all"`     // needs met, mean over answers
	Recall       *float64 `json:"recall"`         // of hot requests, and so the next three
	Recent       *float64 `json:"recall_recent"`  // last seen at most five groups before
	Older        *float64 `json:"recall_older"`   // last seen before that
	Lines        *float64 `json:"recall_lines"`   // long lines in calls
	UserText     *float64 `json:"user_text"`      // of hot requests: what stands there word for word
	Misses       int      `json:"misses"`         // needs that do not stand in the request, lines aside
	Retrievable  *float64 `json:"retrievable"`    // of what is needed and was taken out: what lies in an artifact
	CPUMS        *float64 `json:"cpu_ms"`         // processor time of shaping a request, median; else time
	Invalid      int      `json:"invalid"`        // requests
	Unrestored   int      `json:"unrestored"`     // requests that could not be put together again
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

// tally is what is counted of one conversation.
type tally struct {
	requests, over, breaks, unrecorded, invalid, unrestored int

	sent, raw int // tokens
	rawNow    int // tokens of the last request

	cost account // by the unit of published figures
	bill account // as a provider charges

	asked   int // requests of the shaper's own
	timed   int // requests with a known pause before them
	expired int // requests after too long a pause

	all, hot, recent, older, lines, user mean
	misses, back                         int

	cpu []float64 // of each request, ms
}

// share is how many of some are met.
type share struct{ met, of int }

func (s *share) count(met bool) {
	s.of++
	if met {
		s.met++
	}
}

// mean is that of shares; one of nothing is left out.
type mean struct {
	sum float64
	of  int
}

func (m *mean) add(s share) {
	if s.of > 0 {
		m.sum += float64(s.met) / float64(s.of)
		m.of++
	}
}

func (m *mean) join(other mean) {
	m.sum += other.sum
	m.of += other.of
}

func (m mean) percent() *float64 { return report.Ratio(100*m.sum, float64(m.of)) }

// newReplayRow adds up conversations.
func newReplayRow(window int, policy string, of []tally) Row {
	row := Row{Window: window, Policy: policy}
	var t tally
	for _, x := range of {
		if x.over > 0 {
			row.Died++
		}
		if x.cost.total() > price.Dearer*x.cost.raw {
			row.Dearer++
		}
		t.join(x)
	}
	row.Over, row.Tokens, row.Unrecorded, row.Misses = t.over, t.sent, t.unrecorded, t.misses
	row.Invalid, row.Unrestored = t.invalid, t.unrestored
	row.Bill = newBill(t)
	row.Cost, row.BreaksPer100 = t.cost.relative(), report.Ratio(100*float64(t.breaks), float64(t.requests))
	row.RecallAll, row.Recall, row.Recent = t.all.percent(), t.hot.percent(), t.recent.percent()
	row.Older, row.Lines, row.UserText = t.older.percent(), t.lines.percent(), t.user.percent()
	row.Retrievable = report.Ratio(100*float64(t.back), float64(t.misses))
	if len(t.cpu) > 0 {
		cpu := report.Median(t.cpu)
		row.CPUMS = &cpu
	}
	return row
}

func (t *tally) join(x tally) {
	t.requests += x.requests
	t.over += x.over
	t.breaks += x.breaks
	t.unrecorded += x.unrecorded
	t.invalid += x.invalid
	t.unrestored += x.unrestored
	t.sent += x.sent
	t.raw += x.raw
	t.asked += x.asked
	t.timed += x.timed
	t.expired += x.expired
	t.cost.join(x.cost)
	t.bill.join(x.bill)
	t.misses += x.misses
	t.back += x.back
	t.cpu = append(t.cpu, x.cpu...)
	t.all.join(x.all)
	t.hot.join(x.hot)
	t.recent.join(x.recent)
	t.older.join(x.older)
	t.lines.join(x.lines)
	t.user.join(x.user)
}

// settle fills in the goals.
func (r *Report) settle(bar bool) {
	r.Floors, r.Goals = []report.Floor{}, []report.Goal{}
	r.Floors = append(r.Floors, report.Floor{Name: "conversations", Unit: "read", Value: float64(r.Conversations),
		Limit: 1})
	for _, row := range r.Rows {
		if !slices.Contains(r.Subjects, row.Policy) {
			continue
		}
		of := fmt.Sprintf(", %s, window %d", row.Policy, row.Window)
		none := func(name, unit string, n int) {
			value := float64(n)
			r.Goals = append(r.Goals, report.Goal{Name: name + of, Unit: unit, Value: &value})
		}
		none("died", "conversations", row.Died)
		none("invalid", "requests", row.Invalid)
		none("not put together again", "requests", row.Unrestored)
		none("changed without a decision", "requests", row.Unrecorded)
		r.floor("retrievable"+of, row.Retrievable, 100)
		if row.Window >= beatenFrom {
			r.Goals = append(r.Goals, r.countBeating(row, of))
		}
		if bar {
			r.bar(row, of)
		}
	}
}

func (r *Report) floor(name string, value *float64, limit float64) {
	if value != nil {
		r.Floors = append(r.Floors, report.Floor{Name: name, Unit: "%", Value: *value, Limit: limit})
	}
}

// bar is what the project's own shaping should reach on the corpus that its goals were set on.
func (r *Report) bar(row Row, of string) {
	for _, b := range [...]struct {
		window                      int
		cost, recall, older, breaks float64
	}{
		{32_000, 0.35, 94.9, 79.5, 7.4}, {64_000, 0.51, 97.1, 88.5, 2.8},
		{128_000, 0.66, 98.1, 92.7, 1.9}, {200_000, 0.66, 98.4, 93.9, 1.7},
	} {
		if b.window != row.Window {
			continue
		}
		r.Goals = append(r.Goals,
			report.Goal{Name: "cost" + of, Unit: "×", Value: row.Cost, Limit: b.cost},
			report.Goal{Name: "breaks in 100 requests" + of, Unit: "breaks", Value: row.BreaksPer100, Limit: b.breaks})
		r.floor("recall"+of, row.Recall, b.recall)
		r.floor("older recall"+of, row.Older, b.older)
	}
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
	t.Row("%d conversations, %d requests, %.1f M tokens as the clients sent them (%g characters each)", r.Conversations,
		r.Requests,
		float64(r.RawTokens)/1e6, price.CharsPerToken)
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
		t.Row("read %s: %d conversations from %d logs, %d with times", o.Format, o.Conversations, o.Logs, o.Timed)
	}
	printRows(t, "Window of %d tokens", r.Rows)
	for _, k := range r.Kinds {
		printRows(t, k.title(), k.Rows)
	}
	printBills(t, r.Rows)
	printMisses(t, r.Misses)
	t.Section("Goals", "figure\tvalue\tgoal\tverdict")
	for _, f := range r.Floors {
		t.Row("%s", f)
	}
	for _, g := range r.Goals {
		t.Row("%s", g)
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
	for i, x := range rows {
		if i == 0 || x.Window != rows[i-1].Window {
			t.Section(fmt.Sprintf(title, x.Window), "policy\tdied\tM tokens\tcost\tbilled\tdearer\tbreaks/100"+
				"\trecall all %\thot\trecent\tolder\tlines\tuser text\tretrievable\tinvalid\tms/request")
		}
		t.Row("%s\t%d\t%.1f\t%s\t%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%d\t%s", x.Policy, x.Died,
			float64(x.Tokens)/1e6,
			report.Optional(x.Cost, "%.3f"), report.Optional(x.Billed, "%.3f"), x.Dearer,
			report.Optional(x.BreaksPer100, "%.2f"), share(x.RecallAll), share(x.Recall), share(x.Recent),
			share(x.Older), share(x.Lines), share(x.UserText), share(x.Retrievable), x.Invalid,
			report.Optional(x.CPUMS, "%.2f"))
	}
}
