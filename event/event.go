// Package event describes exchanges, and the making of summaries beside them, as plain data, and works out their cost.
//
// The proxy makes one Exchange at the end of each exchange; log lines, metrics and pages are made from events alone.
// An event holds no credential, and no header value but the IDs of a trace, the agent's name and names that are in the
// configuration. Of a body it holds the name of the model and, clipped and for the owner alone, title, folder, the
// user's lines that begin with "keep:", and names of files.
//
// An amount is a whole number of nano-dollars, rounded once, so that sums of amounts agree wherever they are made. An
// amount that is not known is never 0 and never a guess: the reason stands in its place. A provider's bill may differ:
// searches, stored files, audio that is priced apart from text, batches, tiers of service and discounts are not
// counted.
package event

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Clip returns s, or a copy of its first 200 bytes if it is longer, in valid UTF-8. Texts of an event that come from
// outside are clipped.
func Clip(s string) string {
	const most = 200
	if len(s) > most {
		s = strings.Clone(s[:most])
	}
	return strings.ToValidUTF8(s, "")
}

// SessionOf returns a hash of the ID by which a client names its session; empty if id is.
func SessionOf[T string | []byte](id T) string {
	if len(id) == 0 {
		return ""
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:8])
}

// Fault says on which side an exchange went wrong. The set is closed, so a fault may be a metric label.
type Fault string

// The faults. None means that the provider's answer, of any status, reached the client whole and reported no error
// within a stream.
const (
	None        Fault = ""
	ClientGone  Fault = "client_gone" // the client left before it had the whole answer
	ClientSlow  Fault = "client_slow" // the client read nothing for too long
	Refused     Fault = "refused"     // epitome refused the request: a limit, a bad route, a bad request
	Unreachable Fault = "unreachable" // no connection to the upstream; nothing was sent
	Broken      Fault = "broken"      // the upstream broke off before its answer began
	Timeout     Fault = "timeout"     // the upstream was silent for too long before its answer began
	Truncated   Fault = "truncated"   // the upstream broke off or fell silent within its answer
	Failed      Fault = "failed"      // the upstream reported an error within its answer, which the client got whole
	Stopped     Fault = "stopped"     // epitome ended it, because it took longer than shutdown_grace
	Panic       Fault = "panic"       // a bug in epitome; the process went on
)

// Modes: how an exchange is treated.
const (
	ModeOn      = "on"      // rewrite where it helps
	ModeObserve = "observe" // work out what would be done, and send the original
	ModeOff     = "off"     // touch nothing, add nothing
)

// Actions of an exchange whose conversation no step of the ladder has changed.
const (
	ActionNone   = "none"
	ActionAdd    = "add"    // context files or memory stand behind its system prompt
	ActionBypass = "bypass" // something failed inside epitome
	ActionRescue = "rescue" // it was refused as too long, and sent again
)

// Exchange is one request and its response. Times are counted from Start; 0 means that the step was not reached.
type Exchange struct {
	ID            string        `json:"id"`                // unique in this process; its log line has it
	Start         time.Time     `json:"start"`             // when the whole request had been received
	Method        string        `json:"method"`            // of the request
	Path          string        `json:"path"`              // of the request, without the query, which may hold keys
	Upstream      string        `json:"upstream"`          // its name; empty if none was chosen
	Client        string        `json:"client,omitempty"`  // its name in the configuration; empty without keys
	Agent         string        `json:"agent,omitempty"`   // its name in User-Agent; empty without a conversation
	Session       string        `json:"session,omitempty"` // as SessionOf returns it
	Run           string        `json:"run,omitempty"`     // name of the "epitome run" that it came from; empty for none
	Dialect       string        `json:"dialect,omitempty"`
	Mode          string        `json:"mode"`                    // on, observe or off
	Action        string        `json:"action"`                  // none, bypass or a step of the ladder
	Status        int           `json:"status"`                  // of the answer to the client; 0 if there was none
	RequestBytes  int64         `json:"request_bytes"`           // of the body, as received
	ResponseBytes int64         `json:"response_bytes"`          // of the body sent to the client, with chunk framing
	FirstByte     time.Duration `json:"first_byte_ns,omitempty"` // of the answer
	Duration      time.Duration `json:"duration_ns"`
	Fault         Fault         `json:"fault,omitempty"`
	Err           string        `json:"error,omitempty"` // what went wrong, in one sentence
	Usage         Usage         `json:"usage,omitzero"`
	Rescue        Rescue        `json:"rescue,omitzero"`
	Shaping                     // of the conversation in the request, if there is one

	// What follows is neither stored nor shown.
	TraceParent string `json:"-"` // of the client's span, if spans are made
	Remote      string `json:"-"` // the address that the request came from, for the log

	// The rest is set when the event is stored.

	Seq      uint64 `json:"seq,omitempty"`  // counts all events, from 1
	Turn     int    `json:"turn,omitempty"` // counts the exchanges of the conversation, from 1
	Miss     Miss   `json:"miss,omitempty"`
	Bill     Bill   `json:"bill,omitzero"`
	Rebilled int    `json:"rebilled,omitempty"` // tokens that the cache lost with a miss; 0 if that is not known

	// It failed, like all with the same model before it: sums by model have it under "other".
	ModelUnknown bool `json:"model_unknown,omitempty"`
}

