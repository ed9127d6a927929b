// Package rewrite shortens conversations: Shape takes a request and returns what is sent in its place.
//
//	read      the dialect parses the body, and the items are counted
//	find      the ledger has the decision of the deepest prefix that was recorded: its edits are repeated
//	extend    the ladder adds edits for whatever is new, or too much
//	build     the edits become byte ranges and are spliced into the body; a new flaw stops the rewrite
//	record    artifacts first, then the decision, then the caller sends
//
// Shape never fails: whatever goes wrong, the request goes on in the form that was decided last, or as it came, and the
// report says so. It does no I/O but through its collaborators and reads no clock.
package rewrite

import (
	"context"
	"errors"
	"time"

	"epitome/event"
	"epitome/inject"
	"epitome/prose"
	"epitome/rewrite/conversation"
	"epitome/rewrite/ladder"
	"epitome/rewrite/ledger"
	"epitome/tokenize"
)

// Deps are what shaping needs of the rest of the program. None may be nil, unless it says so.
type Deps struct {
	Ledger   *ledger.Ledger
	Shelf    Shelf
	Counters *tokenize.Counters
	Models   tokenize.Models
	Memo     *tokenize.Memo
	// Window is how many tokens a model at an upstream holds, and how many of them a request that asks for maxOutput
	// may fill.
	Window func(upstream, model string, maxOutput int) (window, usable int)
	// Ratio is how many tokens of a model at an upstream one token of the vocabulary is, and how many answers have
	// shown it; nil, or 0 answers: the model's own ratio holds.
	Ratio func(s tokenize.Source) (ratio float64, answers int)
	// CachedPrice is what a cached token costs, where a new one costs 1; nil, or not ok: as the limits say.
	CachedPrice func(upstream, model string) (price float64, ok bool)
	Summarizer  Summarizer       // nil if no model is asked
	Inject      *inject.Injector // gives new conversations context files and memory; nil if nothing does
	Tell        Listener         // hears of compactions and warnings; nil if nobody does
	Passing     bool             // what is kept does not outlive the process: little is decided then
	Address     string           // offload.address: with "tool" and "auto", models may read artifacts by epitome's tool
	Keep        time.Duration    // how long decisions live; 0: for ever
}

// Shelf keeps artifacts, by names that nobody can guess.
type Shelf interface {
	// Name is the name of content; equal content has different names in different scopes.
	Name(scope string, content []byte) string
	// Address says where to find what has the name, for whoever reads a stub; empty if nothing can be said.
	Address(name string) string
	// Put keeps content. late allows for more than the quota.
	Put(name string, content []byte, late bool) error
	// Touch lets the content live on, and reports whether it is there.
	Touch(name string) bool
	// Full reports that new content is refused, but for late one.
	Full() bool
}

// Summarizer asks models about conversations, each question once.
type Summarizer interface {
	// Look returns a text that was made before. If there is none, pending says that it is being made.
	Look(key string) (p prose.Prose, found, pending bool)
	// Ask returns the answer. It waits no longer than it should, and not after ctx has ended; the making goes on then.
	Ask(ctx context.Context, q prose.Question) (prose.Prose, error)
	// Prepare has the question answered for whoever looks later.
	Prepare(q prose.Question)
	// Prepares reports whether that is done for conversations with the upstream.
	Prepares(upstream string) bool
	// Distils reports whether models are asked about large results before they are cleared.
	Distils() bool
	// Needs is how many tokens a request needs beside Question.Continue, for the instruction.
	Needs(detail string) int
}

// Client is who waits for a request to be shaped. It is asked on the goroutine that shapes, until Shape returns.
type Client interface {
	// Credential is a copy of what speaks for the client to the upstream, to be handed on unread with a question.
	Credential() any
	// Context ends when the client has left, and when Shape returns.
	Context() context.Context
	// Waits does a step that waits for others: meanwhile somebody else's request may be shaped.
	Waits(step func())
}

// Listener hears what happens to conversations. It must not wait.
type Listener interface {
	RecordCompaction(e event.Compaction)
	RecordWarning(e event.Warning)
}

// Input is a request to shape.
type Input struct {
	Dialect  conversation.Dialect
	Body     []byte // decoded; it is read and never changed
	Upstream string // its name
	Scope    string // who may share facts
	Project  string // in which the conversation is, if that is known
	Limits   *ladder.Limits
	Style    prose.Style // of summaries
	Compact  bool        // now, whatever the lines say, and whatever was decided for this request before
	Replay   bool        // decisions are repeated and none is made: for a count of tokens
	Rescue   *Rescue     // how the provider refused the request; nil if it did not
	Client   Client      // nil if nobody waits
	Now      time.Time   // when it was asked; zero: nobody knows
	Contexts []string    // names of the files that its conversation is to be given
}

// Rescue says how the provider refused a request in the form that was decided for it. Tokens are the model's.
type Rescue struct {
	Most  int          // tokens that it may have; 0: no matter
	From  ladder.Stage // the first stage to try
	Whole bool         // its structure was refused: it goes on as it came
	// NoThinking says that its thinking was refused, as bound to another conversation: all of it goes.
	NoThinking bool
	Ratio      float64 // by which it was counted
	Answers    int     // that had shown it; 0: the model's own ratio holds
}

// Output is what is sent in a request's place.
type Output struct {
	Body    []byte // Input.Body itself if nothing is changed
	Changed bool   // Body is another one
	Report  Report
	// Settle records the decision of a rescue. The caller calls it when the provider has taken the request, and before
	// Input.Body changes. It returns false if it is not known whether the decision was recorded.
	Settle func() (recorded bool)

	state *ladder.State // nil if the request was not read
}

// Shaper shapes requests. Its methods may be called from any goroutine.
type Shaper struct {
	deps  Deps
	known cache
}

// NewShaper makes a shaper.
func NewShaper(d Deps) *Shaper { return &Shaper{deps: d, known: cache{keep: d.Keep}} }

// Shape returns what is sent in a request's place.
func (s *Shaper) Shape(in Input) Output {
	x := &shaping{shaper: s, in: in, out: Output{Body: in.Body}}
	r := &x.out.Report
	r.Action = event.ActionNone
	if err := try(x.run); err != nil {
		r.Action, r.Code, r.Err = event.ActionBypass, event.CodeFailed, err
	}
	return x.out
}

// run takes the steps. An error leaves the body as it was built last.
func (x *shaping) run() error {
	if err := x.read(); err != nil || x.request == nil {
		return err
	}
	err := try(x.decide)
	if errors.Is(err, errLeft) {
		return nil
	}
	if err != nil {
		x.fallBack(err)
	}
	x.describe()
	if !x.in.Replay && x.in.Rescue == nil {
		x.tell()
		if err == nil {
			x.prepareNotes()
		}
		x.remember()
	}
	return nil
}
