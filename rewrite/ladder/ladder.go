// Package ladder decides what a request leaves out. Its steps stand in one list, the cheapest first; those that lose more
// act only where the others leave too much:
//
//	offload    new results over their limits become excerpts                    offload.go
//	stale      results that a later call made outdated become stubs             clear.go
//	filters    the messages that the user never wants to be sent                filter.go
//	clear      old results become stubs, all in one batch                       clear.go
//	compact    old turns become a summary, within a budget                      compact.go, budget.go
//	pictures   the oldest pictures go                                           pictures.go
//
// and after a refusal the stages of a rescue (rescue.go), and the mends of pairs and of thinking (mend.go). What is taken
// out is named by artifact.go; the steps write the text in its place.
//
// A step is a function of what is known of the request (Known) and of the plan so far (Plan). It does no I/O except by
// Artifacts and by the functions of Model. A step that fails is left out alone. The newest groups, results that the
// model has not seen yet and the user's words go last.
package ladder

import (
	"errors"
	"fmt"

	"epitome/dialect/conversation"
	"epitome/event"
	"epitome/rewrite/view"
	"epitome/store"
)

// Plan is how a request is to be sent, and what was noticed when that was decided.
type Plan struct {
	View       view.View
	Reason     event.Code        // why nothing more was done
	Goal       int               // tokens to which the compaction that the client asked for brings it; 0: it did not ask
	Compaction *event.Compaction // that was made or tried
	Stage      Stage             // of a rescue
	MayDrop    bool              // the request does not fit otherwise: results that Limit.Keep keeps may go, too
	Prepared   int               // as Decision.Prepared: items before the cut of a summary that is made ahead of need
	Pictures   int               // as Decision.Pictures: how many were refused
	NearlyFull int               // messages that would be sent, when they first are four fifths of newest_messages
	Unkept     int               // lines that the user wants kept, but a new summary has no room for
	Faults     error             // of steps that failed and were left out
}

// Begin returns the plan with which a request begins: the edits of the decision, and none that is new.
func (k *Known) Begin() Plan {
	return Plan{View: k.View(k.Before.Edits), Prepared: k.Before.Prepared, Pictures: k.Before.Pictures}
}

// A step takes the plan one step further. It acts on the items that it changes, as far as those may change.
type step struct {
	name    string
	changes reach
	take    func(k *Known, p *Plan)
}

// reach is which items a step changes, each with those before.
type reach uint8

const (
	newItems reach = iota // that were not sent before
	outdated              // and older ones that nobody needs any more, also where the request is small
	anyItems              // all behind the head
)

var steps = []step{
	{"offload", newItems, (*Known).offload},
	{"stale", outdated, (*Known).clearStale},
	{"filters", anyItems, (*Known).filter},
	{"clear", anyItems, (*Known).clearOld},
	{"compact", anyItems, (*Known).compact},
	{"pictures", anyItems, (*Known).leaveOldPictures},
}

// Decide takes the steps. p.Reason says why older items stay as they are.
func (k *Known) Decide(p *Plan) {
	if k.Model.Distill != nil && k.prefixEnd > 0 && k.Request.Upkeep == conversation.NobodyElse {
		defer k.askDistillates(p) // about what is left then
	}
	why := k.whyNothingOlder(p)
	p.Reason = why
	reach := k.reach(why)
	for _, s := range steps {
		if s.changes <= reach {
			p.take(s.name, func() { s.take(k, p) })
		}
	}
	if why != event.NoCode || !k.mayDecideOlder() {
		return
	}
	b := k.Budget(p)
	switch {
	case b.IsCrowded && p.View.Total > b.Most:
		p.Reason = event.CodeOverhead
	case p.View.New > 0 && p.View.Total <= k.Limits.ClearLine && !b.HasRoom(): // the new edits were enough
		p.Reason = event.NoCode
	case k.prefixEnd <= k.Request.Head && b.Trigger != "": // there is only the head, which never changes
		p.Reason = event.CodeNothingOlder
	}
}

// whyNothingOlder returns why no older item may change, and only new results are shortened; NoCode if they may.
func (k *Known) whyNothingOlder(p *Plan) event.Code {
	switch {
	case k.isSmall(p) && k.Limits.Filters.Off():
		return event.CodeFloor
	case k.Request.Upkeep == conversation.ProviderClears: // the provider changes older items by itself
		return event.CodeProviderClears
	case k.Request.Upkeep == conversation.ProviderRemembers: // the provider has older items that the body lacks
		return event.CodeProviderRemembers
	case k.isRoundOpen(&p.View):
		return event.CodeThinkingRound
	}
	return event.NoCode
}

// reach returns which items may change, where older ones may not for a reason.
func (k *Known) reach(why event.Code) reach {
	switch {
	case !k.mayDecideOlder() || why != event.NoCode && why != event.CodeFloor:
		return newItems
	case why == event.CodeFloor || k.prefixEnd <= k.Request.Head:
		return outdated
	}
	return anyItems
}

// take takes a step, which is left out alone if it panics.
func (p *Plan) take(name string, step func()) {
	before := *p
	err := store.Try(func() error { step(); return nil })
	if err != nil {
		*p = before
		p.Faults = errors.Join(p.Faults, fmt.Errorf("the step %s is left out: %w", name, err))
	}
}

// Fail notes that the compaction that was made is not sent.
func (p *Plan) Fail(why error) {
	if c := p.Compaction; c != nil {
		c.Kind, c.Why, c.TokensAfter = event.CompactionFailed, why.Error(), 0
	}
}
