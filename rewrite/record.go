package rewrite

import (
	"errors"
	"fmt"
	"slices"

	"epitome/event"
	"epitome/rewrite/decision"
	"epitome/rewrite/plan"
)

// recording is what is recorded about one request, and what was before.
type recording struct {
	ledger decision.Ledger
	plan   *plan.Plan

	// by which what is known of the conversation was sent; nil if it was not, or another one stands now
	standing *decision.Decision
	// of the decisions for this request that are to be replaced, by how many items they rule
	versions map[int]uint64
	recorded *decision.Decision // what stands for this request
	written  *decision.Decision // whose forms are recorded, whether it stands already or not
	held     int                // items that were sent before on this route, in the forms of Sheet.Sent
	before   *decision.Decision // those forms; Plan.Base moves on as this decision is recorded
	// of the items up to the last that stays where it is, if what stands behind those has forms too: no other request
	// with that prefix may get them; else nil
	stable   *decision.Decision
	formLost bool // a decided form cannot be used any more
	again    bool // the request is one that was decided before
	deadEnd  bool // what was decided for the beginning holds on, but not for this request
	adopted  bool // another request's decision was adopted, of which the history knows nothing
	unsure   bool // nobody knows whether what was decided is recorded; with the next request it is put again
}

// noteHeld notes how many items were sent before: what is recorded later is another base.
func (x *recording) noteHeld() {
	if x.before = x.plan.Base; x.before.Version != 0 {
		x.held = x.before.Depth()
	}
}

// restoreArtifacts sees to it that what the decided forms speak of is on the shelf; what is not there is taken from the
// request again. A form whose content can be kept nowhere is not used.
func (x *recording) restoreArtifacts() (failed error) {
	if !x.renewDecision() {
		return nil
	}
	base := x.plan.Base
	if far, ok := x.plan.Shelf.(decision.FarShelf); ok {
		far.Expect(namesIn(base.Forms))
	}
	for i, f := range base.Forms {
		if f == nil {
			continue
		}
		x.ledger.Touch(x.plan.Route.FormKey(f.Name))
		for _, w := range f.KeptArtifacts(x.plan.Req, i) {
			if x.plan.Shelf.Touch(w.Name) {
				continue
			}
			err := x.plan.Shelf.Put(w.Name, w.Content, true)
			if err == nil {
				continue
			}
			failed = fmt.Errorf("cannot keep again what message %d was: %w", x.plan.Req.Head+i, err)
			if w.Name != f.Said { // else no server takes it any more: it stays out
				base.DropForm(i)
				x.formLost = true
				break
			}
		}
	}
	return failed
}

// namesIn are the names of all artifacts that the forms speak of.
func namesIn(forms []*decision.Form) (names []string) {
	for _, f := range forms {
		if f != nil {
			names = append(names, f.Artifacts()...)
		}
	}
	return names
}

// renewDecision reports whether what hangs on the decision needs a touch, after touching what holds it.
func (x *recording) renewDecision() bool {
	base, g := x.plan.Base, x.ledger
	if len(base.Lists) == 0 || !g.Touch(x.plan.Route.ListKey(base.Lists[len(base.Lists)-1])) {
		return false
	}
	at := x.plan.Hist.Chain[base.Depth()]
	g.Touch(decision.DecisionKey(x.plan.Route.ID(), at))
	g.Touch(x.plan.Route.ConversationKey(at))
	for _, l := range base.Lists[:len(base.Lists)-1] {
		g.Touch(x.plan.Route.ListKey(l))
	}
	return true
}

// remember records the decision under the prefix up to the last item that stays where it is, and under the whole one.
// As soon as one is recorded, it is what the request falls back to.
func (x *recording) remember(d *decision.Decision) (failed error) {
	p, base, all := x.plan, x.plan.Base, x.plan.Hist.Len()
	ends := []int{all}
	if n := p.End; n > 0 && n < all && (n > base.Depth() || base.Version == 0 || p.Case.MayOverwrite()) &&
		!(x.deadEnd && n <= x.held) && !costs(p, n) {
		ends = []int{n, all}
	}
	if err := x.commit(d, ends); err != nil || x.unsure {
		return err
	}
	for _, n := range ends {
		mine := x.upTo(d, n)
		standing, err := x.put(mine)
		if err != nil {
			return err
		}
		x.recorded, p.Base = standing, standing
		if standing != mine {
			x.stable, d = nil, standing
			failed = errors.Join(failed, x.restoreArtifacts()) // it may be an old one that was not found
			x.adopt()
		}
	}
	return failed
}

// upTo is the decision for the first n items.
func (x *recording) upTo(d *decision.Decision, n int) *decision.Decision {
	mine := &decision.Decision{Forms: make([]*decision.Form, n), Lists: d.Lists, Outcomes: d.Outcomes}
	copy(mine.Forms, d.Forms)
	if n < x.plan.Hist.Len() && x.stable != nil {
		mine.Lists = x.stable.Lists
	}
	return mine
}

// commit has a ledger that others share take all that was added, and the decision for so many items each, in one
// question. What stands then is known there.
func (x *recording) commit(d *decision.Decision, ends []int) error {
	t, far := x.ledger.(decision.Turn)
	if !far || x.unsure {
		x.noteUnsure(d)
		return nil
	}
	var records []decision.Entry
	for _, n := range ends {
		key := decision.DecisionKey(x.plan.Route.ID(), x.plan.Hist.Chain[n])
		records = append(records, decision.Entry{Key: key, Value: x.upTo(d, n).RecordIn(t)})
	}
	err := t.Commit(records)
	if errors.Is(err, decision.ErrUnsure) {
		x.unsure = true
		x.noteUnsure(d)
		return nil
	}
	return err
}

