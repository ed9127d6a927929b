package rewrite

import (
	"encoding/hex"
	"fmt"
	"slices"

	"epitome/rewrite/decision"
	"epitome/rewrite/plan"
)

// restoreArtifacts sees to it that what the decided forms speak of is on the shelf; what is not there is taken from the request
// again. A form whose content can be kept nowhere is not used.
func (x *run) restoreArtifacts() (failed error) {
	if !x.renewDecision() {
		return nil
	}
	base := x.plan.Base
	for i, f := range base.Forms {
		if f == nil {
			continue
		}
		x.shaper.deps.Ledger.Touch(x.route.FormKey(f.Name))
		for _, w := range f.KeptArtifacts(x.req, i) {
			if x.shaper.deps.Shelf.Touch(w.Name) {
				continue
			}
			if err := x.shaper.deps.Shelf.Put(w.Name, w.Content, true); err != nil {
				base.DropForm(i)
				x.formLost = true
				failed = fmt.Errorf("cannot keep again what message %d was: %w", x.req.Head+i, err)
				break
			}
		}
	}
	return failed
}

// renewDecision reports whether what hangs on the decision needs a touch, after touching what holds it.
func (x *run) renewDecision() bool {
	base, g := x.plan.Base, x.shaper.deps.Ledger
	if len(base.Lists) == 0 || !g.Touch(x.route.ListKey(base.Lists[len(base.Lists)-1])) {
		return false
	}
	at := x.hist.Chain[base.Depth()]
	g.Touch(decision.DecisionKey(x.route.Id(), at))
	g.Touch(x.route.ConversationKey(at))
	for _, l := range base.Lists[:len(base.Lists)-1] {
		g.Touch(x.route.ListKey(l))
	}
	return true
}

// record makes the decision last: first what was taken out, then the forms, then the decision itself. If an equal request
// was faster, its decision holds.
func (x *run) record() error {
	p := x.plan
	for _, w := range plan.NeededArtifacts(p) {
		if err := x.shaper.deps.Shelf.Put(w.Name, w.Content, p.OverQuota); err != nil {
			return fmt.Errorf("cannot keep what was taken out: %w", err)
		}
	}
	d := &decision.Decision{Forms: p.Forms, Outcomes: p.Ask.Outcomes}
	under := p.Base
	if p.Ask.Rescue != nil && p.Ask.Rescue.Whole { // nothing of what was decided holds any more
		under = &decision.Decision{}
	}
	if err := x.route.Write(x.shaper.deps.Ledger, d, under); err != nil {
		return err
	}
	r := &x.out.Report
	r.Decided, r.Changes, r.Broke, r.Stage = len(p.ChangesMade) > 0, p.Changes(), p.Broke, p.Ask.Stage
	if p.Ask.Rescue != nil {
		x.out.Settle = func() { x.settle(d) }
		return nil
	}
	err := x.remember(d)
	if x.recorded == nil || x.adopted {
		r.Decided, r.Changes, r.Broke = false, nil, false
	}
	return err
}

// remember records the decision under the prefix up to the last item that stays where it is, and under the whole one. As
// soon as one is recorded, it is what the request falls back to.
func (x *run) remember(d *decision.Decision) error {
	p, base, all := x.plan, x.plan.Base, x.hist.Len()
	ends := []int{all}
	if n := p.End; n > 0 && n < all && (n > base.Depth() || base.Version == 0 || p.Ask.MayOverwrite()) {
		ends = []int{n, all}
	}
	for _, n := range ends {
		mine := &decision.Decision{Forms: make([]*decision.Form, n), Lists: d.Lists, Outcomes: d.Outcomes}
		copy(mine.Forms, d.Forms)
		standing, err := x.put(mine)
		if err != nil {
			return err
		}
		x.recorded, p.Base, d = standing, standing, standing
		if standing != mine {
			x.adopt()
		}
	}
	return nil
}

