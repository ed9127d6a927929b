package console

import (
	"cmp"
	"slices"
	"strconv"

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

// cards returns the figures that pages show of some exchanges, in their order.
func cards(s journal.Sums) []journal.Figure {
	all := slices.DeleteFunc(slices.Clone(journal.Figures), func(f journal.Figure) bool {
		isZero := f.Share == nil && f.Known == nil && *f.In(&s) == 0
		return f.Card == "" || isZero || !f.IsKnown(&s)
	})
	slices.SortStableFunc(all, func(x, y journal.Figure) int { return cmp.Compare(x.CardAt, y.CardAt) })
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