// noteUnsure has the decision stand for the request, if nobody knows whether another one does.
func (x *recording) noteUnsure(d *decision.Decision) {
	if x.unsure {
		x.recorded = d
	}
}

// noteStable records how the items that stay where they are were sent, where only the decision for a longer request
// says so: the next one may go on otherwise behind them.
func (x *recording) noteStable() error {
	p, n := x.plan, x.plan.End
	if n == 0 || n >= p.Base.Depth() || p.Base.Version == 0 || p.Base.Crosses(n) {
		return nil
	}
	if _, _, known := x.ledger.Get(decision.DecisionKey(p.Route.ID(), p.Hist.Chain[n])); known {
		return nil
	}
	d := &decision.Decision{Forms: p.Base.Forms[:n:n], Outcomes: p.Base.Outcomes}
	if err := p.Route.Write(x.ledger, d, &decision.Decision{}); err != nil {
		return err
	}
	if err := x.commit(d, []int{n}); err != nil || x.unsure {
		return err
	}
	_, err := x.put(d)
	return err
}

// costs reports whether the first n items take more as a rescue sends them than as they came: then it is what stands
// behind them that makes room, and without that they had better go as they came.
func costs(p *plan.Plan, n int) bool {
	if p.Case.Rescue == nil {
		return false
	}
	saved := 0
	for i := range n {
		saved += p.Hist.Sizes[i] - p.SentSize(i)
	}
	return saved < 0
}

// noteVersions notes what stands for the request, if another decision is asked for: before anything is read, so that
// nothing newer is replaced.
func (x *recording) noteVersions() {
	if !x.plan.Case.MayOverwrite() {
		return
	}
	x.versions = map[int]uint64{}
	for _, n := range []int{x.plan.End, x.plan.Hist.Len()} {
		_, x.versions[n], _ = x.ledger.Get(decision.DecisionKey(x.plan.Route.ID(), x.plan.Hist.Chain[n]))
	}
}

// write records the forms of a decision that is to be recorded itself. What stood before goes on to hold, but for a
// rescue in which the structure of what was sent was refused.
func (x *recording) write(d *decision.Decision) error {
	if x.unsure {
		d.NameForms()
		return nil
	}
	x.stable = nil // that of a decision which was to be recorded before, and could not be, has other forms
	under := x.plan.Base
	if rescue := x.plan.Case.Rescue; rescue != nil && rescue.Whole {
		under = &decision.Decision{}
	}
	route, end := x.plan.Route, x.plan.End
	behind := under.Depth() > end && hasForms(under.Forms[end:])
	if !behind && !hasForms(d.Forms[end:]) {
		return route.Write(x.ledger, d, under)
	}
	if behind {
		under = &decision.Decision{}
	}
	x.stable = &decision.Decision{Forms: d.Forms[:end:end]}
	if err := route.Write(x.ledger, x.stable, under); err != nil {
		return err
	}
	return route.Write(x.ledger, d, x.stable)
}

// hasForms reports whether any item is not sent whole.
func hasForms(forms []*decision.Form) bool {
	return slices.ContainsFunc(forms, func(f *decision.Form) bool { return f != nil })
}

// put records the decision, and returns what stands then: the decision itself, or one that was faster. What was decided
// before stands, unless the client asked for another decision; then that takes the place of what stood, and of nothing
// newer.
func (x *recording) put(d *decision.Decision) (standing *decision.Decision, err error) {
	key := decision.DecisionKey(x.plan.Route.ID(), x.plan.Hist.Chain[d.Depth()])
	value := d.RecordIn(x.ledger)
	now, version, err := x.ledger.Add(key, value)
	if err != nil {
		return nil, fmt.Errorf("cannot record a decision: %w", err)
	}
	if string(now) == string(value) {
		d.Version = version
		return d, nil
	}
	if x.plan.Case.MayOverwrite() && version == x.versions[d.Depth()] {
		_, swapped, done, err := x.ledger.Swap(key, version, value)
		if err != nil {
			return nil, fmt.Errorf("cannot record another decision: %w", err)
		}
		if d.Version = swapped; done {
			return d, nil
		}
	}
	standing, ok := x.plan.Route.LoadDecision(x.ledger, key)
	if !ok || standing.Depth() != d.Depth() {
		return nil, fmt.Errorf("cannot read the decision that stands for this request")
	}
	return standing, nil
}

// adopt takes the form in which an equal request was sent.
func (x *recording) adopt() {
	x.adopted, x.plan.Forms, x.plan.Sheet.Changes = true, plan.BaseForms(x.plan), nil
	clear(x.plan.Sheet.NewForms)
}

// noteUnrecorded says so if nobody knows whether others will find what was decided.
func noteUnrecorded(x *run) {
	if x.log.unsure {
		say(x, plan.Because(event.CodeUnrecorded, "the shared store did not answer"))
	}
}

// keepArtifacts puts what was taken out where it is to be found again.
func keepArtifacts(p *plan.Plan) error {
	list := plan.NeededArtifacts(p)
	if far, ok := p.Shelf.(decision.FarShelf); ok && len(list) > 1 {
		if err := far.PutAll(list, p.Case.OverQuota); err != nil {
			return fmt.Errorf("cannot keep what was taken out: %w", err)
		}
		return nil
	}
	for _, w := range list {
		if err := p.Shelf.Put(w.Name, w.Content, p.Case.OverQuota); err != nil {
			return fmt.Errorf("cannot keep what was taken out: %w", err)
		}
	}
	return nil
}
