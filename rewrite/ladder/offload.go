package ladder

import (
	"sort"

	"epitome/rewrite/activity"
	"epitome/rewrite/decision"
	"epitome/rewrite/history"
	"epitome/rewrite/limits"
	"epitome/rewrite/plan"
)

// OffloadArrivals is rung 1: results that are sent for the first time are shortened if they are over their limit. When
// late, all that are sent whole are looked at.
func OffloadArrivals(p *plan.Plan) {
	from := 0
	if !p.Case.OverQuota || !p.Decidable() {
		from = sort.Search(len(p.Hist.Results), func(k int) bool { return p.Hist.Results[k].Item >= p.Base.Depth() })
	}
	from = withinReach(p, from)
	thought := -1 // what stands before that cannot change without it
	if from < len(p.Hist.Results) && plan.Binds(p) {
		thought = plan.LastThinking(p)
	}
	for k := from; k < len(p.Hist.Results); k++ {
		res := &p.Hist.Results[k]
		if p.Forms[res.Item] != nil || res.Item < thought {
			continue
		}
		offloadResult(p, res)
	}
}

// mostOffloaded is how many bytes of results one request looks at: the newest, and in any case the last one. Where more
// comes at once, what is older is for the other rungs.
const mostOffloaded = 8 << 20

// withinReach is the first result from one on that is looked at.
func withinReach(p *plan.Plan, from int) int {
	room := mostOffloaded
	for k := len(p.Hist.Results) - 1; k >= from; k-- {
		if room -= plan.CostOf(p, p.Hist.Results[k].Item); room < 0 {
			return min(k+1, len(p.Hist.Results)-1)
		}
	}
	return from
}

func offloadResult(p *plan.Plan, res *history.Result) {
	if plan.IsUntouchable(p, res) || p.Hist.Sizes[res.Item] < limits.LeastShortened {
		return
	}
	limit, keep, recalled := limitOf(p, res)
	list, tokens := p.Passages(res.Item)
	f := &decision.Form{Rung: decision.RungOffload, Now: p.Hist.Sizes[res.Item]}
	why := plan.Why{}
	for _, w := range list {
		if p.Marked(w.Text) && w.Tokens <= p.Limits.Recall { // it was cut before, or shows something that was
			continue
		}
		c := plan.Shortening{Plan: p, Result: res, Passage: w, Limit: limit, Keep: keep, Recalled: recalled}
		if len(list) > 1 { // each has its share
			c.Limit, c.Keep = int(int64(limit)*int64(w.Tokens)/int64(tokens)),
				int(int64(keep)*int64(w.Tokens)/int64(tokens))
		}
		if text, reason, ok := c.Shorten(); ok {
			why = reason
			f.Patches = append(f.Patches, decision.Patch{Place: w.Place, Index: w.Index, Text: text, Artifact: c.Name,
				Readable: c.Readable})
			f.Now -= w.Spent - p.CountAsItem(text, res.Item)
		}
	}
	if len(f.Patches) > 0 {
		p.Set(res.Item, f, why)
	}
}

// limitOf is what a result may have: over limit tokens it keeps keep. recalled is the artifact that it shows; empty if
// it shows none.
func limitOf(p *plan.Plan, res *history.Result) (limit, keep int, recalled string) {
	if recalled = plan.RecalledArtifact(p, res); recalled != "" {
		return p.Limits.Recall, p.Limits.Recall, recalled
	}
	kind := limits.Command
	switch res.Kind {
	case activity.Read:
		kind = limits.Read
	case activity.Search, activity.Fetch:
		kind = limits.Lookup
	}
	limit, keep, _ = p.Limits.LimitOf(res.Tool, kind)
	return limit, keep, ""
}
