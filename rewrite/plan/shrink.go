package plan

import (
	"sort"

	"epitome/event"
	"epitome/rewrite/decision"
	"epitome/rewrite/history"
	"epitome/rewrite/limits"
	"epitome/rewrite/shorten"
)

// StubTokens is about what a stub takes beside the lines that it shows.
const StubTokens = 150

// IsShrinkable reports whether the result may be cut hard.
func IsShrinkable(p *Plan, res *history.Result) bool {
	f := p.Forms[res.Item]
	return (f == nil || !f.Gone && f.Fold == 0) && !IsUntouchable(p, res)
}

// Level returns to how many tokens the largest of the results must come down so that all together are large tokens
// less; 0 if nothing may be left of them.
func Level(p *Plan, list []*history.Result, large int) int {
	sum := func(keep int) (n int) {
		for _, res := range list {
			n += min(p.SentSize(res.Item), keep)
		}
		return n
	}
	most := 0
	for _, res := range list {
		most = max(most, p.SentSize(res.Item))
	}
	room := sum(most) - large
	return max(sort.Search(most+1, func(keep int) bool { return sum(keep) > room })-1, 0)
}

// ShrinkResult cuts a result to about keep tokens and a stub, or to the stub alone, if that may be all that is shown of
// it. It says how many tokens that has freed.
func ShrinkResult(p *Plan, res *history.Result, keep int) (freed int) {
	full := Why{Code: event.CodeCut, Words: "the window is full"}
	f := shrunkForm(p, res, max(keep, 0))
	if f == nil || p.SentSize(res.Item)-f.Now < limits.LeastSaving {
		if MustBeShown(p, res) {
			return 0
		}
		f = StubOf(p, res, full.Words)
		f.Rung = decision.RungCompact
	}
	if freed = p.SentSize(res.Item) - f.Now; freed < limits.LeastSaving {
		return 0
	}
	p.Set(res.Item, f, full)
	return freed
}

// shrunkForm returns the form of a result with about keep tokens of its lines; nil if none can be shown.
func shrunkForm(p *Plan, res *history.Result, keep int) *decision.Form {
	list, tokens := p.Passages(res.Item)
	f := &decision.Form{Rung: decision.RungCompact, Now: p.Hist.Sizes[res.Item]}
	for _, w := range list {
		c := Shortening{Plan: p, Result: res, Passage: w,
			Keep: int(int64(keep) * int64(w.Tokens) / int64(max(tokens, 1)))}
		if c.Keep == 0 || p.Marked(w.Text) {
			return nil
		}
		screen, isScreen := shorten.FinalScreen(w.Text)
		if text := c.excerpt(screen, isScreen); text != "" {
			f.Patches = append(f.Patches, decision.Patch{Place: w.Place, Index: w.Index, Text: text, Artifact: c.Name,
				Readable: c.Readable})
			f.Now -= w.Spent - p.CountAsItem(text, res.Item)
		}
	}
	if len(f.Patches) == 0 {
		return nil
	}
	return f
}

// Tokens that are left of results when they are cut hard: some 4 000 and 500 characters.
const ShortTokens, ShorterTokens = 1_100, 140

// FitResults cuts results hard, the oldest first and those that the model has not seen yet last, until the request
// fits: into what is usable, or where that cannot be reached, into the window. It leaves all as it is where that could
// not help.
func FitResults(p *Plan) {
	total, most := p.Total(), 0
	for k := range p.Hist.Results {
		if res := &p.Hist.Results[k]; IsShrinkable(p, res) {
			most += max(0, p.SentSize(res.Item)-StubTokens)
		}
	}
	room := Room(p, total-most)
	if total-most > room && float64(most) < decision.LeastGain*float64(total) {
		return
	}
	ShrinkResults(p, ShortTokens, room)
	ShrinkResults(p, ShorterTokens, room)
	shrinkUnseen(p, room)
}

// ShrinkResults cuts results to keep tokens, the oldest first, and those that are spent even shorter, until the request
// has no more than room. What must be shown stays as it is.
func ShrinkResults(p *Plan, keep, room int) {
	over := p.Total() - room
	for k := range p.Hist.Results {
		if over <= 0 {
			return
		}
		res, left := &p.Hist.Results[k], keep
		if p.Case.Rescue != nil && res.SpentBy > 0 {
			left = ShorterTokens
		}
		if IsShrinkable(p, res) && !MustBeShown(p, res) && p.SentSize(res.Item) > left+StubTokens {
			over -= ShrinkResult(p, res, left)
		}
	}
}

// shrinkUnseen cuts the largest of the results that must be shown, until the request has no more than room. Something
// stays of each.
func shrinkUnseen(p *Plan, room int) {
	var list []*history.Result
	for k := len(p.Hist.Results) - 1; k >= 0 && MustBeShown(p, &p.Hist.Results[k]); k-- {
		if res := &p.Hist.Results[k]; IsShrinkable(p, res) {
			list = append(list, res)
		}
	}
	slack := StubTokens
	for range 3 { // what stands in the place of the rest may take more than was thought
		over := p.Total() - room
		if over <= 0 || len(list) == 0 {
			return
		}
		level := max(Level(p, list, over), ShorterTokens+StubTokens)
		for _, res := range list {
			if p.SentSize(res.Item) > level {
				ShrinkResult(p, res, level-slack)
			}
		}
		slack += StubTokens
	}
}
