package plan

import (
	"context"

	"epitome/prose"
	"epitome/rewrite/conversation"
	"epitome/rewrite/span"
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
	// Distils reports whether large results are told in a model's words when they are cleared.
	Distils() bool
	// Needs is how many tokens of the model a request needs besides Question.Continue: for the instruction and the
	// answer. Of the model's tokens usable may be filled, and one of the vocabulary is ratio of them.
	Needs(detail string, usable int, ratio float64) int
}

// Client is who waits for a request to be shaped. It is asked on the goroutine that shapes, until Shape returns.
type Client interface {
	// Credential is a copy of what speaks for the client to the upstream, to be handed on unread with a question to a
	// model.
	Credential() any
	// Context ends when the client has left or is cut off, and when Shape returns.
	Context() context.Context
	// Waits does a step in which others are waited for: meanwhile somebody else's request may be shaped.
	Waits(step func())
}

// Asker is how the compactions of a request get prose.
type Asker struct {
	Summariser  Summariser        // nil if no model is asked
	Style       prose.Style       // as it is at the window
	Client      Client            // nil if nobody waits
	Project     string            // in which the conversation is; empty: nobody knows
	HeadMoved   bool              // the leading block is another than in the request before: no provider has it cached
	HeadSum     conversation.Link // hash of the leading block, once it was asked for
	Prepared    int               // tokens that the request had when a summary was last made ahead of need
	PreparedCut int               // the cut at which that was, in items
	Deserted    bool              // the client has left while an answer was waited for
	Looked      int               // distillates that were looked for
	Head        []span.Edit       // what is added to the leading block, in the request as it came
}

// Distils reports whether a model's words may stand in the stub of a large result.
func (q *Asker) Distils() bool { return q.Asks() && q.Summariser.Distils() }

// Asks reports whether prose is wanted and a model can be asked for it.
func (q *Asker) Asks() bool {
	return q.Summariser != nil && (q.Style.Mode == prose.ModeLLM || q.Style.Mode == prose.ModeHybrid)
}