// IsStranger reports whether nobody knows who sent the request: it has no client's key or no readable head, or its
// connection was one too many. Anybody can send many of these, so they must not push out other events.
func (e *Exchange) IsStranger() bool {
	return e.Fault == Refused && e.Client == "" && (e.Status == http.StatusUnauthorized || e.Method == "")
}

// Rescue describes how a request was sent again that the provider refused as too long; zero if it refused none.
type Rescue struct {
	Kind    string `json:"kind,omitempty"`    // why it was refused, as window.Cause says it
	Stages  string `json:"stages,omitempty"`  // what was done to it each time
	Tries   int    `json:"tries,omitempty"`   // how often it was sent again
	Rescued bool   `json:"rescued,omitempty"` // the client got another answer than a refusal
	// Of the request that was refused first, and of the one that was answered.
	TokensBefore int `json:"tokens_before,omitempty"`
	TokensAfter  int `json:"tokens_after,omitempty"`
	WindowBefore int `json:"window_before,omitempty"` // as it was believed
	WindowAfter  int `json:"window_after,omitempty"`  // as it was learned; 0 if nothing was
}

// Outcome returns "rescued" or "refused", for log and metrics.
func (r Rescue) Outcome() string {
	if r.Rescued {
		return "rescued"
	}
	return "refused"
}

// Outgrew reports whether a request of so many tokens would have been refused as well: the provider refused one that
// was not larger, for its size alone, and answered a shorter one.
func (r Rescue) Outgrew(tokens int) bool {
	isForSize := r.Kind == "input" || r.Kind == "rate" || r.Kind == "bytes"
	return isForSize && r.Rescued && tokens >= r.TokensBefore
}

// Shaping describes how a conversation was rewritten before it was sent; in mode observe, how it would have been.
// Tokens are the model's; Before is of the request as the client sent it, After as it was sent on.
type Shaping struct {
	Model        string  `json:"model,omitempty"`        // as the request names it, clipped
	Conversation string  `json:"conversation,omitempty"` // its ID
	Title        string  `json:"title,omitempty"`        // beginning of the user's first message; in a first request
	Folder       string  `json:"folder,omitempty"`       // in which the agent works, or its project; like Title
	Parent       string  `json:"parent,omitempty"`       // conversation that it forked from; in its first request
	Window       int     `json:"window,omitempty"`       // tokens that the model is believed to hold
	Usable       int     `json:"usable,omitempty"`       // tokens of the window that a request may fill
	ClearLine    int     `json:"clear_line,omitempty"`   // tokens at which old results are cleared
	CompactLine  int     `json:"compact_line,omitempty"` // tokens at which old turns become a summary
	Items        int     `json:"items,omitempty"`        // messages as the client sent them
	Diverged     int     `json:"diverged,omitempty"`     // first message that the client changed or dropped; 0 if none
	TokensBefore Tokens  `json:"tokens_before,omitzero"`
	TokensAfter  Tokens  `json:"tokens_after,omitzero"`
	HeldBefore   int     `json:"held_before,omitempty"` // tokens that the last request began with, too
	HeldAfter    int     `json:"held_after,omitempty"`
	Leading      string  `json:"leading,omitempty"`   // hash of system prompt, tools and settings
	Decision     string  `json:"decision,omitempty"`  // key of the decision in the ledger
	Ratio        float64 `json:"ratio,omitempty"`     // tokens of the model for one counted here; 0: not learned
	Decided      bool    `json:"decided,omitempty"`   // a new decision was made
	Broke        bool    `json:"broke,omitempty"`     // and it changed the form of earlier messages
	Estimated    bool    `json:"estimated,omitempty"` // texts are so large that their tokens are estimated
	Thoughts     int     `json:"thoughts,omitempty"`  // parts of thinking that are left out from this decision on
	Causes       Codes   `json:"causes,omitempty"`    // why items were newly changed
	Streams      bool    `json:"streams,omitempty"`   // the client asked for a stream
	Added        int     `json:"added,omitempty"`     // tokens of context files and memory
	Memory       int     `json:"memory,omitempty"`    // of Added, the tokens of memory
	Contexts     string  `json:"contexts,omitempty"`  // names of the contexts whose files were added
	// Items that each step has newly changed.
	Offloaded  int           `json:"offloaded,omitempty"`
	Cleared    int           `json:"cleared,omitempty"`
	Compacted  int           `json:"compacted,omitempty"`
	Compaction Compaction    `json:"compaction,omitzero"`
	Warnings   []Warning     `json:"warnings,omitempty"`
	Kept       []string      `json:"kept,omitempty"`      // new lines of the user that begin with "keep:"
	TakenOut   int           `json:"taken_out,omitempty"` // tokens that the new decision took out
	Code       Code          `json:"code,omitempty"`      // why nothing new was done, or not all of it
	Reason     string        `json:"reason,omitempty"`    // the same in words, with numbers
	CacheLife  time.Duration `json:"cache_ns,omitempty"`  // for which the provider is asked to cache it; 0 if it is not
	ShapeTime  time.Duration `json:"shape_ns,omitempty"`  // with decompression; 0 if there was no conversation to shape
	Inner      string        `json:"inner,omitempty"`     // what failed inside epitome, while the request went on
	// New results that bring again what had been taken out, and their tokens as they came: see ladder.Known.ReadAgain.
	ReadAgain       int `json:"read_again,omitempty"`
	ReadAgainTokens int `json:"read_again_tokens,omitempty"`
}

