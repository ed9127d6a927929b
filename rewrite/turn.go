package rewrite

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"epitome/rewrite/conversation"
	"epitome/rewrite/decision"
	"epitome/rewrite/plan"
	"epitome/rewrite/seen"
)

// takeTurn has the request ask the ledger together, where others share it.
func takeTurn(x *run) {
	l := &x.shaper.deps
	route := decision.Route{Scope: x.in.Scope, Dialect: x.in.Dialect.Key()}
	if shared, far := l.Ledger.(decision.Turns); far {
		x.tag = route.Tag(x.hist.Chain)
		x.turn = shared.Turn(x.tag)
		x.ledger = x.turn
	}
}

// readAhead reads together what is known of the request's prefixes, where each question costs time.
func readAhead(x *run) {
	if x.turn == nil {
		return
	}
	p, chain := x.plan, x.hist.Chain
	least := 0
	if x.past != nil && x.past.route == p.Route {
		least = x.past.Len()
	}
	links := append([]conversation.Link(nil), chain[max(least, len(chain)-decision.FirstLinks):]...)
	if least > 0 && least < len(chain)-decision.FirstLinks {
		links = append(links, chain[least])
	}
	keys := decision.KeysAt(p.Route, links)
	if l := x.in.Limits; x.past != nil && (l.WarnAt > 0 || l.CutoverAt > 0) {
		keys = append(keys, p.Route.BudgetKey(x.past.name))
	}
	if opening, key := additionKeys(x); key != "" && (x.past == nil || x.past.added != nil || !isIn(x, nil)) {
		keys = append(keys, opening, key)
	}
	x.turn.Read(append(keys, decision.BoundKey(x.in.Upstream, x.req.Model)))
}

// standingOf is the decision by which what is known was sent, if it stands still. Where the ledger has lost it, it is
// put there again: nobody else knows what was sent.
func standingOf(x *run) *decision.Decision {
	p := x.plan
	d := x.past.decisionOn(x.ledger, p.Route, x.hist.Chain)
	if d == nil || x.turn == nil || x.in.Replay || x.turn.Failure() != nil {
		return d
	}
	at := x.hist.Chain[d.Depth()]
	if _, _, found := x.turn.Get(decision.DecisionKey(p.Route.ID(), at)); found {
		return d
	}
	return decision.Repair(p.Route, x.turn, d, at)
}

// noteSentUnrecorded notes what was sent from here by a decision of which nobody knew whether it was recorded, if
// another one stands now: who goes on in that one's forms has changed what was sent.
func noteSentUnrecorded(x *run) {
	p := x.plan
	if x.turn == nil || x.past == nil || x.past.route != p.Route || x.log.standing != nil ||
		x.past.decision.Version != 0 {
		return
	}
	p.Sheet.Sent = slices.Clone(p.Sheet.Sent)
	copy(p.Sheet.Sent, x.past.decision.Forms)
	p.Sheet.Broke = plan.FirstChanged(p) != plan.Never
}

// beginAnew has nothing of what was decided hold: the request cannot go on from it.
func beginAnew(x *run) {
	p := x.plan
	p.Base, x.log.deadEnd = &decision.Decision{}, true
	p.Forms, p.Result.Outcomes, p.Case.CacheExpired = plan.BaseForms(p), nil, cacheExpired(x)
	p.Sheet.NoteBase(nil)
}

// noteLost is why nothing may be decided: it is not known what was. The request goes on in the form that is remembered
// here, or as it came, as it would on any other machine. A refused request is helped all the same, in memory alone.
func noteLost(x *run) error {
	if x.turn == nil || x.turn.Failure() == nil {
		return nil
	}
	p := x.plan
	if p.Base = (&decision.Decision{}); x.past != nil && x.past.route == p.Route {
		p.Base, x.name = x.past.decision, x.past.name
		x.out.Report.Conversation, p.Told.Conversation = idOf(x.name), idOf(x.name)
	}
	if x.in.Rescue != nil {
		x.log.unsure = true
		return nil
	}
	p.Forms = plan.BaseForms(p)
	return fmt.Errorf("nothing is decided while it is not known what was: %w", x.turn.Failure())
}

// putBack remembers what was known before, when nothing could be decided. What is new was sent whole.
func putBack(x *run) {
	if x.turn == nil || x.turn.Failure() == nil || x.past == nil || x.req == nil {
		return
	}
	known, head, n := *x.past, x.req.Head, x.past.Len()
	x.hist.Truncate(x.req, n)
	known.Items, known.Head, known.hist, known.Asked = x.req.Items[:head+n], head, x.hist, x.in.Now
	known.From = known.Items[head].Place().Start
	end := conversation.Extent(x.req, head+n-1)
	known.Marks = seen.MarksIn(x.req, known.From, end)
	keepKnown(x, &known, x.in.Body[known.From:end])
}

// pausedElsewhere reports whether nobody has sent the conversation for so long, on this machine or another one. Where
// the moment is not known, it has not paused: what the provider may still remember is left as it is.
func pausedElsewhere(x *run, life time.Duration) bool {
	base := x.plan.Base
	if base.Depth() == 0 {
		return false
	}
	last, found := x.turn.Stamped(x.plan.Route.AskedKey(x.hist.Chain[base.Depth()]))
	if x.past != nil && x.past.Asked.After(last) { // what was noted may be lost
		last = x.past.Asked
	}
	return found && x.in.Now.Round(0).Sub(last) > life
}

// stamp notes when the conversation was sent, for those who go on with it elsewhere.
func stamp(x *run) {
	if x.turn == nil || x.in.Limits.CacheLife == 0 || x.in.Now.IsZero() || x.in.Replay {
		return
	}
	chain := x.hist.Chain
	for i, n := range []int{x.plan.End, len(chain) - 1} {
		if i == 0 || n != x.plan.End {
			x.turn.Stamp(x.plan.Route.AskedKey(chain[n]), x.in.Now)
		}
	}
}

// unlessTied writes, and does so once more if another request was faster to go on from where this one does.
func unlessTied(x *run, write func() error) error {
	err := write()
	if errors.Is(err, decision.ErrTie) {
		if err = errors.Join(retake(x), x.nameConversation()); err == nil {
			err = write()
		}
	}
	return err
}
