package ladder

import (
	"fmt"
	"slices"

	"epitome/event"
	"epitome/rewrite/conversation"
	"epitome/rewrite/decision"
	"epitome/rewrite/limits"
	"epitome/rewrite/plan"
)

// leaving puts messages in the place of many runs of a plan, one run after the other. It writes nothing that may not
// stand, so that nothing is to be undone.
type leaving struct {
	plan    *plan.Plan
	order   *plan.Sequence
	largest int // tokens of a message, so far
}

// leavingOut begins it.
func leavingOut(p *plan.Plan) *leaving {
	return &leaving{plan: p, order: plan.SequenceOf(p)}
}

// fold puts the message of a form in the place of the items that it is for, from item from on, and reports whether it
// may stand there.
func (l *leaving) fold(from int, f *decision.Form, why plan.Why) bool {
	p, to := l.plan, from+f.Fold
	if !l.order.Stands(from, to, f.With) {
		return false
	}
	p.Set(from, f, why)
	for i := from + 1; i < to; i++ {
		p.Forms[i] = &decision.Form{Rung: decision.RungClear, Gone: true, Whole: p.Hist.Sizes[i], First: p.FirstSize(i)}
	}
	return true
}

// outcome is what became of a run that was to be folded.
type outcome int

const (
	folded     outcome = iota
	savesFew           // what would be left of it takes as much, or nearly
	outOfOrder         // no message may stand there
)

// oldest puts one message in the place of items from to to, which are older than what is to be sent.
func (l *leaving) oldest(from, to int) outcome {
	p := l.plan
	name := p.Shelf.Name(p.Route.Scope, p.Req.BytesOf(from, to-from))
	role := conversation.Assistant // behind the user's first message, which templates want to be answered
	if to < p.Hist.Len() && p.Req.Items[p.Req.Head+to].Role == conversation.Assistant || from == 0 {
		role = conversation.User
	}
	text := fmt.Sprintf("%s%d earlier messages left out. %s]", plan.Mark,
		conversation.MessagesIn(p.Req, p.Req.Head+from, to-from), p.Advice(name, spanContent(p, from, to)))
	is := savesFew
	for _, role := range [...]conversation.Role{role, conversation.User + conversation.Assistant - role} {
		f := foldForm(p, from, to, message{role, text, name})
		if f == nil {
			continue
		}
		f.Oldest, l.largest = true, max(l.largest, f.Now)
		if l.fold(from, f, plan.Why{Code: event.CodeOldest, Words: "older than what is to be sent"}) {
			return folded
		}
		is = outOfOrder
	}
	return is
}

// ranged are items that are left out but for some, in as few runs as there may be.
type ranged struct {
	plan    *plan.Plan
	all     conversation.Group
	callers []int         // of each item, the item whose call it answers; -1 if it answers none
	results map[int][]int // of each item, those that answer its calls
	stays   []bool
	added   []int // items that stay since keepPairs has looked at them
	least   int   // tokens of a run that has come to be so small that it stays; 0 if that is found out by trying it
}

// mostRounds is how often a range is left out anew because something must stay that was left out. What one round makes
// stay may leave too little of a run in the next one, and so on: behind the last but one no run is tried of which that
// is to be feared.
const mostRounds = 5

// foldRange leaves out all items of a range but what is kept in place, and what that needs beside it.
func foldRange(p *plan.Plan, all conversation.Group) {
	r := &ranged{plan: p, all: all, callers: p.Req.Callers(), results: map[int][]int{},
		stays: make([]bool, p.Hist.Len())}
	for i, at := range r.callers {
		if at >= 0 {
			r.results[at] = append(r.results[at], i)
		}
	}
	for i := range r.stays {
		if i >= all.End || i >= all.First && plan.IsKeptInPlace(p, i) {
			r.keep(i)
		}
	}
	for i := all.First; i < all.End; i++ {
		r.keepIfAlone(i)
	}
	r.keepPairs()
	for round := 1; round <= mostRounds; round++ {
		before, l := p.Checkpoint(), leavingOut(p)
		r.foldRuns(l)
		if !slices.ContainsFunc(r.added, func(i int) bool { return slices.ContainsFunc(r.pairsOf(i), r.isOut) }) {
			return
		}
		p.Undo(before)
		if round == mostRounds-1 {
			r.least = limits.LeastSaving + l.largest
		}
		r.keepPairs()
	}
}

