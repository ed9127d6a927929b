package plan

import (
	"context"

	"epitome/event"
	"epitome/prose"
)

// Summariser makes prose of a span of a conversation, once for each question.
type Summariser interface {
	// Look returns prose that was made before. If there is none, pending says that it is being made.
	Look(key string) (p prose.Prose, found, pending bool)
	// Ask returns the answer. It waits no longer than it should, and not after ctx has ended; the making goes on then.
	Ask(ctx context.Context, q prose.Question) (prose.Prose, error)
	// Prepare has the question answered for whoever looks later.
	Prepare(q prose.Question)
	// Prepares reports whether that is done for conversations with the upstream.
	Prepares(upstream string) bool
	// Needs is how many tokens of the model a request needs besides Question.Continue: for the instruction and the answer.
	// Of the model's tokens usable may be filled, and one of the vocabulary is ratio of them.
	Needs(detail string, usable int, ratio float64) int
}

// Listener hears what happens while a request is shaped, on its goroutine. It must not wait. Events come without a time:
// shaping knows no clock, so the listener sets it.
type Listener interface {
	// RecordCompaction hears each step of a compaction: that it has begun, and then how it ended.
	RecordCompaction(e event.Compaction)
	// RecordWarning hears that a conversation is about to cost more, or to be more, than it should.
	RecordWarning(e event.Warning)
}

// Client is who waits for a request to be shaped. It is asked on the goroutine that shapes, until Shape returns.
type Client interface {
	// Credential is a copy of what speaks for the client to the upstream, to be handed on unread with a question to a model.
	Credential() any
	// Context ends when the client has left or is cut off, and when Shape returns.
	Context() context.Context
}

// Warn tells a warning, with what all that is told of a request has in common.
func (p *Plan) Warn(w event.Warning) {
	if p.Ask.Tell == nil {
		return
	}
	w.Conversation, w.Upstream, w.Model = p.Ask.Conversation, p.Ask.Lane.Upstream, event.Clip(p.Ask.Lane.Model)
	w.Window, w.Usable = p.Ask.Window, p.Ask.Usable
	p.Ask.Tell.RecordWarning(w)
}
