// Package promises holds a core, the part of epitome that shapes requests, to what ARCHITECTURE.md promises of it.
//
// It knows a core only through Core and Start, and reads bodies with gjson, so that it shares no rule and no mistake
// with what it judges. PlayFile plays a recorded conversation, PlayRandom a random one, and PlayApart two that begin
// alike; a judge looks at each request and at what was sent in its place. Broken conversations may pass through, as
// long as they are not made worse.
package promisetest

import (
	"time"

	"pgregory.net/rapid"
)

// Request is a request as a client sends it.
type Request struct {
	API      string // "chat", "messages" or "responses"
	Body     []byte
	Scope    string // who may share decisions
	Upstream string
	Window   int    // tokens that the model holds
	Limits   Limits // the zero value stands for the core's defaults
	Refused  int    // tokens that the provider takes at most, as it has refused what was sent; 0: it did not
	// NoThinking says that the provider has refused the thinking in what was sent.
	NoThinking bool
	Now        time.Time
}

// Limits are numbers of the ladder. A core that has others, such as a smallest body, sets them so low that short
// conversations are shaped too.
type Limits struct {
	OffloadTokens, OffloadReads, OffloadKeep int
	ClearAt, CompactAt, CompactTo            float64 // shares of what the window may hold
	KeepTokens, ProtectTokens, ProtectGroups int
}

// Sent is what a core sends in the place of a request. Of a refused one it is what the provider has taken.
type Sent struct {
	Body   []byte
	Action string // as in the header x-epitome-action
	Breaks bool   // it was decided now to send earlier messages in another form than before
	Err    error  // what failed inside the core
}

// Core is a process that shapes requests over storage which outlives it.
type Core interface {
	// Shape may be called by several goroutines. The core owns r.Body from then on, and never changes it.
	Shape(r Request) Sent
	Close()
}

// Start starts a process over storage. A second one over the same storage is a restart, or another replica.
//
// For models named claude-*-5-5 a core takes thinking to be bound to what stands before it; for those named
// claude-*-5-6 it does once a provider has refused that.
type Start func(t rapid.TB, s *Storage) Core
