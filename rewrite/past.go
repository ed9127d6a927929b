package rewrite

import (
	"unsafe"

	"epitome/rewrite/addition"
	"epitome/rewrite/conversation"
	"epitome/rewrite/decision"
	"epitome/rewrite/history"
	"epitome/rewrite/seen"
)

// past is what is known of a conversation up to its last assistant's or tool's item.
type past struct {
	seen.Talk
	hist     *history.History
	route    decision.Route
	name     decision.Ref       // of the conversation
	decision *decision.Decision // by which it was sent
	spelled  decision.Spelled   // texts of its forms
	fixed    fixed              // what stood before it
	added    *addition.Record   // what epitome has put there; nil if nothing
	ahead    preparation
}

// preparation is how a summary was last made ahead of need: how many tokens the request had, and where in items the
// summary ends.
type preparation struct{ tokens, cut int }

// sharers names those who may share what is remembered: one scope, in one dialect.
func (in Input) sharers() string { return in.Dialect.Key() + "\x00" + in.Scope }

// keepKnown remembers what is known of a conversation with the bytes b, which nobody else uses any more.
func keepKnown(x *run, p *past, b []byte) {
	memory := p.hist.Memory() + p.decision.Memory() + p.spelled.Memory() +
		len(p.Items)*int(unsafe.Sizeof(conversation.Item{})+unsafe.Sizeof(conversation.Call{})+64)
	if p.added != nil {
		memory += len(p.added.Index) + len(p.added.Memory)
	}
	x.shaper.seen.Put(x.in.sharers(), p, b, memory)
}

// recall is what the reader asks for what it need not read.
func (x *run) recall(body []byte, i int, head []conversation.Item) (items []conversation.Item, end int) {
	p := x.shaper.seen.Take(x.in.sharers(), body[i:])
	if p == nil {
		return nil, 0
	}
	end = p.Enter(body, i)
	x.past = p
	if items = p.Items; p.Head == len(head) { // as almost always: there may be thousands
		copy(items, head)
	} else {
		items = append(head, items[p.Head:]...)
	}
	return items, end
}

// marks are those that stand in what is known of the conversation; none if it is new.
func (p *past) marks() []conversation.Mark {
	if p == nil {
		return nil
	}
	return p.Marks
}

// history is what is known of the conversation; nothing if it is new.
func (p *past) history() *history.History {
	if p == nil {
		return history.New()
	}
	return p.hist
}

// texts are the texts of the forms by which it was sent; none if it is new.
func (p *past) texts() decision.Spelled {
	if p == nil {
		return decision.Spelled{}
	}
	return p.spelled
}

// decisionOn is the decision by which the known part was sent, if it was on this route and stands still: somebody may
// have had the conversation compacted since.
func (p *past) decisionOn(g decision.Ledger, route decision.Route, chain []conversation.Link) *decision.Decision {
	if p == nil || p.route != route {
		return nil
	}
	d := p.decision
	value, version, found := g.Get(decision.DecisionKey(route.ID(), chain[d.Depth()]))
	if !found {
		return d
	}
	if string(value) != string(d.RecordIn(g)) {
		return nil
	}
	d.Version = version
	return d
}

// cacheExpired reports whether the provider has forgotten what was sent of the conversation: after a long pause, or as
// it went to another model.
func cacheExpired(x *run) bool {
	if base := x.plan.Base; base.Version == 0 && base.Depth() > 0 {
		return true
	}
	life := x.in.Limits.CacheLife.D()
	if x.turn != nil {
		return life > 0 && !x.in.Now.IsZero() && pausedElsewhere(x, life)
	}
	if x.past == nil || life == 0 || x.in.Now.IsZero() || x.past.Asked.IsZero() {
		return false
	}
	return x.in.Now.Round(0).Sub(x.past.Asked) > life // by the clock on the wall, which goes on while a machine sleeps
}

// learn remembers the conversation for the next request.
func (x *run) learn() {
	n, p := x.plan.End, x.plan
	if n == 0 || !x.req.Upkeep.Before.Empty() || x.log.adopted || x.log.stable == nil && hasForms(p.Forms[n:]) {
		return
	}
	if conversation.Dead(x.req) >= n { // what makes them dead stands behind, and may be gone in the next request
		return
	}
	head := x.req.Head
	items := x.req.Items[:head+n]
	x.hist.Truncate(x.req, n)
	from, end := items[head].Place().Start, conversation.Extent(x.req, head+n-1)
	last := x.log.recorded
	d := &decision.Decision{Forms: p.Forms[:n:n], Lists: last.Lists, Version: last.Version, Outcomes: last.Outcomes}
	if x.log.stable != nil {
		d.Lists = x.log.stable.Lists
	}
	known := &past{
		Talk: seen.Talk{From: from, Items: items, Head: head, Marks: seen.MarksIn(x.req, from, end), Asked: x.in.Now},
		hist: x.hist, route: p.Route, decision: d, name: x.name, fixed: x.fixed,
		ahead: preparation{p.Ask.Prepared, p.Ask.PreparedCut}, spelled: x.spelled.Of(d), added: x.out.added.record,
	}
	if x.past != nil {
		known.GrownFrom(&x.past.Talk)
	}
	keepKnown(x, known, x.in.Body[from:end])
}
