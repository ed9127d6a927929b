package page

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"epitome/bench/replay/figures"
	"epitome/console/chart"
)

// About is how a report came to be.
type About struct {
	Version string    // of the program that made it
	Time    time.Time // when it was complete
	Command string    // that made it
}

// text says it in one line; what is not known is left out.
func (a About) text() string {
	said := "Made"
	if !a.Time.IsZero() {
		said += " on " + a.Time.Format("2006-01-02 15:04")
	}
	return chart.Plain(said + " by epitome " + a.Version)
}

// headline says what the report comes to, a sentence for each policy that the goals are about in each window.
func headline(r *figures.Report) (all []string) {
	for _, row := range r.Rows {
		if !slices.Contains(r.Subjects, row.Policy) || row.Cost == nil {
			continue
		}
		text := fmt.Sprintf("In a window of %s tokens, %s cost %.0f\u00a0%% of sending everything", chart.TokensText(row.Window),
			chart.Plain(row.Policy), 100**row.Cost)
		if *row.Cost > 1 {
			text += ", which is an extra cost"
		}
		if row.Recall != nil {
			text += fmt.Sprintf(", and %.0f\u00a0%% of what answers needed from full requests was still there", *row.Recall)
		}
		text += ". " + died(row.Died, r.Conversations, "died")
		if all := find(r, row.Window, "send everything"); all != nil && all.Policy != row.Policy {
			text += " " + died(all.Died, r.Conversations, "would have died if everything had been sent")
		}
		all = append(all, text)
	}
	return all
}

func died(count, of int, what string) string {
	switch count {
	case 0:
		return "No conversation " + what + "."
	case of:
		return "All conversations " + what + "."
	}
	return fmt.Sprintf("%d of %d conversations %s.", count, of, what)
}

// verdict says whether the goals were met; empty if there are none.
func verdict(r *figures.Report) string {
	missed := len(r.Missed())
	switch all := len(r.Floors) + len(r.Goals); {
	case all == 0:
		return ""
	case missed == 0:
		return fmt.Sprintf("All %d goals were met.", all)
	default:
		return fmt.Sprintf("%d of %d goals were missed; the last table has them.", missed, all)
	}
}

// meanings says what columns are, by their heads.
var meanings = []column{
	{"died", "conversations with a request of more tokens than the window; such a request sees nothing"},
	{"M tokens", "millions of tokens in all requests as they were sent"},
	{"cost", "price of all input, relative to sending everything"},
	{"billed", "the same as a provider bills it"},
	{"dearer", "conversations that cost over 2 % more than sending everything"},
	{"breaks/100", "of 100 requests, those that change what the provider still has cached, so that its cache misses"},
	{"in context all %", "the share of what answers need that the requests still hold in context"},
	{"hot", "the same in hot requests: those of more than half the window, or of 100 000 tokens if that is less"},
	{"recent", "hot, of what was last seen at most five groups before"},
	{"older", "hot, of what was last seen before that"},
	{"bare hot", "what stands there as a bare name only, in a text that the policy wrote; hot has none of it"},
	{"bare older", "likewise, of older"},
	{"lines", "in hot requests, the share of long lines that edits repeat"},
	{"user text", "in hot requests, the share of the user's tokens that still stands there word for word"},
	{"signal", "of results that are changed when they come: of their lines that tell what went wrong, " +
		"the share that is shown word for word"},
	{"first", "of those results that have such lines, the share of which the first one is shown"},
	{"of results", "how many those are"},
	{"needed next", "of the lines of such results that hold a name which the next call needs and no other message has, " +
		"the share shown"},
	{"retrievable", "of what is not in context, the share that stands in an artifact which the request names"},
	{"invalid", "requests that break a rule of the conversation's structure which the original kept"},
	{"ms/request", "median processor time for shaping one request"},
	{"cached %", "of the tokens that were sent, the share that the provider had in its cache"},
	{"raw", "millions of tokens as the clients sent them"},
	{"sent", "and as they were sent in their place"},
	{"billed raw", "what a provider bills for those of the clients"},
	{"billed sent", "and for those that were sent"},
	{"own requests", "requests that the policy made itself"},
	{"billed own", "and what a provider bills for them"},
	{"net saving", "billed raw less billed sent less billed own; below zero it is an extra cost"},
}

// column is the head of a column, with what it means.
type column struct{ Name, Meaning string }

func newColumns(heads []string) []column {
	all := make([]column, len(heads))
	for i, name := range heads {
		all[i].Name = name
		if k := slices.IndexFunc(meanings, func(c column) bool { return c.Name == name }); k >= 0 {
			all[i] = meanings[k]
		}
	}
	return all
}

// parts splits a table that is too wide for a screen: what it cost, and what was still there. Others stay whole.
func (s sheet) parts() []sheet {
	from, to := slices.Index(s.Columns, "in context all %"), slices.Index(s.Columns, "retrievable")
	if from < 1 || to < from {
		return []sheet{s}
	}
	cost := sheet{Title: s.Title + ": cost", Columns: without(s.Columns, from, to)}
	seen := sheet{Title: s.Title + ": what is still there", Columns: only(s.Columns, from, to), Lines: s.Lines}
	for _, row := range s.Rows {
		cost.Rows = append(cost.Rows, without(row, from, to))
		seen.Rows = append(seen.Rows, only(row, from, to))
	}
	return []sheet{cost, seen}
}

// without returns cells but for those of some columns.
func without(cells []string, from, to int) []string {
	return slices.Concat(cells[:from], cells[to:])
}

// only returns the cells of some columns, behind the first one.
func only(cells []string, from, to int) []string {
	return slices.Concat(cells[:1], cells[from:to])
}

// words lists the columns of all tables that have a meaning, each once.
func wordsOf(sheets []sheet) (all []column) {
	for _, s := range sheets {
		for _, c := range newColumns(s.Columns) {
			if c.Meaning != "" && !slices.Contains(all, c) {
				all = append(all, c)
			}
		}
	}
	return all
}

// commandText is the command as a page shows it.
func commandText(a About) string { return chart.Plain(strings.TrimSpace(a.Command)) }
