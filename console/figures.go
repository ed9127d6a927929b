package console

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"epitome/event/journal"
)

// FigureText writes a figure of some exchanges; – if it is unknown.
func FigureText(f journal.Figure, s journal.Sums) string {
	switch {
	case !f.IsKnown(&s):
		return "–"
	case f.Share != nil:
		share, _ := f.Share(&s)
		return Percent(share)
	case f.Key == "money.billed_nano":
		return Billed(s.Money)
	}
	n := *f.In(&s)
	switch f.Unit {
	case journal.Tokens:
		return Tokens(n)
	case journal.Nano:
		return Dollars(n)
	}
	return strconv.FormatInt(n, 10)
}

// mostBefore returns the most tokens that one of the rows has before.
func mostBefore(rows []journal.Row) int64 {
	most := int64(1)
	for _, r := range rows {
		most = max(most, r.Sums.TokensBefore)
	}
	return most
}

// card is a figure on a page.
type card struct{ Label, Link, Help, Value, Soft string }

// cards returns the figures to show of some exchanges. Most are shown as they are; a few say more.
func cards(s journal.Sums) (all []card) {
	figures := slices.Clone(journal.Figures)
	slices.SortStableFunc(figures, func(x, y journal.Figure) int { return cmp.Compare(x.CardAt, y.CardAt) })
	const bothTokens = "Tokens before and after epitome. Every request repeats the conversation so far."
	for _, f := range figures {
		isZero := f.Share == nil && f.Known == nil && *f.In(&s) == 0
		if f.Card == "" || isZero || !f.IsKnown(&s) {
			continue
		}
		c := card{Label: f.Card, Help: f.Help, Value: FigureText(f, s)}
		m := s.Money
		switch f.Key {
		case "tokens_after":
			c.Help, c.Soft = bothTokens, "before → after"
			c.Value = Tokens(s.TokensBefore) + " → " + c.Value
		case "observed.tokens_after":
			c.Help, c.Soft = bothTokens, "before → after in mode on"
			c.Value = Tokens(s.Observed.TokensBefore) + " → " + c.Value
		case "money.beyond":
			c.Value, c.Soft = plural(m.Oversized, "request"), outgrown(m)
			if m.KeptAlive > 0 { // else it is a later request
				c.Value = plural(m.KeptAlive, "conversation")
			}
		case "money.saved_nano":
			c.Label, c.Value = gainCard(m)
			c.Soft = costs(m)
		case "money.own_nano":
			if m.Distills > 0 {
				c.Soft = Dollars(m.Distills) + " of it for distillates of results"
			}
		case "money.billed_nano":
			c.Soft = billedOf(s)
		case "cached":
			c.Soft = Tokens(s.Usage.Read) + " tokens from the provider's cache"
		case "failed":
			c.Link, c.Value, c.Soft = "/-/troubles", plural(s.Failed, "request"), "of "+humanize.Comma(s.Exchanges)
		}
		all = append(all, c)
	}
	return all
}

// outgrown says how many requests would have failed, and what they were billed if that is known.
func outgrown(m journal.Money) string {
	text := plural(m.Oversized, "request") + " would have failed without epitome"
	if m.OversizedBilled > 0 {
		text += "; billed: " + Dollars(m.OversizedBilled)
	}
	return text
}

// billedOf says which requests the bill is of, unless it is simply of all.
func billedOf(s journal.Sums) string {
	m := s.Money
	switch {
	case m.Subscription > 0:
		return humanize.Comma(m.Subscription) + " by subscription, at list prices"
	case m.Measured < s.Exchanges:
		return humanize.Comma(m.Measured) + " of " + plural(s.Exchanges, "request")
	}
	return ""
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
	return Dollars(nano) + " saved"
}

// gainCard returns label and value of what requests that fit saved. Beside requests that would have failed, more cost is
// no loss.
func gainCard(m journal.Money) (label, value string) {
	switch {
	case m.Saved < 0 && m.Oversized > 0:
		return "Requests that fit", Dollars(m.Raw) + " → " + Dollars(m.Sent)
	case m.Saved < 0:
		return "Extra cost", Dollars(-m.Saved)
	}
	return "Saved", Dollars(m.Saved)
}

// costs says what the requests that fit cost without epitome, and what with it.
func costs(m journal.Money) string {
	return plural(m.Compared, "request") + " that fit: " + Dollars(m.Raw) + " without epitome, " + Dollars(m.Sent) +
		" with it"
}

// MoneyText says in sentences what epitome saved, in the words of the pages. It is empty if no request has a price and
// none would have failed.
func MoneyText(m journal.Money) string {
	var p phrases
	label, value := gainCard(m)
	p.add(m.Compared > 0, costs(m)+". "+label+": "+value+".")
	p.add(m.Oversized > 0, outgrown(m)+".")
	return strings.Join(p, " ")
}

// Billed writes what requests cost, with ≥ in front if it may be more.
func Billed(m journal.Money) string {
	if m.AtLeast > 0 {
		return "≥ " + Dollars(m.Billed)
	}
	return Dollars(m.Billed)
}