// Totals returns BEFORE>AFTER in tokens, each with a ~ in front if they are estimated; empty if nothing was counted.
func (s *Shaping) Totals() string {
	before := s.TokensBefore.Total()
	if before == 0 {
		return ""
	}
	about := ""
	if s.Estimated {
		about = "~"
	}
	return about + strconv.Itoa(before) + ">" + about + strconv.Itoa(s.TokensAfter.Total())
}

// Tokens is the size of a request by category.
type Tokens struct {
	System    int `json:"system,omitempty"`
	Tools     int `json:"tools,omitempty"`
	User      int `json:"user,omitempty"`
	Assistant int `json:"assistant,omitempty"`
	Results   int `json:"results,omitempty"`
	Summary   int `json:"summary,omitempty"` // text in the place of messages that were left out
	Images    int `json:"images,omitempty"`  // and audio and documents
	Other     int `json:"other,omitempty"`
}

// Total returns the size of the whole.
func (t Tokens) Total() int {
	return t.System + t.Tools + t.User + t.Assistant + t.Results + t.Summary + t.Images + t.Other
}

// Times returns t with each number multiplied by ratio.
func (t Tokens) Times(ratio float64) Tokens {
	f := func(n int) int { return int(float64(n)*ratio + 0.5) }
	return Tokens{
		System: f(t.System), Tools: f(t.Tools), User: f(t.User), Assistant: f(t.Assistant),
		Results: f(t.Results), Summary: f(t.Summary), Images: f(t.Images), Other: f(t.Other),
	}
}

// Step returns the highest step of the ladder that an exchange newly took: rescue, compact, clear or offload; restore
// if it took edits back; empty if there was none. Its Action is what the conversation carries from earlier exchanges,
// too.
func Step(e *Exchange) string {
	switch {
	case e.Rescue.Kind != "":
		return "rescue"
	case e.Compacted > 0:
		return "compact"
	case e.Cleared > 0:
		return "clear"
	case e.Offloaded > 0:
		return "offload"
	case slices.Contains(e.Causes, CodeRestored):
		return "restore"
	}
	return ""
}

// Edit is in what form an item is sent that is not sent whole. It is read from the recorded decision when one asks.
type Edit struct {
	Item     int    `json:"item"` // index in the request's messages, from 0
	Last     int    `json:"last"` // of several messages that it stands for, the index of the last one; else Item
	Rung     string `json:"rung"` // offload, clear or compact
	Code     Code   `json:"code"` // why
	Reason   string `json:"reason"`
	New      bool   `json:"new"`    // decided in this exchange
	Before   int    `json:"before"` // tokens as it came; 0 if not recorded
	After    int    `json:"after"`
	Text     string `json:"text"`               // what is sent in its place
	Artifact string `json:"artifact,omitempty"` // name of what stood there, in lines; empty if none was kept
}

// Messages says which messages of the request the edit is about. They count from 1, as in the texts for the model.
func (e Edit) Messages() string {
	if e.Last > e.Item {
		return fmt.Sprintf("messages %d–%d", e.Item+1, e.Last+1)
	}
	return fmt.Sprintf("message %d", e.Item+1)
}

// Edits are all edits of a request.
type Edits struct {
	Turn    int    `json:"turn"`
	List    []Edit `json:"edits"`
	Missing string `json:"missing,omitempty"` // why there are none to read: expired, or the store was lost
}
