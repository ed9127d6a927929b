package recap

import (
	"epitome/prose"
	"epitome/rewrite/plan"
)

// Budgets are what the parts of the text may take, in tokens. Latest is for the user's newest message while nothing
// newer stays behind the span.
type Budgets struct {
	Users, Latest, Turns, Prose int
	Lists
}

// Lists are the parts that code makes.
type Lists struct{ Tasks, Files, Calls, Words int }

const frameTokens = 200 // headings and notes, about

// BudgetsOf are those of the style at this window.
func BudgetsOf(p *plan.Plan) Budgets {
	part := func(tokens int, share float64) int {
		return int(min(float64(tokens)/p.Scale.Ratio, share*float64(p.Limits.Window)))
	}
	b := Budgets{
		Users: part(20_000, 0.10), Latest: part(20_000, 0.25), Prose: part(1_750, 0.06),
		Lists: Lists{Tasks: part(400, 0.01), Files: part(400, 0.01), Calls: part(6_000, 0.13), Words: part(900, 0.015)},
	}
	switch p.Ask.Style.Detail {
	case prose.DetailHigh:
		b.Prose *= 2
	case prose.DetailLow:
		b.Lists, b.Prose = b.Lists.over(2), b.Prose/2
	case prose.DetailTruncate:
		b.Lists, b.Prose = Lists{}, b.Prose/4
	}
	switch p.Ask.Style.Mode {
	case prose.ModeLossless:
		b.Lists, b.Turns = Lists{}, part(6_000, 0.10)
	case prose.ModeWindow:
		b.Lists = Lists{}
	}
	return b
}

// over returns the n-th part of each.
func (l Lists) over(n int) Lists { return Lists{l.Tasks / n, l.Files / n, l.Calls / n, l.Words / n} }

// Estimate is how many tokens the text takes at most, about, when the user's messages have so many, and the latest of
// them so many.
func (b Budgets) Estimate(users, latest int) int {
	return min(users, b.Users+min(latest, b.Latest)) + b.OfCode() + b.Turns + frameTokens
}

// OfCode is how many tokens all but the user's messages may take. Where a model tells, code tells less.
func (b Budgets) OfCode() int { return b.Tasks + b.Files + max(b.Calls+b.Words, b.Calls/2+b.Prose) }

// Shrink leaves next to nothing but the user's latest message and what a model said.
func (b Budgets) Shrink() Budgets {
	const share = 5
	b.Users, b.Lists, b.Turns = b.Users/share, b.Lists.over(share), b.Turns/share
	return b
}
