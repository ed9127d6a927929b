package rewrite

import (
	"encoding/hex"
	"fmt"
	"slices"
)

// replaced sees to it that what the decided forms speak of is on the shelf; what is not there is taken from the request
// again. A form whose content can be kept nowhere is not used.
func (x *shaping) replaced() (failed error) {
	if !x.due() {
		return nil
	}
	base := x.plan.base
	for i, f := range base.forms {
		if f == nil {
			continue
		}
		x.means.Ledger.Touch(x.lane.formKey(f.name))
		for _, w := range f.kept(x.req, i) {
			if x.means.Shelf.Touch(w.name) {
				continue
			}
			if err := x.means.Shelf.Put(w.name, w.content, true); err != nil {
				base.lose(i)
				x.lost = true
				failed = fmt.Errorf("cannot keep again what message %d was: %w", x.req.Head+i, err)
				break
			}
		}
	}
	return failed
}

// lose takes the form of item i away, with all that depends on it: a summary speaks of all that was left out with it.
func (d *decision) lose(i int) {
	f := d.forms[i]
	clear(d.forms[i : i+max(1, f.Fold)])
	for k, g := range d.forms {
		if f.Fold > 0 && f.Rung == rungCompact && g != nil && g.Rung == rungCompact {
			d.forms[k] = nil
		}
	}
}

// due reports whether what hangs on the decision needs a touch, after touching what holds it.
func (x *shaping) due() bool {
	base, g := x.plan.base, x.means.Ledger
	if len(base.lists) == 0 || !g.Touch(x.lane.listKey(base.lists[len(base.lists)-1])) {
		return false
	}
	at := x.hist.chain[base.depth()]
	g.Touch(decisionKey(x.lane.id(), at))
	g.Touch(x.lane.conversationKey(at))
	for _, l := range base.lists[:len(base.lists)-1] {
		g.Touch(x.lane.listKey(l))
	}
	return true
}

// record makes the decision last: first what was taken out, then the forms, then the decision itself. If an equal request
// was faster, its decision holds.
func (x *shaping) record() error {
	p := x.plan
	for _, w := range p.needed() {
		if err := x.means.Shelf.Put(w.name, w.content, p.late); err != nil {
			return fmt.Errorf("cannot keep what was taken out: %w", err)
		}
	}
	d := &decision{forms: p.forms, outcomes: p.outcomes}
	under := p.base
	if p.rescue != nil && p.rescue.Whole { // nothing of what was decided holds any more
		under = &decision{}
	}
	if err := x.lane.write(x.means.Ledger, d, under); err != nil {
		return err
	}
	r := &x.out.Report
	r.Decided, r.Changes, r.Broke, r.Stage = len(p.made) > 0, p.changes(), p.broke, p.stage
	if p.rescue != nil {
		x.out.Settle = func() { x.settle(d) }
		return nil
	}
	err := x.remember(d)
	if x.recorded == nil || x.foreign {
		r.Decided, r.Changes, r.Broke = false, nil, false
	}
	return err
}

// needed is what the forms speak of, of what was taken out: some of it is left out with others after all.
func (p *plan) needed() (list []ware) {
	if len(p.kept) == 0 {
		return nil
	}
	named := map[string]bool{}
	for _, f := range p.forms {
		if f != nil && !f.Gone {
			for _, name := range f.artifacts() {
				named[name] = true
			}
		}
	}
	for _, w := range p.kept {
		if named[w.name] {
			list = append(list, w)
			delete(named, w.name)
		}
	}
	return list
}

// remember records the decision under the prefix up to the last item that stays where it is, and under the whole one. As
// soon as one is recorded, it is what the request falls back to.
func (x *shaping) remember(d *decision) error {
	p, base, all := x.plan, x.plan.base, x.hist.len()
	ends := []int{all}
	if n := p.stable; n > 0 && n < all && (n > base.depth() || base.version == 0 || p.replaces()) {
		ends = []int{n, all}
	}
	for _, n := range ends {
		mine := &decision{forms: make([]*form, n), lists: d.lists, outcomes: d.outcomes}
		copy(mine.forms, d.forms)
		standing, err := x.put(mine)
		if err != nil {
			return err
		}
		x.recorded, p.base, d = standing, standing, standing
		if standing != mine {
			x.adopt()
		}
	}
	return nil
}

