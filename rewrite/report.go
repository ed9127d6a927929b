package rewrite

import (
	"time"

	"epitome/event"
	"epitome/prose"
	"epitome/rewrite/conversation"
	"epitome/rewrite/decision"
	"epitome/rewrite/limits"
	"epitome/rewrite/plan"
)

// Input is a request to shape.
type Input struct {
	Dialect        conversation.Dialect
	Body           []byte // decoded; it is read and never changed
	Upstream       string // its name
	Scope, Project string // who may share facts with whom, and in which project that is, if it is known
	Limits         *limits.Limits
	Style          prose.Style  // of summaries
	Compact        bool         // now, whatever the lines say, and whatever was decided for this request before
	Replay         bool         // only what was decided is repeated; nothing is decided, kept or learned
	Rescue         *plan.Rescue // how the form was refused that was decided for this request; nil if it was not
	Client         plan.Client  // nil if nobody waits
	Now            time.Time    // when it was asked; zero: nobody knows
	Contexts       []string     // names of the files that its conversation is to be given
	// Lend lends memory for the new body, in which Output.Body may lie; if it is nil, or returns nil, the body gets
	// its own. It is not called once Shape has returned, and what it lends is then held by Output.Body alone.
	Lend func(n int) []byte
}

// Output is what is sent in a request's place.
type Output struct {
	Body    []byte // Input.Body itself if nothing is changed
	Changed bool   // Body is another one
	Report  Report
	// Settle records the form of a rescue. The caller calls it when the provider has taken the request, and before it
	// changes Input.Body. It returns false if nobody knows whether others will find it.
	Settle func() (recorded bool)

	dialect   conversation.Dialect
	forms     []*decision.Form // of each item behind the head
	unthought []int            // items behind the head whose thinking this decision takes out
	ratio     float64          // tokens of the model that one of what is counted in is
	added     added
}

// The actions: what the ladder has done to a request as it is sent, in this exchange or in an earlier one. The highest
// rung names it.
const (
	ActionNone    = event.ActionNone
	ActionAdd     = "add" // nothing but what is added behind the system's text
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
	Project      string // in which it is; empty if nobody knows, or if nothing is remembered of any
	Model        string // as the request names it
	Window       int    // tokens that the model is believed to hold, and what of them may be filled
	Usable       int
	MaxOutput    int  // tokens that the request asks for; 0 if it says nothing
	Streams      bool // the answer is wanted as a stream
	Items        int  // messages, with those of the head
	Before       conversation.Size
	After        conversation.Size // both in tokens of the model
	Ratio        float64           // tokens of the model that one token of the vocabulary is taken for
	Estimated    bool              // some texts are so large that their tokens are estimated
	Answers      int               // that have shown the ratio; 0: it is the model's own
	Counted      int               // tokens of the vocabulary that are sent; 0 if a provider's count tells no ratio
	Decided      bool              // a new decision was made
	Broke        bool              // and it changed items that had been sent in another form
	Changes      []plan.Change     // what it did, in the order of the items; nothing of what was only repeated
	Repeated     int               // items that were sent in a form decided earlier
	Stage        plan.Stage        // of a rescue, the last one that was needed; zero if nothing came of it
	Thoughts     int               // parts of what the model thought that are not sent any more, from this decision on
	Drops        bool              // the provider leaves out what does not fit, and refuses nothing for its size
	Unsure       bool              // what it thought may be bound to what was sent earlier, in another form than now
	Bearings     Bearings
	Added        Added
	Code         event.Code // why nothing new was done, or not all that was asked for; none if something was
	Reason       string     // the same in words, with numbers
	Err          error      // what failed inside epitome; the request went on as Action says
}
