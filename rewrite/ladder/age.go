package ladder

import (
	"epitome/rewrite/limits"
	"epitome/rewrite/plan"
)

// maturity says of a result at which request, counted in assistant's messages, it became clearable, and whether that is
// because it is spent.
type maturity struct {
	since int
	spent bool
}

// clearableSince says it of each result.
func clearableSince(p *plan.Plan) []maturity {
	aged := agedSince(p)
	list := make([]maturity, len(aged))
	for k := range list {
		spent := spentSince(p, k)
		list[k] = maturity{min(aged[k], spent), spent < aged[k]}
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
	return max(p.Hist.Answers[res.SpentBy], p.Hist.Answers[res.Item]+limits.SpentGroups)
}
