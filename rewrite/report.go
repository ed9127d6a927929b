package rewrite

import (
	"context"
	"time"

	"epitome/event"
)

// Asked is a request to shape.
type Asked struct {
	Dialect  Dialect
	Body     []byte // decoded; it is read and never changed
	Scope    string // who may share facts with whom
	Upstream string // its name
	Limits   *Limits
	Style    Style     // of summaries
	Compact  bool      // now, whatever the lines say, and whatever was decided for this request before
	Rescue   *Rescue   // how the form was refused that was decided for this request; nil if it was not
	Client   Client    // nil if nobody waits
	Now      time.Time // when it was asked; zero: nobody knows
}

// Client is who waits for a request to be shaped. It is asked on the goroutine that shapes, until Shape returns.
type Client interface {
	// Credential is a copy of what speaks for the client to the upstream, to be handed on unread with a question to a model.
	Credential() any
	// Context ends when the client has left or is cut off, and when Shape returns.
	Context() context.Context
}

// Shaped is what is sent in a request's place.
type Shaped struct {
	Body   []byte // Asked.Body itself if nothing is changed
	Report Report
	Settle func() // of a rescue: records the form, which is to be called when the provider has taken it, and before Asked.Body is changed

	dialect Dialect
	forms   []*form // of each item behind the head
	ratio   float64 // tokens of the model that one of what is counted in is
}

// The actions: what the ladder has done to a request as it is sent, in this exchange or in an earlier one. The highest rung
// names it.
const (
	ActionNone    = event.ActionNone
	ActionOffload = "offload"
	ActionClear   = "clear"
	ActionCompact = "compact"
	ActionRescue  = "rescue"           // of requests that were refused as too long, and sent again
	ActionBypass  = event.ActionBypass // Report.Err says why
)

// Report says what was done to a request, or why nothing was.
type Report struct {
	Action       string
	Conversation string // its id; empty if the body was not understood
	Model        string // as the request names it
	Window       int    // tokens that the model is believed to hold, and what of them may be filled
	Usable       int
	MaxOutput    int // tokens that the request asks for; 0 if it says nothing
	Items        int // messages, with those of the head
	Before       Size
	After        Size     // both in tokens of the model
	Ratio        float64  // tokens of the model that one token of the vocabulary is taken for
	Answers      int      // that have shown the ratio; 0: it is the model's own
	Counted      int      // tokens of the vocabulary that are sent; 0 if a provider's count says nothing of the ratio
	Decided      bool     // a new decision was made
	Broke        bool     // and it changed items that had been sent in another form
	Changes      []Change // what it did, in the order of the items; nothing of what was only repeated
	Repeated     int      // items that were sent in a form decided earlier
	Stage        Stage    // of a rescue, the last one that was needed; zero if nothing came of it
	Reason       string   // why nothing new was done, or not everything that was asked for; empty if something was
	Err          error    // what failed inside epitome; the request went on as Action says
}

// Change is a new form of one item.
type Change struct {
	Item     int // index in the request's messages
	Rung     string
	Tool     string
	Argument string // the key one of the call
	Why      string
	Before   int // tokens of the model
	After    int
	Artifact string // name of what was taken out
}

// times is the size in tokens of a model of which the vocabulary's is ratio.
func (s Size) times(ratio float64) Size {
	if ratio == 1 {
		return s
	}
	f := func(n int) int { return int(float64(n)*ratio + 0.5) }
	return Size{f(s.System), f(s.Tools), f(s.User), f(s.Assistant), f(s.Results), f(s.Images), f(s.Other)}
}
