package rewrite

import (
	"encoding/hex"
	"fmt"
)

// replaced sees to it that what the decided forms speak of is on the shelf; what is not there is taken from the request
// again. A form whose content can be kept nowhere is not used.
func (x *shaping) replaced() error {
	base := x.plan.base
	if len(base.lists) == 0 || !x.means.Ledger.Touch(x.lane.listKey(base.latest())) {
		return nil
	}
	x.means.Ledger.Touch(decisionKey(x.lane.id(), x.hist.chain[base.depth()]))
	x.means.Ledger.Touch(x.lane.conversationKey(x.hist.chain[base.depth()]))
	for _, l := range base.lists[min(1, len(base.lists)):] {
		x.means.Ledger.Touch(x.lane.listKey(l))
	}
	for i, f := range x.plan.base.forms {
		if f == nil {
			continue
		}
		x.means.Ledger.Touch(x.lane.formKey(f.name))
		for _, w := range f.kept(x.req, i) {
			if x.means.Shelf.Touch(w.name) {
				continue
			}
			if err := x.means.Shelf.Put(w.name, w.content, true); err != nil {
				x.plan.forms[i] = nil
				return fmt.Errorf("cannot keep again what message %d was: %w", x.req.Head+i, err)
			}
		}
	}
	return nil
}

// record makes the decision last: first what was taken out, then the forms, then the decision itself. If an equal request
// was faster, its decision holds.
func (x *shaping) record() error {
	p := x.plan
	for _, w := range p.kept {
		if err := x.means.Shelf.Put(w.name, w.content, p.late); err != nil {
			return fmt.Errorf("cannot keep what was taken out: %w", err)
		}
	}
	d := &decision{forms: p.forms}
	x.recorded = d
	if err := x.lane.write(x.means.Ledger, d, p.base); err != nil {
		return err
	}
	if err := x.remember(d, x.hist.len()); err != nil {
		return err
	}
	if x.out.Report.Reason != "" {
		return nil
	}
	x.out.Report.Changes, x.out.Report.Decided, x.out.Report.Broke = p.made, true, p.broke
	return nil
}

// remember records the decision under the whole prefix, and under the one up to the last item that stays where it is.
func (x *shaping) remember(d *decision, n int) error {
	standing, won, err := x.put(d, n)
	if err != nil {
		return err
	}
	if !won {
		return x.adopt(standing)
	}
	if n = x.plan.stable; n > x.plan.base.depth() && n < x.hist.len() {
		_, _, err = x.put(&decision{forms: d.forms[:n], lists: d.lists}, n)
	}
	return err
}

func (x *shaping) put(d *decision, n int) (standing *decision, won bool, err error) {
	key := decisionKey(x.lane.id(), x.hist.chain[n])
	value := d.record()
	now, version, err := x.means.Ledger.Add(key, value)
	if err != nil {
		return nil, false, fmt.Errorf("cannot record a decision: %w", err)
	}
	if string(now) == string(value) {
		d.version = version
		return d, true, nil
	}
	standing, ok := x.lane.load(x.means.Ledger, key)
	if !ok || standing.depth() != n {
		return nil, false, fmt.Errorf("cannot read the decision that stands for this request")
	}
	return standing, false, nil
}

// adopt takes the form in which an equal request was sent.
func (x *shaping) adopt(d *decision) error {
	x.plan.forms, x.plan.base, x.plan.made = append([]*form(nil), d.forms...), d, nil
	x.recorded, x.foreign = d, true
	x.out.Report.Reason = "an equal request was decided at the same time"
	return nil
}

// converse finds out which conversation the request belongs to, and notes that this prefix does.
func (x *shaping) converse() error {
	chain, g := x.hist.chain, x.means.Ledger
	end := x.plan.stable
	c := conversation{name: refOf(x.Scope, string(chain[len(chain)-1][:])), lane: x.lane.id()}
	for i := end; i > 0; i-- {
		value, _, found := g.Get(x.lane.conversationKey(chain[i]))
		if !found {
			continue
		}
		before, err := readConversation(value)
		if err != nil {
			continue
		}
		c.name = before.name
		if i == end {
			break
		}
		// The first to go on from here is the conversation; whoever goes on otherwise has left it.
		next, _, err := g.Add(x.lane.nextKey(chain[i]), chain[i+1][:])
		if err != nil {
			return fmt.Errorf("cannot record how a conversation goes on: %w", err)
		}
		if string(next) != string(chain[i+1][:]) {
			c.name = refOf(string(before.name[:]), string(chain[i+1][:]))
		}
		break
	}
	x.out.Report.Conversation = hex.EncodeToString(c.name[:8])
	for _, i := range []int{end, len(chain) - 1} {
		if _, _, err := g.Add(x.lane.conversationKey(chain[i]), c.record()); err != nil {
			return fmt.Errorf("cannot record which conversation a request belongs to: %w", err)
		}
	}
	return nil
}
