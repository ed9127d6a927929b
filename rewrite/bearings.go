package rewrite

import (
	"crypto/sha256"

	"epitome/rewrite/conversation"
	"epitome/rewrite/decision"
	"epitome/rewrite/plan"
)

// Bearings are where a request stands: between its lines, behind what was sent before it, and among conversations.
// Tokens are the model's.
type Bearings struct {
	ClearLine, CompactLine int
	Compared               int // what was held against the line for clearing: what came was shortened by then
	// what stood in the same place in an earlier request of the same route, as it came and as it was sent
	HeldBefore, HeldAfter int
	TakenOut              int    // by the new decision, each item once
	Leading               string // names system prompt, tools and settings, the same in every process with the shelf
	Decision              string // key of the forms in which it is sent; empty if all is whole, or nothing is recorded
	Parent                string // id of the conversation that it has left, told by the first request that has
	Diverged              int    // and the first message in which it differs from that; 0 if there is none
}

// Join makes b, which are those of a rescue, the bearings of the whole exchange, of which the first form was refused.
// whole says that the rescue has taken all forms away.
func (b *Bearings) Join(first Bearings, whole bool) {
	b.Compared = first.Compared
	b.HeldBefore, b.HeldAfter = first.HeldBefore, min(first.HeldAfter, b.HeldAfter)
	b.Parent, b.Diverged = first.Parent, first.Diverged
	b.Decision = decision.InPlaceOf(first.Decision, b.Decision)
	if !whole {
		b.TakenOut += first.TakenOut
	}
}

// takeBearings notes where the request stands. It comes before the history is given away.
func takeBearings(x *run) {
	p, r := x.plan, &x.out.Report
	b := &r.Bearings
	b.ClearLine, b.CompactLine = p.Scale.InModelTokens(p.Limits.ClearLine), p.Scale.InModelTokens(p.Limits.CompactLine)
	b.Leading = x.fixed.told
	b.Decision = keyOfForms(x)
	if r.Decided {
		b.Compared = p.Scale.InModelTokens(p.Result.Compared)
		b.TakenOut = p.Scale.InModelTokens(max(0, takenOut(p)))
	}
	held := x.log.held
	if held == 0 || x.past != nil && x.past.fixed != x.fixed { // then nothing stands where it stood
		return
	}
	b.HeldBefore = heldOf(p, r.Before, sumFrom(held, p.Hist.Len(), func(i int) int { return p.Hist.Sizes[i] }))
	same := held
	if r.Broke || x.log.deadEnd || x.log.adopted || r.Err != nil {
		same = min(held, plan.FirstChanged(p))
	}
	b.HeldAfter = heldOf(p, r.After, sumFrom(same, p.Hist.Len(), p.SentSize))
}

// heldOf is what of a request of this size is no part of the last tokens, which are the vocabulary's.
func heldOf(p *plan.Plan, all conversation.Size, last int) int {
	return max(0, all.Total()-p.Scale.InModelTokens(last))
}

func sumFrom(i, end int, size func(i int) int) (n int) {
	for ; i < end; i++ {
		n += size(i)
	}
	return n
}

// takenOut is how many tokens of the vocabulary the new forms save against those in which items were sent before, or
// else against the whole.
func takenOut(p *plan.Plan) (n int) {
	dead := conversation.Dead(p.Req)
	for i, f := range p.Forms {
		was := p.Hist.Sizes[i]
		if i < len(p.Sheet.Sent) && p.Sheet.Sent[i] != nil && i >= dead {
			if p.Sheet.Sent[i] == f {
				continue
			}
			was = p.Sheet.Sent[i].Now
		}
		n += was - p.SentSize(i)
	}
	return n
}

// keyOfForms is the key of the forms in which the request is sent: of what stands for it, or will when a rescue has
// helped.
func keyOfForms(x *run) string {
	d := x.log.recorded
	if d == nil && x.plan.Case.Rescue != nil && x.out.Report.Err == nil {
		d = x.log.written
	}
	if d == nil {
		return ""
	}
	key := decision.Key{Dialect: x.in.Dialect.Key(), Ratio: x.plan.Scale.Ratio, Tag: x.tag}
	if x.out.Report.Decided {
		key.Before = x.log.before
	}
	return x.plan.Route.KeyOf(d, key)
}

// fixed is what stands before the items, where a provider caches.
type fixed struct {
	leading uint64 // hash of the leading block, good for this process
	beside  uint64 // of tools and settings
	told    string // names all of that; equal wherever the shelf and who shares it are
}

// leadingLetters are as many as tell one beginning from another.
const leadingLetters = 16

// fixedOf is what stands before the items. It is told anew only if it has changed.
func fixedOf(x *run) fixed {
	s, r := x.shaper.seen, x.req
	block := r.LeadingBlock()
	f := fixed{leading: s.Sum(block), beside: s.Sum(r.Tools.Of(r.Body))}
	for _, v := range r.Settings {
		f.beside = f.beside*31 + s.Sum(v.Of(r.Body))
	}
	if x.past != nil && x.past.fixed.leading == f.leading && x.past.fixed.beside == f.beside {
		return x.past.fixed
	}
	h := sha256.New()
	add := func(part []byte) {
		sum := sha256.Sum256(part)
		_, _ = h.Write(sum[:])
	}
	add(block)
	add(r.Tools.Of(r.Body))
	for _, v := range r.Settings {
		add(v.Of(r.Body))
	}
	// Who can read figures may not try out which prompt it is: only who has the shelf's secret can name it.
	f.told = x.shaper.deps.Shelf.Name(x.in.sharers(), h.Sum(nil))
	f.told = f.told[:min(len(f.told), leadingLetters)]
	return f
}
