// Package event holds the story of one exchange as plain data, and of compactions, which have steps of their own.
//
// The proxy makes exactly one Exchange where an exchange ends; log lines,
// metrics and the dashboard are folds over events and learn nothing elsewhere.
// The package promises to import nothing of this project and to carry no
// credential, no header value but the ids of a trace and names that the configuration has too, and nothing of
// what a body says, but for the name of the model and the title, which is taken out of what others are shown.
package event

import (
	"math"
	"net/http"
	"strconv"
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

// Narrow returns a number of tokens as an event's narrow fields hold it; more than they can hold is the most they can.
func Narrow(n int) int32 { return int32(min(n, math.MaxInt32)) }

// Fault says on which side an exchange went wrong; it is a metric label, so the set is closed.
type Fault string

// The faults. None means the provider's answer, of whatever status, reached the client whole, and told of no error
// within a stream.
const (
	None        Fault = ""
	ClientGone  Fault = "client_gone" // the client left before it had the whole answer
	ClientSlow  Fault = "client_slow" // the client took nothing for too long
	Refused     Fault = "refused"     // epitome refused the request itself: a limit, a bad route, a bad request
	Unreachable Fault = "unreachable" // no connection to the upstream; nothing was sent
	Broken      Fault = "broken"      // the upstream broke off before its answer began
	Timeout     Fault = "timeout"     // the upstream was silent for too long before its answer began
	Truncated   Fault = "truncated"   // the upstream broke off or fell silent within its answer
	Failed      Fault = "failed"      // the upstream told of an error within its answer, which reached the client whole
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
	ActionRescue = "rescue" // it was refused as too long, and sent again
)

// Exchange is one request and its response, as it ended.
type Exchange struct {
	ID       string    `json:"id"`       // unique in this process, for finding the log line
	Start    time.Time `json:"start"`    // when the request had been received whole
	Method   string    `json:"method"`   // as it came
	Path     string    `json:"path"`     // as it came, without the query: queries may carry keys
	Upstream string    `json:"upstream"` // name of the upstream; empty when none was chosen
	// name in the configuration of the client whose key the request carries; empty without keys
	Client string `json:"client,omitempty"`
	// SessionOf the id by which the client names its session; empty if no header does
	Session string `json:"session,omitempty"`
	Dialect string `json:"dialect,omitempty"`
	Mode    string `json:"mode"` // on, observe or off
	// what was done to the request, or in mode observe would have been: none, bypass, or a rung of the ladder
	Action string `json:"action"`
	// what the client was answered; 0 when nothing was
	Status       int   `json:"status"`
	RequestBytes int64 `json:"request_bytes"` // of the body, as received
	// of the answer's body written to the client, with their chunk framing
	ResponseBytes int64 `json:"response_bytes"`
	// from Start until the request had been written upstream; 0 when it never was
	Sent time.Duration `json:"sent_ns,omitempty"`
	// from Start to the answer's first byte; 0 when there was none
	FirstByte time.Duration `json:"first_byte_ns,omitempty"`
	Duration  time.Duration `json:"duration_ns"`       // from Start to the end
	Reused    bool          `json:"reused,omitempty"`  // the upstream connection came from the pool
	Streams   bool          `json:"streams,omitempty"` // the client asked for the answer as a stream
	Memory    uint16        `json:"memory,omitempty"`  // tokens of Added that are what earlier sessions have learned
	Added     int32         `json:"added,omitempty"`   // tokens that the request has beside what its client sent
	Fault     Fault         `json:"fault,omitempty"`
	// what went wrong, in one sentence; empty with fault None
	Err   string `json:"error,omitempty"`
	Usage Usage  `json:"usage,omitzero"`

	Rescue  Rescue `json:"rescue,omitzero"` // of a request that was refused as too long
	Shaping        // of the conversation that the request holds, if it holds one

	// the ids of the client's span, as W3C's traceparent writes them, where spans are made; neither stored nor shown
	TraceParent string `json:"-"`

	// What follows is known when the event is written down, and empty before.

	Seq  uint64 `json:"seq,omitempty"`  // counts all that was written down, from 1
	Turn int    `json:"turn,omitempty"` // counts the exchanges of the conversation, from 1
	Miss Miss   `json:"miss,omitempty"`
	Bill Bill   `json:"bill,omitzero"`
}

// IsStranger reports whether nobody knows whose it was: it came without a client's key, or its head could not be read.
// Whoever reaches the port can make as many of these as they like, so none may push out what others have done.
func (e *Exchange) IsStranger() bool {
	return e.Fault == Refused && e.Client == "" && (e.Status == http.StatusUnauthorized || e.Method == "")
}

// Rescue is what was done about a request that the provider refused as too long. The zero value is that it did not.
type Rescue struct {
	// why it was refused: output, rate, bytes, input, malformed or thinking
	Kind    string `json:"kind,omitempty"`
	Stages  string `json:"stages,omitempty"`  // what was done to it each time
	Tries   int32  `json:"tries,omitempty"`   // how often it was sent again
	Rescued bool   `json:"rescued,omitempty"` // the client got another answer than a refusal
	// of the request that was refused first, and of the one that was answered
	TokensBefore int `json:"tokens_before,omitempty"`
	TokensAfter  int `json:"tokens_after,omitempty"`
	WindowBefore int `json:"window_before,omitempty"` // as it was believed
	WindowAfter  int `json:"window_after,omitempty"`  // as it was learned; 0 if nothing was
}

// Outcome returns what came of it, as log and metrics call it.
func (r Rescue) Outcome() string {
	if r.Rescued {
		return "rescued"
	}
	return "refused"
}

// Outgrew reports whether a request of so many tokens would have been refused as well: the provider refused one that
// was not larger, for its size alone, and answered a shorter one.
func (r Rescue) Outgrew(tokens int) bool {
	switch r.Kind {
	case "input", "rate", "bytes":
		return r.Rescued && tokens >= r.TokensBefore
	}
	return false
}

// Shaping is what became of a conversation before it was sent; in mode observe, what would have become of it.
// Tokens are the model's.
type Shaping struct {
	Model        string `json:"model,omitempty"`        // as the request names it, cut if it is long
	Conversation string `json:"conversation,omitempty"` // its id
	// Title is the beginning of the user's first message. The first request of a conversation has it. It is text of the
	// conversation: only the owner may see it.
	Title string `json:"title,omitempty"`
	// id of the conversation that it has left; told once, by its first request
	Parent string `json:"parent,omitempty"`
	Window int    `json:"window,omitempty"` // tokens that the model is believed to hold
	Usable int32  `json:"usable,omitempty"` // tokens of it that a request may fill
	// tokens at which old results are cleared, whatever it costs
	ClearLine   int32 `json:"clear_line,omitempty"`
	CompactLine int32 `json:"compact_line,omitempty"` // tokens at which old turns become a summary
	// tokens that were held against the line for clearing, of a request for which a new decision was made
	Compared int32 `json:"compared,omitempty"`
	Items    int32 `json:"items,omitempty"` // messages as they came
	// the client changed or left out what it had said, from this message on; 0 if not
	Diverged     int32  `json:"diverged,omitempty"`
	TokensBefore Tokens `json:"tokens_before,omitzero"` // of the request as it came, and as it is sent
	TokensAfter  Tokens `json:"tokens_after,omitzero"`
	// tokens that stood in the same place in the request before, as it came and as it was sent
	HeldBefore int32 `json:"held_before,omitempty"`
	HeldAfter  int32 `json:"held_after,omitempty"`
	// a hash of what the chain leaves out: system prompt, tools, settings
	Leading string `json:"leading,omitempty"`
	// key of what stands for this request; it opens nothing by itself
	Decision string `json:"decision,omitempty"`
	// of the request as the provider counts them; 0 if it does not say
	TokensUsed int `json:"tokens_used,omitempty"`
	// tokens of the model for one that is counted here, as answers have shown; 0 if too few have
	Ratio float64 `json:"ratio,omitempty"`
	// WindowRefuted is a window that was learned, and is taken back as the answer is to more tokens; 0 is none.
	WindowRefuted int  `json:"window_refuted,omitempty"`
	Decided       bool `json:"decided,omitempty"` // a new decision was made
	Broke         bool `json:"broke,omitempty"`   // and it changed what had been sent in another form
	// texts are so large that their tokens are estimated
	Estimated bool `json:"estimated,omitempty"`
	// parts of what the model thought that are not sent any more, from this decision on, up to 65 535
	Thoughts uint16 `json:"thoughts,omitempty"`
	// why items were newly changed; with those of a form that was refused
	Causes Codes `json:"causes,omitempty"`
	// the names of the contexts that the tokens are from which were added
	Contexts string `json:"contexts,omitempty"`
	// items that each rung has newly changed; those of earlier decisions are not counted
	Offloaded int  `json:"offloaded,omitempty"`
	Cleared   int  `json:"cleared,omitempty"`
	Compacted int  `json:"compacted,omitempty"`
	TakenOut  int  `json:"taken_out,omitempty"` // tokens that the new decision took out, each item once
	Code      Code `json:"code,omitempty"`      // why nothing new was done, or not all of it
	// the same in words, with numbers, without content of the conversation
	Reason string `json:"reason,omitempty"`
	// spent on it, decompression included; 0 if it was no conversation to shape
	ShapeTime time.Duration `json:"shape_ns,omitempty"`
	// what failed inside epitome, while the request went on as Action says
	Inner string `json:"inner,omitempty"`
}

// Totals is BEFORE>AFTER, in tokens, each with a ~ in front if they are estimated; empty if nothing was counted.
func (s *Shaping) Totals() string {
	before, about := s.TokensBefore.Total(), ""
	if before == 0 {
		return ""
	}
	if s.Estimated {
		about = "~"
	}
	return about + strconv.Itoa(before) + ">" + about + strconv.Itoa(s.TokensAfter.Total())
}

// Tokens is the size of a request by what it is spent on.
type Tokens struct {
	System    int `json:"system,omitempty"`
	Tools     int `json:"tools,omitempty"`
	User      int `json:"user,omitempty"`
	Assistant int `json:"assistant,omitempty"`
	Results   int `json:"results,omitempty"`
	Summary   int `json:"summary,omitempty"` // what stands in the place of messages that were left out
	Images    int `json:"images,omitempty"`  // and sound and documents
	Other     int `json:"other,omitempty"`
}

// Total returns the size of the whole.
func (t Tokens) Total() int {
	return t.System + t.Tools + t.User + t.Assistant + t.Results + t.Summary + t.Images + t.Other
}

// Times returns the size in tokens of which each of t's is ratio.
func (t Tokens) Times(ratio float64) Tokens {
	f := func(n int) int { return int(float64(n)*ratio + 0.5) }
	return Tokens{f(t.System), f(t.Tools), f(t.User), f(t.Assistant), f(t.Results), f(t.Summary), f(t.Images), f(t.Other)}
}
