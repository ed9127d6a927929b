// Package event holds the story of one exchange as plain data, and of compactions, which have steps of their own.
//
// The proxy makes exactly one Exchange where an exchange ends; log lines,
// metrics and the dashboard are folds over events and learn nothing elsewhere.
// The package promises to import nothing of this project and to carry no
// credential, no header value and nothing of what a body says, but for the name
// of the model: an event may be stored and shown.
package event

import (
	"strings"
	"time"
)

// MostText bounds, in bytes, each text of an event that something outside may have a part in.
const MostText = 200

// Clip returns s, or a copy of its beginning if s is longer than an event may carry, in sound UTF-8.
func Clip(s string) string {
	if len(s) > MostText {
		s = strings.Clone(s[:MostText])
	}
	return strings.ToValidUTF8(s, "")
}

// Fault says on which side an exchange went wrong; it is a metric label, so the set is closed.
type Fault string

// The faults. None means the provider's answer, of whatever status, reached the client whole.
const (
	None        Fault = ""
	ClientGone  Fault = "client_gone" // the client left before it had the whole answer
	ClientSlow  Fault = "client_slow" // the client took nothing for write_idle
	Refused     Fault = "refused"     // epitome refused the request itself: a limit, a bad route, a bad request
	Unreachable Fault = "unreachable" // no connection to the upstream; nothing was sent
	Broken      Fault = "broken"      // the upstream broke off before its answer began
	Timeout     Fault = "timeout"     // the upstream was silent for too long before its answer began
	Truncated   Fault = "truncated"   // the upstream broke off or fell silent within its answer
	Stopped     Fault = "stopped"     // epitome cut it, because it outlasted shutdown_grace
	Panic       Fault = "panic"       // a bug in epitome; the process went on
)

// Modes: how an exchange is treated.
const (
	ModeOn      = "on"      // rewrite where it helps
	ModeObserve = "observe" // work out what would be done, and send the original
	ModeOff     = "off"     // touch nothing, add nothing
)

// Actions of an exchange whose conversation no rung of the ladder has changed.
const (
	ActionNone   = "none"
	ActionBypass = "bypass" // something failed inside epitome
)

// Exchange is one request and its response, as it ended.
type Exchange struct {
	ID       string    // unique in this process, for finding the log line
	Start    time.Time // when the request had been received whole
	Method   string    // as it came
	Path     string    // as it came, without the query: queries may carry keys
	Upstream string    // name of the upstream; empty when none was chosen
	Mode     string    // on, observe or off
	// what was done to the request, or in mode observe would have been: none, bypass, or a rung of the ladder
	Action        string
	Status        int           // what the client was answered; 0 when nothing was
	RequestBytes  int64         // body bytes received
	ResponseBytes int64         // bytes of the answer's body written to the client, with their chunk framing
	Sent          time.Duration // from Start until the request had been written upstream; 0 when it never was
	FirstByte     time.Duration // from Start to the answer's first byte; 0 when there was none
	Duration      time.Duration // from Start to the end
	Reused        bool          // the upstream connection came from the pool
	Fault         Fault
	Err           string // what went wrong, in one sentence; empty with fault None

	Rescue  Rescue // of a request that was refused as too long
	Shaping        // of the conversation that the request holds, if it holds one
}

// Rescue is what was done about a request that the provider refused as too long. The zero value is that it did not.
type Rescue struct {
	Kind         string // why it was refused: output, rate, bytes, input, malformed or thinking
	Tries        int    // how often it was sent again
	Stages       string // what was done to it each time
	Rescued      bool   // the client got another answer than a refusal
	TokensBefore int    // of the request that was refused first, and of the one that was answered
	TokensAfter  int
	WindowBefore int // as it was believed
	WindowAfter  int // as it was learned; 0 if nothing was
}

// Outcome returns what came of it, as log and metrics call it.
func (r Rescue) Outcome() string {
	if r.Rescued {
		return "rescued"
	}
	return "refused"
}

// Shaping is what became of a conversation before it was sent; in mode observe, what would have become of it.
// Tokens are the model's.
type Shaping struct {
	Model        string // as the request names it, cut if it is long
	Conversation string // its id
	Window       int    // tokens that the model is believed to hold
	TokensBefore Tokens // of the request as it came, and as it is sent
	TokensAfter  Tokens
	TokensUsed   int // of the request as the provider counts them; 0 if it does not say
	// tokens of the model for one that is counted here, as answers have shown; 0 if too few have
	Ratio     float64
	Hint      Hint
	Decided   bool  // a new decision was made
	Broke     bool  // and it changed what had been sent in another form
	Thoughts  int32 // parts of what the model thought that are not sent any more, from this decision on
	Offloaded int   // items that each rung has newly changed; those of earlier decisions are not counted
	Cleared   int   //
	Compacted int   //
	// why nothing new was done, or not all of it, in words without content of the conversation
	Reason    string
	ShapeTime time.Duration // spent on it, decompression included; 0 if it was no conversation to shape
	Inner     string        // what failed inside epitome, while the request went on as Action says
}

// Hint is what the usage in an answer tells of the window.
type Hint struct {
	Kind   HintKind
	Tokens int32 // the window that is suspected, learned or taken back
}

// HintKind is what a Hint does to a window.
type HintKind int8

// The kinds of hints.
const (
	NoHint    HintKind = iota
	Suspected          // the provider seems to have cut the request without a word: one more such answer is needed
	Learned            // it has done so twice to the same size
	Refuted            // the answer is to more than a window that was learned or suspected: that is taken back
)

// Tokens is the size of a request by what it is spent on.
type Tokens struct {
	System, Tools, User, Assistant, Results int
	Images                                  int // and sound and documents
	Other                                   int
}

// Total returns the size of the whole.
func (t Tokens) Total() int {
	return t.System + t.Tools + t.User + t.Assistant + t.Results + t.Images + t.Other
}
