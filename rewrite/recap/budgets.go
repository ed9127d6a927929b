package recap

import (
	"epitome/prose"
	"epitome/rewrite/plan"
)

// What a recap's parts may take: tokens, and at most a share of the window.
const (
	usersTokens, usersShare       = 20_000, 0.10
	latestTokens, latestShare     = 20_000, 0.25
	askedTokens, askedShare       = 400, 0.008
	tasksTokens, tasksShare       = 400, 0.01
	saidTokens, saidShare         = 1_750, 0.05
	failuresTokens, failuresShare = 1_200, 0.02
	callsTokens, callsShare       = 1_200, 0.02
	filesTokens, filesShare       = 1_750, 0.035
	foundTokens, foundShare       = 1_500, 0.03
	namesTokens, namesShare       = 250, 0.005
	turnsTokens, turnsShare       = 6_000, 0.10 // in place of the lists
	proseTokens, proseShare       = 1_750, 0.06 // taken or not: the room makes the window fill less often
	frameTokens                   = 250         // headings and all that is said of the parts, about
)

// Budgets are what the parts may take here, in tokens. latest is for the user's latest message, as long as nothing
// newer stays: it is what is being worked on. lists are the parts that code makes of what was done.
type Budgets struct {
	Users, Latest, Turns, Prose int
	Lists
}

// Lists are what the parts may take that code makes of what was said and done. Asked is for what short replies of the
// user answer.
type Lists struct{ Asked, Tasks, Said, Failures, Calls, Files, Found, Names int }

func (l Lists) sum() int {
	return l.Asked + l.Tasks + l.Said + l.Failures + l.Calls + l.Files + l.Found + l.Names
}

// over returns the n-th part of each.
func (l Lists) over(n int) Lists {
	return Lists{l.Asked / n, l.Tasks / n, l.Said / n, l.Failures / n, l.Calls / n,
		l.Files / n, l.Found / n, l.Names / n}
}

// BudgetsOf are those of the style at this window.
func BudgetsOf(p *plan.Plan) Budgets {
	part := func(tokens int, share float64) int {
		return int(min(float64(tokens)/p.Scale.Ratio, share*float64(p.Limits.Window)))
	}
	b := Budgets{
		Users: part(usersTokens, usersShare), Latest: part(latestTokens, latestShare),
		Prose: part(proseTokens, proseShare),
		Lists: Lists{
			Asked: part(askedTokens, askedShare), Tasks: part(tasksTokens, tasksShare),
			Said: part(saidTokens, saidShare), Failures: part(failuresTokens, failuresShare),
			Calls: part(callsTokens, callsShare), Files: part(filesTokens, filesShare),
			Found: part(foundTokens, foundShare), Names: part(namesTokens, namesShare),
		},
	}
	if !keepsTasks(p) {
		b.Tasks = 0
	}
	if p.Ask.Style.Mode == prose.ModeLossless {
		b.Turns = part(turnsTokens, turnsShare)
	}
	switch p.Ask.Style.Detail {
	case prose.DetailHigh:
		b.Prose *= 2
	case prose.DetailLow:
		b.Lists, b.Prose = b.Lists.over(2), b.Prose/2
	case prose.DetailTruncate:
		b.Lists, b.Prose = Lists{}, b.Prose/4
	}
	if p.Ask.Style.Mode == prose.ModeLossless || p.Ask.Style.Mode == prose.ModeWindow {
		b.Lists = Lists{}
	}
	return b
}

// Estimate is how many tokens a recap takes at most, about, when the user's messages have so many, and the latest of
// them so many.
func (b Budgets) Estimate(users, latest int) int {
	return min(users, b.Users+min(latest, b.Latest)) + b.OfCode() + b.Turns + frameTokens
}

// OfCode is how many tokens all but the user's messages may take: where a model tells, it tells what the assistant
// said.
func (b Budgets) OfCode() int { return b.Lists.sum() - b.Said + max(b.Said, b.Prose) }

// Shrink leaves next to nothing, but for the user's latest message and what a model said.
func (b Budgets) Shrink() Budgets {
	const share = 5
	b.Users, b.Lists, b.Turns = b.Users/share, b.Lists.over(share), b.Turns/share
	return b
}
