package plan

import (
	"epitome/event"
	"epitome/rewrite/conversation"
	"epitome/rewrite/decision"
)

// Some models bind what they think to all that stood before it, to the byte: behind anything else a server refuses it.
// So where an item is sent in another form than before, all that was thought from there on goes, in the same decision,
// and never comes back. What is thought later stands behind what is sent then, and stays.

// WhyUnthought says why what was thought in an item is taken out.
const WhyUnthought = "its thinking goes: the model takes that only behind what stood before it, which changes"

// Binds reports whether the model takes what it thought only behind what it thought that behind.
func Binds(p *Plan) bool { return p.Case.Binds != nil && p.Case.Binds() }

// TakeThinking takes out what must not be sent any more of what the model thought. It comes when all else is decided.
func TakeThinking(p *Plan) {
	from := FirstChanged(p)
	if r := p.Case.Rescue; r != nil && r.Unthinking {
		from = 0
	} else if LastThinking(p) < from || !Binds(p) {
		from = Never
	}
	t := taking{plan: p}
	for i := range p.Forms {
		if i >= from || isTaken(p, i) {
			t.take(i)
		}
	}
}

// FormsToSend are the forms of the items as they would be sent if nothing else were decided.
func FormsToSend(p *Plan) []*decision.Form {
	before := p.Checkpoint()
	TakeThinking(p)
	forms := p.Forms
	p.Undo(before)
	return forms
}

// FirstChanged is the first item that is not sent as it was in the request before, as far as it was sent then;
// Never if there is none.
func FirstChanged(p *Plan) int {
	for i := range p.Sheet.Sent {
		was, is := p.Sheet.Sent[i], p.Forms[i]
		same := was == is || was != nil && is != nil && was.Name == is.Name && is.Name != decision.Ref{}
		if !same {
			return i
		}
	}
	return Never
}

// LastThinking is the last item of which what the model thought is sent; -1 if there is none.
func LastThinking(p *Plan) int {
	for i := p.Hist.Len() - 1; i >= 0; i-- {
		if len(p.Req.Items[p.Req.Head+i].Thinking) > 0 && sendsThinking(p.Forms[i]) {
			return i
		}
	}
	return -1
}

// sendsThinking reports whether an item in this form has what was thought in it.
func sendsThinking(f *decision.Form) bool {
	return f == nil || !f.Gone && f.Fold == 0 && f.Said == ""
}

// isTaken reports whether what was thought in item i was taken out before.
func isTaken(p *Plan, i int) bool {
	return i < len(p.Sheet.Sent) && p.Sheet.Sent[i] != nil && p.Sheet.Sent[i].Said != ""
}

// taking takes out what was thought in one item after the other.
type taking struct {
	plan  *Plan
	order *Sequence // nil until it is asked for
}

// take takes out what was thought in item i.
func (t *taking) take(i int) {
	p := t.plan
	it, f := &p.Req.Items[p.Req.Head+i], p.Forms[i]
	if !sendsThinking(f) || len(it.Thinking) == 0 && !isTaken(p, i) {
		return
	}
	if it.SaysNothing() {
		t.leaveOut(i)
		return
	}
	g := &decision.Form{Rung: decision.RungClear, Whole: p.Hist.Sizes[i], First: p.FirstSize(i), Now: p.Hist.Sizes[i],
		Why: event.CodeThinking}
	if f != nil {
		*g = *f
		g.Name = decision.Ref{}
	}
	g.Now -= conversation.CountThinking(p.Req, ScaleOf(p, i), it)
	if f == nil && i >= p.Base.Depth() {
		g.First = g.Now
	}
	if isTaken(p, i) { // as it was named, though the client may have left it out since
		g.Said = p.Sheet.Sent[i].Said
	} else {
		g.Said = p.Shelf.Name(p.Route.Scope, p.Req.BytesOf(i, 1))
	}
	putThoughtless(p, i, g)
	if t.order != nil {
		t.order.Unthought(i)
	}
}

// leaveOut takes out item i, which is nothing but what was thought, if all else may stand without it.
func (t *taking) leaveOut(i int) {
	p := t.plan
	if t.order == nil {
		t.order = SequenceOf(p)
	}
	if !t.order.Stands(i, i+1, "") {
		return
	}
	f := &decision.Form{Rung: decision.RungClear, Fold: 1, Whole: p.Hist.Sizes[i], First: p.FirstSize(i),
		Why: event.CodeThinking}
	f.Kept = p.Shelf.Name(p.Route.Scope, p.Req.BytesOf(i, 1))
	putThoughtless(p, i, f)
}

// putThoughtless makes f the form of item i, of which it takes out what was thought.
func putThoughtless(p *Plan, i int, f *decision.Form) {
	notePlace(p, i, f)
	p.Forms[i] = f
	p.Sheet.Artifacts = append(p.Sheet.Artifacts, f.KeptArtifacts(p.Req, i)...)
	p.Sheet.Note(f)
	p.Sheet.NewForms[i] = true
	if !isTaken(p, i) {
		p.Sheet.Thoughts += len(p.Req.Items[p.Req.Head+i].Thinking)
		p.Sheet.Unthought = append(p.Sheet.Unthought, i)
		p.Sheet.Broke = p.Sheet.Broke || i < p.Base.Depth()
	}
}

// MustThink reports whether the conversation ends within a round in which what the model thought must not be missing,
// and can be sent behind nothing else than before: until the user's next message nothing may change.
func MustThink(p *Plan) bool {
	return p.Req.ThinksFirst && conversation.InRound(p.Req) && LastThinking(p) >= 0 && Binds(p)
}