// keep has item i stay.
func (r *ranged) keep(i int) {
	if !r.stays[i] {
		r.stays[i] = true
		r.added = append(r.added, i)
	}
}

// isOut reports whether item i is one of the range that does not stay.
func (r *ranged) isOut(i int) bool { return i >= r.all.First && i < r.all.End && !r.stays[i] }

// keepIfAlone has item i stay if both stay between which it stands: nothing is won by a message in its place.
func (r *ranged) keepIfAlone(i int) {
	if r.isOut(i) && !r.isOut(i-1) && !r.isOut(i+1) && foldedFrom(r.plan, i) == 0 {
		r.keep(i)
	}
}

// pairsOf are the items whose calls item i answers, or that answer its own.
func (r *ranged) pairsOf(i int) []int {
	pairs := r.results[i]
	if at := r.callers[i]; at >= 0 {
		pairs = append(pairs[:len(pairs):len(pairs)], at)
	}
	return pairs
}

// keepPairs has all stay that would be alone without what stays by now: an item between two that stay, and what calls
// or answers another.
func (r *ranged) keepPairs() {
	for len(r.added) > 0 {
		i := r.added[len(r.added)-1]
		r.added = r.added[:len(r.added)-1]
		for _, k := range r.pairsOf(i) {
			if r.isOut(k) {
				r.keep(k)
			}
		}
		for _, step := range [...]int{-1, 1} {
			r.keepIfAlone(i + step)
			r.keepIfSmall(i, step)
		}
	}
}

// keepIfSmall has the run stay that stands before item i, or behind it, if it has too few tokens.
func (r *ranged) keepIfSmall(i, step int) {
	tokens, end := 0, i+step
	for ; r.isOut(end) && tokens < r.least; end += step {
		if f := r.plan.Forms[end]; f != nil && (f.Gone || f.Fold > 0) {
			return
		}
		tokens += r.plan.SentSize(end)
	}
	if tokens >= r.least {
		return
	}
	for k := i + step; k != end; k += step {
		r.keep(k)
	}
}

// foldRuns leaves out what does not stay. What cannot be left out stays from now on.
func (r *ranged) foldRuns(l *leaving) {
	for start := r.all.First; start < r.all.End; start++ {
		end := start
		for r.isOut(end) {
			end++
		}
		if end > start {
			for i := r.foldRun(l, start, end); i < end; i++ {
				r.keep(i)
			}
		}
		start = end
	}
}

// foldRun leaves out the items from start to end, or if no message may stand for all of them, those before the last
// ones, and returns the first that it does not.
func (r *ranged) foldRun(l *leaving, start, end int) int {
	const tries = 4
	for to, n := end, 0; n < tries && to > start+1; n++ {
		if foldedFrom(r.plan, start) >= to-start {
			return to
		}
		switch l.oldest(start, to) {
		case folded:
			return to
		case savesFew:
			return start
		}
		to = r.cutBefore(start, to)
	}
	return start
}

// cutBefore is the last item before item to at which a run that begins at start may be cut: a message begins there, no
// call is parted from its result, and nothing behind it was left out before.
func (r *ranged) cutBefore(start, to int) int {
	called := to
	for i := to - 1; i > start; i-- {
		if f := r.plan.Forms[i]; f != nil && (f.Gone || f.Fold > 0) {
			break
		}
		if at := r.callers[i]; at >= start {
			called = min(called, at)
		}
		if i <= called && !conversation.SameMessage(r.plan.Req, r.plan.Req.Head+i) {
			return i
		}
	}
	return start
}
