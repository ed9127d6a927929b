package terminal

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"epitome/console/figure"
	"epitome/console/story"
)

// Stats writes sums as a table with a line for all of them at its end, in at most width characters a line; 0 is no
// bound. What a reader should know stands below.
func Stats(s story.Summary, width int) string {
	t := table{columns: []column{
		{title: strings.ToUpper(s.By), left: true, most: 32}, {title: "REQUESTS"}, {title: "FAILED", rank: 5},
		{title: "RESCUED", rank: 6}, {title: "CAME"}, {title: "SENT"}, {title: "LESS"}, {title: "CACHED", rank: 4},
		{title: "OUTPUT", rank: 7}, {title: "BILLED", rank: 3}, {title: "SAVED", rank: 2},
	}}
	for _, r := range s.Rows {
		key := plain(r.Key)
		if key == "" {
			key = "(none)"
		}
		t.rows = append(t.rows, sumsRow(key, r.Sums))
	}
	t.rows = append(t.rows, sumsRow("all", s.Total))
	from, to := s.From.Format("Jan 2 15:04"), s.Until().Format("Jan 2 15:04")
	head := fmt.Sprintf("epitome %s, mode %s, %s to %s", plain(s.Version), plain(s.Mode), from, to)
	return strings.Join(slices.Concat([]string{head, ""}, t.lines(width), notesOn(s)), "\n") + "\n"
}

func sumsRow(key string, s story.Sums) []string {
	less := unknown
	if s.TokensBefore > 0 {
		less = part(s.TokensBefore-s.TokensAfter, s.TokensBefore)
	}
	output := unknown
	if s.Usage.Told > 0 {
		output = figure.Tokens(s.Usage.Output)
	}
	if s.Usage.Told > 0 && s.Usage.Counted+s.Usage.Cut > 0 {
		output = "≥ " + output
	}
	return []string{
		key, figure.Thousands(s.Exchanges), figure.Thousands(s.Failed), figure.Thousands(s.Rescued),
		figure.Tokens(s.TokensBefore), figure.Tokens(s.TokensAfter), less, cachedOf(s.Usage), output,
		billed(s.Money), saved(s.Money),
	}
}

// cachedOf writes what part of all requests the provider's cache had: at least so much, where some answers do not tell.
func cachedOf(u story.UsageSums) string {
	switch {
	case u.CacheInput == 0:
		return unknown
	case u.CacheUntold() > 0:
		return "≥ " + part(u.Read, u.Input)
	}
	return part(u.Read, u.Input)
}

// wide is by how much a time that was asked for may be widened without a word.
const wide = 24 * time.Hour

// notesOn are sentences that the table needs.
func notesOn(s story.Summary) (notes []string) {
	m := s.Total.Money
	add := func(is bool, format string, args ...any) {
		if is {
			notes = append(notes, fmt.Sprintf(format, args...))
		}
	}
	add(m.AtLeast > 0, "BILLED is at least what stands there: %s did not come whole, and what the model wrote last is not told.",
		number(m.AtLeast, "answer"))
	add(m.Own != 0, "BILLED leaves out the %s that summaries cost, and SAVED is less that.", figure.Dollars(m.Own))
	add(m.Uncharged > 0, "SAVED has nothing of what %s of the summaries cost: their price or usage is unknown.",
		figure.Thousands(m.Uncharged))
	add(m.Raw != 0, "SAVED is by one estimate, of %s with a price that would have fitted: %s without epitome.",
		number(m.Ruled, "request"), figure.Dollars(m.Raw))
	add(m.Beyond > 0, "%s of %s would have been refused as they came: they have no price, and are in no SAVED.",
		number(m.Beyond, "request"), number(m.Died, "conversation"))
	add(m.Unpriced > 0, "Of %s an amount is missing: a price or the usage is unknown. [prices] in the configuration can name a price.",
		number(m.Unpriced, "request"))
	u := s.Total.Usage
	add(u.CacheInput > 0 && u.CacheUntold() > 0, "CACHED is at least what stands there: the answers to %s of %s tokens do not "+
		"tell what the cache had.", figure.Tokens(u.CacheUntold()), figure.Tokens(u.Input))
	add(u.CacheInput == 0 && u.Told > 0, "CACHED is unknown: no answer tells what the provider's cache had.")
	says := "says nothing of its"
	if u.Counted > 1 {
		says = "say nothing of their"
	}
	add(u.Told > 0 && u.Counted > 0, "OUTPUT is at least what stands there: %s %s tokens.", number(u.Counted, "answer"), says)
	add(u.Cut > 0, "OUTPUT is at least what stands there: %s did not come whole.", number(u.Cut, "answer"))
	o := s.Total.Observed
	add(o.Exchanges > 0, "In mode observe, %s of %s tokens would have become %s. "+
		"CAME, SENT, LESS and SAVED leave such requests out; the other columns count them.",
		number(o.Exchanges, "request"), figure.Tokens(o.TokensBefore), figure.Tokens(o.TokensAfter))
	add(s.Since.Sub(s.From) > wide, "Nothing is known from before %s.", s.Since.Format("Jan 2 15:04"))
	add(s.Prices.Old, "The prices are of %s: a newer epitome has newer ones.", s.Prices.Date.Format(time.DateOnly))
	for _, note := range s.Notes {
		notes = append(notes, plain(note))
	}
	if len(notes) > 0 {
		notes = slices.Insert(notes, 0, "")
	}
	return notes
}

// number writes how many there are of something.
func number(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return figure.Thousands(n) + " " + noun + "s"
}