// noteStanding notes what stands for the request, if another decision is asked for: before anything is read, so that nothing newer is
// replaced.
func (x *run) noteStanding() {
	if !x.plan.Ask.MayOverwrite() {
		return
	}
	x.standingVersions = map[int]uint64{}
	for _, n := range []int{x.plan.End, x.hist.Len()} {
		_, x.standingVersions[n], _ = x.shaper.deps.Ledger.Get(decision.DecisionKey(x.route.Id(), x.hist.Chain[n]))
	}
}

// put records the decision, and returns what stands then: the decision itself, or one that was faster. What was decided before
// stands, unless the client asked for another decision; then that takes the place of what stood, and of nothing newer.
func (x *run) put(d *decision.Decision) (standing *decision.Decision, err error) {
	key := decision.DecisionKey(x.route.Id(), x.hist.Chain[d.Depth()])
	value := d.Record()
	now, version, err := x.shaper.deps.Ledger.Add(key, value)
	if err != nil {
		return nil, fmt.Errorf("cannot record a decision: %w", err)
	}
	if string(now) == string(value) {
		d.Version = version
		return d, nil
	}
	if x.plan.Ask.MayOverwrite() && version == x.standingVersions[d.Depth()] {
		_, swapped, done, err := x.shaper.deps.Ledger.Swap(key, version, value)
		if err != nil {
			return nil, fmt.Errorf("cannot record another decision: %w", err)
		}
		if d.Version = swapped; done {
			return d, nil
		}
	}
	standing, ok := x.route.LoadDecision(x.shaper.deps.Ledger, key)
	if !ok || standing.Depth() != d.Depth() {
		return nil, fmt.Errorf("cannot read the decision that stands for this request")
	}
	return standing, nil
}

// adopt takes the form in which an equal request was sent.
func (x *run) adopt() {
	x.adopted, x.plan.Forms, x.plan.ChangesMade = true, x.baseForms(), nil
	clear(x.plan.NewForms)
	x.out.Report.Reason = "an equal request was decided at the same time"
}

// nameConversation finds out which conversation the request belongs to, and notes that this prefix does.
func (x *run) nameConversation() (err error) {
	if x.name, err = x.conversationOf(); err != nil {
		return err
	}
	x.out.Report.Conversation = hex.EncodeToString(x.name[:8])
	return nil
}

func (x *run) conversationOf() (decision.Ref, error) {
	chain, end := x.hist.Chain, x.plan.End
	from, name := x.knownName(end)
	switch {
	case from == end && from > 0:
		return name, nil
	case from == 0:
		name = decision.RefOf(x.in.Scope, string(chain[len(chain)-1][:]))
	default:
		// The first to go on from here is the conversation; whoever goes on otherwise has left it.
		next, _, err := x.shaper.deps.Ledger.Add(x.route.NextKey(chain[from]), chain[from+1][:])
		if err != nil {
			return decision.Ref{}, fmt.Errorf("cannot record how a conversation goes on: %w", err)
		}
		if string(next) != string(chain[from+1][:]) {
			name = decision.RefOf(string(name[:]), string(chain[from+1][:]))
		}
	}
	record := decision.Identity{Name: name, Lane: x.route.Id()}.Record()
	for _, i := range slices.Compact([]int{end, len(chain) - 1}) {
		if _, _, err := x.shaper.deps.Ledger.Add(x.route.ConversationKey(chain[i]), record); err != nil {
			return decision.Ref{}, fmt.Errorf("cannot record which conversation a request belongs to: %w", err)
		}
	}
	return name, nil
}

// knownName is the longest prefix of at most end items whose conversation is known, and its name; no items if none is.
func (x *run) knownName(end int) (items int, name decision.Ref) {
	if x.past != nil {
		items, name = x.past.len(), x.past.name
	}
	for i := end; i > items; i-- {
		if value, _, found := x.shaper.deps.Ledger.Get(x.route.ConversationKey(x.hist.Chain[i])); found {
			if c, err := decision.ReadIdentity(value); err == nil {
				return i, c.Name
			}
		}
	}
	return items, name
}
