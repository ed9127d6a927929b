package console

import (
	"cmp"
	"slices"
	"strconv"

	"epitome/event/journal"
)

// Figure is something that tables and cards say of some exchanges.
type Figure struct {
	Key    string                    // of a sum, that in JSON, with a dot between two levels
	Column string                    // heading in a table of sums; empty: no table has it
	Card   string                    // label on a page; empty: no page has it
	CardAt int                       // cards stand in this order
	Help   string                    // for cards; sentences
	Text   func(journal.Sums) string // "" if it is unknown
}

// Figures are all figures, in the order of columns.
var Figures = []Figure{
	{Key: "exchanges", Column: "REQUESTS", Text: func(s journal.Sums) string { return number(s.Exchanges) }},
	{
		Key: "failed", Column: "FAILED", Card: "Failed", CardAt: 8,
		Text: func(s journal.Sums) string { return number(s.Failed) },
	},
	{Key: "rescued", Column: "RESCUED", Text: func(s journal.Sums) string { return number(s.Rescued) }},
	{Key: "tokens_before", Column: "BEFORE", Text: func(s journal.Sums) string { return Tokens(s.TokensBefore) }},
	{
		Key: "tokens_after", Column: "AFTER", Card: "Tokens", CardAt: 1,
		Text: func(s journal.Sums) string { return Tokens(s.TokensAfter) },
	},
	{
		Key: "less", Column: "LESS",
		Text: func(s journal.Sums) string { return ratio(s.TokensBefore-s.TokensAfter, s.TokensBefore) },
	},
	{
		Key: "observed.tokens_after", Card: "Tokens", CardAt: 1,
		Text: func(s journal.Sums) string {
			return known(s.Shaped == 0 && s.Observed.TokensBefore > 0, Tokens(s.Observed.TokensAfter))
		},
	},
	{
		Key: "cached", Column: "CACHED", Card: "Cached input", CardAt: 7,
		Text: func(s journal.Sums) string { return ratio(s.Usage.Read, s.Usage.CacheInput) },
	},
	{
		Key: "usage.output", Column: "OUTPUT",
		Text: func(s journal.Sums) string { return known(s.Usage.Reported > 0, Tokens(s.Usage.Output)) },
	},
	{
		Key: "money.billed_nano", Column: "BILLED", Card: "Billed", CardAt: 5,
		Help: "List price of the tokens that providers reported, without the cost of summaries. " +
			"An answer that says nothing of its cache is counted as read from it.",
		Text: func(s journal.Sums) string { return known(s.Money.Measured > 0, Billed(s.Money)) },
	},
	{
		Key: "billed_again", Card: "Billed again", CardAt: 6,
		Help: "The part of the bill for tokens that the provider's cache had held and lost.",
		Text: func(s journal.Sums) string {
			return known(s.Money.Rebilled > 0, ratio(s.Money.Rebilled, s.Money.Billed))
		},
	},
	{
		Key: "money.own_nano", Card: "Summaries", CardAt: 4,
		Help: "What requests for summaries and distillates cost.",
		Text: func(s journal.Sums) string { return known(s.Money.Own > 0, Dollars(s.Money.Own)) },
	},
	{
		Key: "money.saved_nano", Column: "SAVED", Card: "Saved", CardAt: 3,
		Help: "The cost without epitome of the requests that fit the window, less their cost with it. " +
			"Both are estimates of what the provider charges for what the agent sent, with its cache.",
		Text: func(s journal.Sums) string { return known(s.Money.Compared > 0, Dollars(s.Money.Saved)) },
	},
	{
		Key: "money.beyond", Card: "Larger than the window", CardAt: 2,
		Help: "Without epitome the provider would have refused these requests, " +
			"and the agent would have had to compact or stop.",
		Text: func(s journal.Sums) string { return number(s.Money.Oversized) },
	},
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

// known returns a text, or "" if what it says is unknown.
func known(isKnown bool, text string) string {
	if isKnown {
		return text
	}
	return ""
}

// cards returns the figures that pages show of some exchanges, in their order: what is known, and not a count of 0.
func cards(s journal.Sums) []Figure {
	all := slices.DeleteFunc(slices.Clone(Figures), func(f Figure) bool {
		text := f.Text(s)
		return f.Card == "" || text == "" || text == "0"
	})
	slices.SortStableFunc(all, func(x, y Figure) int { return cmp.Compare(x.CardAt, y.CardAt) })
	return all
}

// Gain says what a session saved, or cost more; empty if there is nothing to say of it.
func Gain(m journal.Money) string {
	nano, ok := m.Gain()
	switch {
	case !ok:
		return ""
	case nano < 0:
		return Dollars(-nano) + " extra cost"
	}
	saved := Dollars(nano) + " saved"
	if m.Oversized > 0 {
		saved += " on " + plural(m.Compared, "request") + " that fit"
	}
	return saved
}

// Billed writes what requests cost, with ≥ in front if it may be more.
func Billed(m journal.Money) string {
	if m.AtLeast > 0 {
		return "≥ " + Dollars(m.Billed)
	}
	return Dollars(m.Billed)
}
