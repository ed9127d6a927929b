// Package rewrite shortens conversations: Shape takes a request and returns what is sent in its place.
//
//	read      the dialect parses the body
//	know      the items are counted; the edits are repeated of the deepest prefix that the ledger has a decision for
//	extend    the ladder adds edits of new items, and of older ones where the request is too large
//	build     the edits become byte ranges and are spliced into the body; a step that makes a new flaw is left out
//	record    artifacts first, then the decision, then the caller sends
//
// Shape never fails: after a failure the request is sent with the edits decided before, or unchanged, and the report
// says so. All I/O is done by the fields of Deps, and no clock is read but for the budget of time (place.go).
package rewrite

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"epitome/dialect/conversation"
	"epitome/event"
	"epitome/inject"
	"epitome/rewrite/ladder"
	"epitome/rewrite/ledger"
	"epitome/rewrite/view"
	"epitome/store"
	"epitome/summarize"
	"epitome/tokenize"
)

// Deps are what shaping needs of the rest of the program. None may be nil, unless it says so.
type Deps struct {
	Ledger *ledger.Ledger
	Shelf  Shelf
	Memo   *tokenize.Memo // of counts, so that a text is seldom counted twice
	// Window returns how many tokens of its own a model at an upstream holds, and how many of them a request may fill
	// that asks for up to maxOutput tokens as answer.
	Window func(upstream, model string, maxOutput int) (window, usable int)
	// Ratio returns how many tokens the provider counts for one token of the vocabulary, and how many answers have
	// shown that. If it is nil, or has seen 0 answers, tokenize.ModelOf has the ratio.
	Ratio func(s tokenize.Source) (ratio float64, answers int)
	// CachedPrice returns what a cached token costs if a new one costs 1. If it is nil or not ok, the limits say it.
	CachedPrice func(upstream, model string) (price float64, ok bool)
	Summarizer  Summarizer       // nil if no model is asked
	Inject      *inject.Injector // gives new conversations context files and memory; nil if they get none
	Passing     bool             // decisions or artifacts end with the process: results stay whole while there is room
	Address     string           // offload.address: "tool" or "auto" let models read artifacts with epitome's own tool
	Recent      int              // bytes of the newest requests of conversations in memory; 0: 24 MiB
	Keep        time.Duration    // how long the ledger keeps a decision after its last use; 0: for ever
}

// Shelf keeps artifacts, by names that nobody can guess.
type Shelf interface {
	ladder.Namer
	// Put stores content under its name. Content that cannot wait for room is urgent.
	Put(name string, content []byte, urgent bool) error
	// Touch prolongs the life of an artifact, and reports whether the shelf has it.
	Touch(name string) bool
	// Full reports whether Put is likely to refuse new content, except beyond the quota.
	Full() bool
}

// Summarizer asks models about conversations, each question once.
type Summarizer interface {
	// Look returns the answer for a key, if there is one. After an error it is not known whether there is.
	Look(key string) (p summarize.Prose, found bool, err error)
	// Ask waits for the answer as long as the configuration allows and ctx lasts. If it comes later, Look finds it.
	Ask(ctx context.Context, q summarize.Question) (summarize.Prose, error)
	// Prepare has a model asked in the background, for a later Look.
	Prepare(q summarize.Question)
	// Prepares reports whether Prepare may be used for conversations with the upstream.
	Prepares(upstream string) bool
}

