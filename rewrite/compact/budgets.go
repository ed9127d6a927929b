package compact

import (
	"epitome/prose"
	"epitome/rewrite/plan"
)

// What a recap's parts may take: tokens, and at most a share of the window.
const (
	usersTokens, usersShare   = 20_000, 0.10
	latestTokens, latestShare = 20_000, 0.25
	listsTokens, listsShare   = 3_000, 0.05
	keysTokens, keysShare     = 2_000, 0.03
	indexTokens, indexShare   = 1_000, 0.02
	proseTokens, proseShare   = 1_750, 0.06 // taken or not: the room makes the window fill less often
	frameTokens               = 250         // headings and all that is said of the parts, about
)

// budgets are what the parts may take here. latest is for the user's latest message, as long as nothing newer stays: it
// is what is being worked on.
type budgets struct{ users, latest, lists, keys, index, turns, prose int }

// budgetsOf are those of the style at this window.
func budgetsOf(p *plan.Plan) budgets {
	part := func(tokens int, share float64) int {
		return int(min(float64(tokens)/p.Scale.Ratio, share*float64(p.Limits.Window)))
	}
	b := budgets{
		users: part(usersTokens, usersShare), latest: part(latestTokens, latestShare),
		lists: part(listsTokens, listsShare), keys: part(keysTokens, keysShare),
		index: part(indexTokens, indexShare), prose: part(proseTokens, proseShare),
	}
	if p.Ask.Style.Mode == prose.ModeLossless {
		b.turns = b.lists + b.keys + b.index
	}
	switch p.Ask.Style.Detail {
	case prose.DetailHigh:
		b.prose *= 2
	case prose.DetailLow:
		b.lists, b.keys, b.index, b.prose = b.lists/2, b.keys/2, b.index/2, b.prose/2
	case prose.DetailTruncate:
		b.lists, b.keys, b.index, b.prose = 0, 0, 0, b.prose/4
	}
	if p.Ask.Style.Mode == prose.ModeLossless || p.Ask.Style.Mode == prose.ModeWindow {
		b.lists, b.keys, b.index = 0, 0, 0
	}
	return b
}

// estimate is how many tokens a recap takes at most, about, when the user's messages have so many, and the latest of
// them so many.
func (b budgets) estimate(users, latest int) int {
	return min(users, b.users+min(latest, b.latest)) + b.lists + b.keys + b.index + b.turns + b.prose + frameTokens
}

// shrink leaves next to nothing, but for the user's latest message and what a model said.
func (b budgets) shrink() budgets {
	const share = 5
	b.users, b.lists, b.keys = b.users/share, b.lists/share, b.keys/share
	b.index, b.turns = b.index/share, b.turns/share
	return b
}