// replacing notes what stands for the request, if another decision is asked for: before anything is read, so that nothing newer is
// replaced.
func (x *shaping) replacing() {
	if !x.plan.replaces() {
		return
	}
	x.stoodAt = map[int]uint64{}
	for _, n := range []int{x.plan.stable, x.hist.len()} {
		_, x.stoodAt[n], _ = x.means.Ledger.Get(decisionKey(x.lane.id(), x.hist.chain[n]))
	}
}

// put records the decision, and returns what stands then: the decision itself, or one that was faster. What was decided before
// stands, unless the client asked for another decision; then that takes the place of what stood, and of nothing newer.
func (x *shaping) put(d *decision) (standing *decision, err error) {
	key := decisionKey(x.lane.id(), x.hist.chain[d.depth()])
	value := d.record()
	now, version, err := x.means.Ledger.Add(key, value)
	if err != nil {
		return nil, fmt.Errorf("cannot record a decision: %w", err)
	}
	if string(now) == string(value) {
		d.version = version
		return d, nil
	}
	if x.plan.replaces() && version == x.stoodAt[d.depth()] {
		_, swapped, done, err := x.means.Ledger.Swap(key, version, value)
		if err != nil {
			return nil, fmt.Errorf("cannot record another decision: %w", err)
		}
		if d.version = swapped; done {
			return d, nil
		}
	}
	standing, ok := x.lane.load(x.means.Ledger, key)
	if !ok || standing.depth() != d.depth() {
		return nil, fmt.Errorf("cannot read the decision that stands for this request")
	}
	return standing, nil
}

// adopt takes the form in which an equal request was sent.
func (x *shaping) adopt() {
	x.foreign, x.plan.forms, x.plan.made = true, x.baseForms(), nil
	clear(x.plan.fresh)
	x.out.Report.Reason = "an equal request was decided at the same time"
}

// converse finds out which conversation the request belongs to, and notes that this prefix does.
func (x *shaping) converse() (err error) {
	if x.name, err = x.conversationOf(); err != nil {
		return err
	}
	x.out.Report.Conversation = hex.EncodeToString(x.name[:8])
	return nil
}

func (x *shaping) conversationOf() (ref, error) {
	chain, end := x.hist.chain, x.plan.stable
	from, name := x.named(end)
	switch {
	case from == end && from > 0:
		return name, nil
	case from == 0:
		name = refOf(x.Scope, string(chain[len(chain)-1][:]))
	default:
		// The first to go on from here is the conversation; whoever goes on otherwise has left it.
		next, _, err := x.means.Ledger.Add(x.lane.nextKey(chain[from]), chain[from+1][:])
		if err != nil {
			return ref{}, fmt.Errorf("cannot record how a conversation goes on: %w", err)
		}
		if string(next) != string(chain[from+1][:]) {
			name = refOf(string(name[:]), string(chain[from+1][:]))
		}
	}
	record := conversation{name: name, lane: x.lane.id()}.record()
	for _, i := range slices.Compact([]int{end, len(chain) - 1}) {
		if _, _, err := x.means.Ledger.Add(x.lane.conversationKey(chain[i]), record); err != nil {
			return ref{}, fmt.Errorf("cannot record which conversation a request belongs to: %w", err)
		}
	}
	return name, nil
}

// named is the longest prefix of at most end items whose conversation is known, and its name; no items if none is.
func (x *shaping) named(end int) (items int, name ref) {
	if x.past != nil {
		items, name = x.past.len(), x.past.name
	}
	for i := end; i > items; i-- {
		if value, _, found := x.means.Ledger.Get(x.lane.conversationKey(x.hist.chain[i])); found {
			if c, err := readConversation(value); err == nil {
				return i, c.name
			}
		}
	}
	return items, name
}