// Input is a request to shape.
type Input struct {
	Dialect   conversation.Dialect
	Body      []byte // decoded; it is read and never changed
	Upstream  string // name of the upstream
	Variant   string // follows the model's name where windows are looked up; mostly empty
	Scope     string // decisions and artifacts are shared within a scope only
	Project   string // folder in which the agent works; empty if it is not known
	Limits    *ladder.Limits
	Summary   summarize.Config // how summaries are written: of it, Mode, Detail, Distill and Instructions
	Compact   bool             // compact now, whatever the size, even if the request was decided before
	CompactTo int              // tokens of the model to which Compact brings the request; 0: two fifths go, or more
	Focus     string           // what a summary by a model is to be about above all; empty if the client does not say
	Replay    bool             // repeat earlier decisions and make none: for a count, or the provider's compaction
	Compacts  bool             // the path asks the provider for a compaction, whatever the body says
	Lacks     bool             // the upstream makes no compaction that a client asks for: epitome does, in its place
	Makes     bool             // the upstream has made them; it may not be known either way
	Rescue    *Rescue          // nil if the provider has not refused the request
	Now       time.Time        // when the request came; zero if that is not known
	Contexts  []string         // names of the contexts whose files the conversation is to be given
	Named     int              // of Contexts, those at the front that the client itself names: they must have files
	Runtime   string           // what the agent is to be told about its machine: see inject.Describe; mostly empty
	// Memory returns empty memory for Output.Body, which lasts as long as Body does; nil: Go's own.
	Memory func(bytes int) []byte
	// Client ends when the client has left that waits for the request; nil if nobody waits: then no model is asked.
	Client     context.Context
	ClientName string // in the configuration, for events; mostly empty
	// Places bound what is shaped at once. They may be nil, and so may Client then. Requests with the same Turn are of
	// one client, which waits for places in turn with others.
	Places *Places
	Turn   string
	// Credential returns a copy of the headers by which the upstream knows the client, for Question.Credential.
	Credential func() any
}

// Output is what is sent in the place of a request.
type Output struct {
	Body    []byte // Input.Body itself if nothing is changed
	Changed bool   // Body differs from Input.Body
	Report  Report
	// Settle records the decision of a rescue; nil if there is none to record. The caller calls it once the provider
	// has accepted the request, and before Input.Body changes. False: the decision may not have been recorded.
	Settle func() (recorded bool)

	Asked   bool       // the request was compacted, or that was tried, as Ask has it
	Asks    bool       // the client asks the provider for a compaction, now or from a size on
	AsksNow bool       // likewise, but now
	Foreign []string   // sealed summaries of providers in the request
	Carried *Compacted // answers a request for a compaction if the upstream Lacks it
	Refused error      // the request cannot be sent: a compaction in it or for it is not to be had, or ErrNoFiles

	known *ladder.Known // nil if the request was not read
	sent  view.View     // how it is sent
}

// Shaper shapes requests. Its methods may be called from any goroutine.
type Shaper struct {
	deps   Deps
	recent *requestCache
	asks   sync.Map // of Ask, by conversation: those that no request has taken yet
}

func NewShaper(d Deps) *Shaper {
	return &Shaper{deps: d, recent: &requestCache{most: cmp.Or(d.Recent, 24<<20)}}
}

// Beside returns a shaper with other parts. Both keep their requests in one memory, of which Newest and Forget speak;
// each has its own asks.
func (s *Shaper) Beside(d Deps) *Shaper { return &Shaper{deps: d, recent: s.recent} }

// Shape returns what is sent in the place of a request.
func (s *Shaper) Shape(in Input) Output {
	x := &shaping{Shaper: s, in: in, place: in.Places.begin(&in), last: &lastRequest{}}
	x.out = Output{Body: in.Body, Report: Report{Action: event.ActionNone}}
	if err := store.Try(x.run); err != nil {
		x.out.Report.fail(err)
	}
	x.last.release()
	x.place.end()
	return x.out
}

// run takes the steps of one request. An error, or a panic in it, leaves the body that was built last.
func (x *shaping) run() error {
	if err := x.read(); err != nil {
		x.out.Report.Code, x.out.Report.Reason = event.CodeNotRead, event.Clip(err.Error())
		return nil
	}
	if x.request == nil { // the client left
		return nil
	}
	x.know()
	x.decision = x.known.Before
	err := store.Try(x.decide)
	if x.out.Asked && (errors.Is(err, errClientLeft) || errors.Is(err, errSpent)) { // the next request may do better
		x.asks.LoadOrStore(x.known.Before.Conversation, Ask{x.in.CompactTo, x.in.Focus})
	}
	if errors.Is(err, errClientLeft) { // nobody waits for an answer any more
		return nil
	}
	if err != nil {
		x.fallBack(err)
	}
	if x.serves {
		x.out.Carried, x.out.Refused = x.carried()
	}
	x.out.known, x.out.sent = x.known, x.plan.View
	x.describe()
	if !x.in.Replay && x.in.Rescue == nil { // a rescue is remembered in settle
		x.remember(x.last)
	}
	return nil
}
