package proxy

import (
	"bytes"
	"time"

	"github.com/valyala/fasthttp"

	"epitome/event"
	"epitome/proxy/wire"
	"epitome/rewrite/answer"
	"epitome/rewrite/conversation"
)

// Dialect is one API, as the wire meets it: which requests hold its conversations, and what its answers tell as they
// pass. The names of its JSON and of its paths stand in its own package. A Dialect has no state.
type Dialect interface {
	conversation.Dialect
	// Serves reports whether a request with a body and that path, as the upstream gets it, holds a conversation.
	Serves(path []byte) bool
	// Counts reports whether a request with that path asks how many tokens a conversation has, and no more.
	Counts(path []byte) bool
	// Compacts reports whether a request with that path has the provider compact a conversation: it goes in the form
	// that was decided, and nothing new is.
	Compacts(path []byte) bool
	// MeantPath is what a request's path means that came without the version of the API, as some clients leave that to
	// the base URL; nil if it means what it says. has tells whether the request has a header, named in lower case.
	MeantPath(path []byte, has func(header string) bool) []byte
	// Step is what an event of a streamed answer means. kind is what the stream calls it; empty if it has no name.
	Step(kind, data []byte) answer.Step
	// Holds is how long a streamed answer may be held while nothing but its frame comes.
	Holds() time.Duration
	// Usage is what an answer says of its tokens, and how many of them filled the window of the model: of the whole
	// request, those from a cache too, as the provider counts them; 0 if it does not say. heard is what was kept of an
	// answer, whole or streamed: all of it, or its beginning and its end, on lines of their own.
	Usage(heard []byte) (u event.Usage, input int)
	// CapOutput lowers the cap on the output that a request asks for to so many tokens. ok is false for a request that
	// has none, or a lower one: it is as it was.
	CapOutput(body []byte, tokens int) (capped []byte, ok bool)
}

// dialectOf is the dialect of the conversation that a request holds, or asks the size of, with its target as the
// upstream gets it; nil if it is none to shape, as far as that shows in its head.
func dialectOf(all []Dialect, h *fasthttp.RequestHeader, mode string, target []byte) Dialect {
	if mode == event.ModeOff || !h.IsPost() {
		return nil
	}
	path, _, _ := bytes.Cut(target, []byte("?"))
	for _, d := range all {
		if d.Serves(path) || d.Counts(path) || d.Compacts(path) {
			return d
		}
	}
	return nil
}

// nameOf is what a dialect is called in events.
func nameOf(d Dialect) string { return d.Name() }

// meant is the target that a request means for an upstream whose base has no version.
func meant(all []Dialect, h *fasthttp.RequestHeader, target []byte) []byte {
	if !h.IsPost() {
		return target
	}
	path, _, _ := bytes.Cut(target, []byte("?"))
	has := func(header string) bool { return wire.Find(h.RawHeaders(), header) != nil }
	for _, d := range all {
		if to := d.MeantPath(path, has); to != nil {
			return append(to, target[len(path):]...)
		}
	}
	return target
}

// roomFor is the room that a body of so many bytes takes before its upstream is known: twice as much if it may be
// rewritten, and once more if that is done under /-/, where it is read into memory of its own.
func roomFor(all []Dialect, h *fasthttp.RequestHeader, mode string, size int64) int64 {
	target := wire.OriginForm(h.RequestURI())
	switch {
	case bytes.HasPrefix(target, []byte(ownPath)):
		return 3 * size
	case dialectOf(all, h, mode, target) != nil:
		return 2 * size
	}
	return size
}
