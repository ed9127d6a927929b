package plan

import "epitome/event"

// Listener hears what happens while a request is shaped, on its goroutine. It must not wait. Events come without a
// time: shaping knows no clock, so the listener sets it.
type Listener interface {
	// RecordCompaction hears each step of a compaction: that it has begun, and then how it ended.
	RecordCompaction(e event.Compaction)
	// RecordWarning hears that a conversation is about to cost more, or to be more, than it should.
	RecordWarning(e event.Warning)
}

// Teller is who hears what happens to a conversation, and what all that they hear of a request has in common.
type Teller struct {
	Listener       Listener // nil if nobody listens
	Conversation   string   // its id
	Window, Usable int      // tokens of the model: its window, and what of it may be filled
}

// Tell tells a step of a compaction, with what all that is told of a request has in common.
func (p *Plan) Tell(n event.Compaction) {
	if p.Told.Listener == nil {
		return
	}
	n.Conversation, n.Upstream, n.Model = p.Told.Conversation, p.Route.Upstream, event.Clip(p.Route.Model)
	n.Window, n.Usable, n.Why = p.Told.Window, p.Told.Usable, event.Clip(n.Why)
	p.Told.Listener.RecordCompaction(n)
}

// Warn tells a warning, with what all that is told of a request has in common.
func (p *Plan) Warn(w event.Warning) {
	if p.Told.Listener == nil {
		return
	}
	w.Conversation, w.Upstream, w.Model = p.Told.Conversation, p.Route.Upstream, event.Clip(p.Route.Model)
	w.Window, w.Usable = p.Told.Window, p.Told.Usable
	p.Told.Listener.RecordWarning(w)
}
