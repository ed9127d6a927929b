package ladder

import (
	"slices"

	"epitome/rewrite/history"
	"epitome/rewrite/limits"
	"epitome/rewrite/plan"
)

// maturity says of a result at which request, counted in assistant's messages, it became clearable, and whether that is
// because it is spent.
type maturity struct {
	since int
	spent bool
}

// clearableSince says it of each result. One to which others refer is no older than they are: what they say stands only
// there.
func clearableSince(p *plan.Plan) []maturity {
	aged, held := agedSince(p), make([]int, len(p.Hist.Results))
	list := make([]maturity, len(aged))
	for k := len(list) - 1; k >= 0; k-- {
		res, spent := &p.Hist.Results[k], spentSince(p, k)
		list[k] = maturity{max(min(aged[k], spent), held[k]), spent < aged[k]}
		since := list[k].since
		if res.Item >= p.End || plan.IsUntouchable(p, res) || plan.MustBeShown(p, res) {
			since = plan.Never
		}
		for _, i := range plan.ReferredBy(p, res) {
			held[p.Hist.ResultAt[i]] = max(held[p.Hist.ResultAt[i]], since)
		}
	}
	return list
}

// agedSince says for each result at which request, counted in assistant's messages, it had become old: outside of the
// newest tokens and of the newest groups.
func agedSince(p *plan.Plan) []int {
	h := p.Hist
	at := make([]int, len(h.Results))
	sum := 0
	for end, k := 0, 0; k < len(h.Results); k++ {
		for end < len(h.Results) && sum <= p.Limits.Protect {
			sum += p.FirstSize(h.Results[end].Item)
			end++
		}
		at[k] = plan.Never
		if sum > p.Limits.Protect {
			at[k] = max(h.Answers[h.Results[end-1].Item], h.Answers[h.Results[k].Item]+p.Limits.Age)
		}
		sum -= p.FirstSize(h.Results[k].Item)
		end = max(end, k+1)
	}
	return at
}

// spentSince is the request at which a result was both spent and of an age.
func spentSince(p *plan.Plan, k int) int {
	res := &p.Hist.Results[k]
	if res.SpentBy == 0 || res.SpentBy >= p.End {
		return plan.Never
	}
	// What spent it shows it only by reference.
	if f := p.Forms[res.SpentBy]; f != nil && slices.Contains(f.Refers, res.Item) {
		return plan.Never
	}
	return max(p.Hist.Answers[res.SpentBy], p.Hist.Answers[res.Item]+limits.SpentGroups)
}

// refersTo reports whether a result refers to one of the items as it is sent.
func refersTo(p *plan.Plan, res *history.Result, items map[int]bool) bool {
	return slices.ContainsFunc(plan.ReferredBy(p, res), func(i int) bool { return items[i] })
}

// withoutStrays is a list without results that would follow others which are not on it.
func withoutStrays(p *plan.Plan, list []candidate) (all []candidate) {
	cleared := map[int]bool{}
	for _, c := range list {
		if !c.follows || refersTo(p, c.result, cleared) {
			cleared[c.item] = true
			all = append(all, c)
		}
	}
	return all
}
