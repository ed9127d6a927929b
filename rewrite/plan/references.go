package plan

import (
	"slices"

	"epitome/event"
	"epitome/rewrite/decision"
)

// RestoreReferences sends all results whole that refer to one of the items from from to to, which nobody sees any more.
func RestoreReferences(p *Plan, from, to int) { ReferencesOf(p).LeaveOut(from, to) }

// References are the results of a plan that refer to other items, while those are left out one run after the other.
type References struct {
	plan *Plan
	by   map[int][]int // the results that refer to an item, by their numbers
}

// ReferencesOf are those of the plan as it stands.
func ReferencesOf(p *Plan) *References {
	r := &References{plan: p, by: map[int][]int{}}
	for k := range p.Hist.Results {
		for _, i := range ReferredBy(p, &p.Hist.Results[k]) {
			r.by[i] = append(r.by[i], k)
		}
	}
	return r
}

// LeaveOut restores all that refer to one of the items from from to to, which are left out by now.
func (r *References) LeaveOut(from, to int) {
	var all []int // results that may be such
	for i := from; i < to; i++ {
		all = append(all, r.by[i]...)
	}
	slices.Sort(all)
	p := r.plan
	for _, k := range slices.Compact(all) {
		res := &p.Hist.Results[k]
		if !slices.ContainsFunc(ReferredBy(p, res), func(i int) bool { return from <= i && i < to }) {
			continue
		}
		p.Set(res.Item, &decision.Form{Rung: decision.RungOffload, Now: p.Hist.Sizes[res.Item]},
			Why{event.CodeWholeAgain, "what it referred to is left out"})
	}
}
