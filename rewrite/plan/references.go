package plan

import (
	"slices"

	"epitome/event"
	"epitome/rewrite/decision"
	"epitome/rewrite/history"
)

// RestoreReferences sends all results whole that refer to one of the items from from to to, which nobody sees any more.
// One that a list there told of has a stub of its own again, and so have all of a list that lacks one of them.
func RestoreReferences(p *Plan, from, to int) { ReferencesOf(p).LeaveOut(from, to) }

// References are the results of a plan that refer to other items, while those are left out one run after the other.
type References struct {
	plan   *Plan
	by     map[int][]int // the results that refer to an item, by their numbers
	list   map[int]int   // of each item that a list tells of, the item with the list
	told   map[int]int   // of each item with a list, how many items are there that it tells of
	broken map[int]bool  // items with a list that names others too: their artifacts would not be put again
}

// ReferencesOf are those of the plan as it stands.
func ReferencesOf(p *Plan) *References {
	r := &References{plan: p, by: map[int][]int{}, list: map[int]int{}, told: map[int]int{}, broken: map[int]bool{}}
	for k := range p.Hist.Results {
		item := p.Hist.Results[k].Item
		if p.Forms[item] == nil {
			continue
		}
		for _, i := range p.Forms[item].Refers {
			r.by[i] = append(r.by[i], k)
		}
		if IsListed(p, item) {
			r.list[item] = p.Forms[item].Refers[0]
			r.told[r.list[item]]++
		}
	}
	for k := range p.Hist.Results {
		r.noteBroken(p.Hist.Results[k].Item)
	}
	return r
}

// noteBroken notes whether item i has a list that names more items than refer to it.
func (r *References) noteBroken(i int) {
	if f := r.plan.Forms[i]; f != nil && len(f.Lists) > r.told[i] {
		r.broken[i] = true
	}
}

// LeaveOut restores all that refer to one of the items from from to to, which are left out by now.
func (r *References) LeaveOut(from, to int) {
	var all []int // results that may be such
	for i := from; i < to; i++ {
		all = append(all, r.by[i]...)
		if first, ok := r.list[i]; ok {
			r.told[first]--
			delete(r.list, i)
			r.noteBroken(first)
		}
	}
	for i := range r.broken {
		all = append(append(all, r.by[i]...), r.plan.Hist.ResultAt[i])
	}
	slices.Sort(all)
	for _, k := range slices.Compact(all) {
		r.restore(&r.plan.Hist.Results[k], func(i int) bool { return from <= i && i < to || r.broken[i] })
	}
	clear(r.broken)
}

// restore restores a result if what it refers to is left out, or the list in its place is broken.
func (r *References) restore(res *history.Result, isLeftOut func(i int) bool) {
	p, f := r.plan, r.plan.Forms[res.Item]
	if f == nil || !r.broken[res.Item] && !slices.ContainsFunc(f.Refers, isLeftOut) {
		return
	}
	delete(r.list, res.Item)
	switch f.Rung {
	case decision.RungOffload:
		p.Set(res.Item, &decision.Form{Rung: decision.RungOffload, Now: p.Hist.Sizes[res.Item]},
			Why{event.CodeWholeAgain, "what it referred to is left out"})
	case decision.RungClear:
		why := whyCleared(res, f.Why)
		p.Set(res.Item, StubOf(p, res, why.Words), why)
	}
}
