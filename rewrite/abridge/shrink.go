package abridge

import (
	"epitome/rewrite/decision"
	"epitome/rewrite/history"
	"epitome/rewrite/limits"
	"epitome/rewrite/plan"
	"epitome/rewrite/shorten"
)

// StubTokens is about what a stub takes beside the lines that it shows.
const StubTokens = 150

// IsShrinkable reports whether the result may be cut hard.
func IsShrinkable(p *plan.Plan, res *history.Result) bool {
	f := p.Forms[res.Item]
	return (f == nil || !f.Gone && f.Fold == 0) && !plan.IsUntouchable(p, res)
}

// ShrinkResult cuts a result to about keep tokens and a stub, or to the stub alone. It says how many tokens that has
// freed.
func ShrinkResult(p *plan.Plan, res *history.Result, keep int) (freed int) {
	f := shrunkForm(p, res, max(keep, 0))
	if f == nil || p.SentSize(res.Item)-f.Now < limits.LeastSaving {
		f = plan.StubOf(p, res, "the window is full")
		f.Rung = decision.RungCompact
	}
	if freed = p.SentSize(res.Item) - f.Now; freed < limits.LeastSaving {
		return 0
	}
	p.Set(res.Item, f, "the window is full")
	return freed
}

// shrunkForm returns the form of a result with about keep tokens of its lines; nil if none can be shown.
func shrunkForm(p *plan.Plan, res *history.Result, keep int) *decision.Form {
	list, tokens := p.Passages(res.Item)
	f := &decision.Form{Rung: decision.RungCompact, Now: p.Hist.Sizes[res.Item]}
	for _, w := range list {
		c := Shortening{Plan: p, Result: res, Passage: w,
			Keep: int(int64(keep) * int64(w.Tokens) / int64(max(tokens, 1)))}
		if c.Keep == 0 || p.Marked(w.Text) {
			return nil
		}
		shown, of := w.Text, ""
		if s, changed := shorten.FinalScreen(w.Text); changed {
			shown, of = s, " of the final screen"
		}
		if text, _ := c.excerpt(shown, of); text != "" {
			f.Patches = append(f.Patches, decision.Patch{Place: w.Place, Index: w.Index, Text: text, Artifact: c.Name,
				Spelling: c.Spelling})
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

// FitResults cuts results hard, the oldest first, until the request fits. It leaves all as it is where that could not
// help.
func FitResults(p *plan.Plan) {
	over, most := p.Total()-p.Limits.Usable, 0
	for k := range p.Hist.Results {
		if res := &p.Hist.Results[k]; IsShrinkable(p, res) {
			most += max(0, p.SentSize(res.Item)-StubTokens)
		}
	}
	if most < over && float64(most) < decision.LeastGain*float64(p.Total()) {
		return
	}
	ShrinkResults(p, ShortTokens)
	ShrinkResults(p, ShorterTokens)
}

// ShrinkResults cuts results to so many tokens, the oldest first, and those that are spent even shorter, until the
// request fits.
func ShrinkResults(p *plan.Plan, keep int) {
	over := p.Total() - p.Limits.Usable
	for k := range p.Hist.Results {
		if over <= 0 {
			return
		}
		res, left := &p.Hist.Results[k], keep
		if p.Case.Rescue != nil && res.SpentBy > 0 {
			left = ShorterTokens
		}
		if IsShrinkable(p, res) && p.SentSize(res.Item) > left+StubTokens {
			over -= ShrinkResult(p, res, left)
		}
	}
}
