package event

import "time"

// Kinds of a Compaction and of a Summary.
const (
	CompactionCompleted = "compaction_completed"
	CompactionFailed    = "compaction_failed"

	SummaryStarted   = "summary_started"
	SummaryCompleted = "summary_completed"
	SummaryFailed    = "summary_failed"
	SummaryPaused    = "summary_paused"
)

// Why a conversation is compacted, or warned about.
const (
	ReasonThreshold = "threshold" // the request is over the line; of a warning, over Usable
	ReasonBudget    = "budget"    // tokens sent since the last compaction are over cutover_at; of a warning, warn_at
	ReasonTurns     = "turns"     // answers since the last compaction are as many as compact_turns
	ReasonWaits     = "waits"     // of a warning: none can be made that cutover_at, compact_turns or the agent asks for
	ReasonManual    = "manual"    // the client asked for it
	ReasonAgent     = "agent"     // the agent called the tool compact
	ReasonOverflow  = "overflow"  // the provider refused the request as too long
	ReasonUsers     = "users"     // of a warning: messages of the user are left out, as nothing else helped
	ReasonOverhead  = "overhead"  // of a warning: system prompt, tools and first message leave too little of the window
	ReasonNear      = "near"      // of a warning: the request fills four fifths of Usable (IsNear)
	ReasonMessages  = "messages"  // of a warning: soon newest_messages leaves out the oldest messages
	ReasonItems     = "items"     // of a warning: four fifths of the items up to which a conversation is shortened
	ReasonKeep      = "keep"      // of a warning: the user's lines that begin with "keep:" are over their limit
)

// Compaction is how a compaction ended that was made or tried for a request; zero if there was none.
type Compaction struct {
	Kind         string `json:"kind,omitempty"`
	Reason       string `json:"reason,omitempty"`        // one of the reasons above; a metric label
	Mode         string `json:"mode,omitempty"`          // summarize.mode of the summary in the end; a metric label
	TokensBefore int    `json:"tokens_before,omitempty"` // of the request
	TokensAfter  int    `json:"tokens_after,omitempty"`
	Prepared     bool   `json:"prepared,omitempty"` // the model's text was ready before
	Cost         Cost   `json:"cost,omitzero"`      // of the model's text; zero if there is none
	Why          string `json:"why,omitempty"`      // why it failed, or has no model's text

	// Of one that was made.

	MessagesBefore int      `json:"messages_before,omitempty"` // of the request as the client sent it
	MessagesAfter  int      `json:"messages_after,omitempty"`  // and as it was sent on
	TurnsBefore    int      `json:"turns_before,omitempty"`    // answers of the model, as the client sent them
	TurnsKept      int      `json:"turns_kept,omitempty"`      // answers of the model behind the summary
	SummaryTokens  int      `json:"summary_tokens,omitempty"`
	FilesRead      []string `json:"files_read,omitempty"`    // by calls that the summary replaces, newest last
	FilesWritten   []string `json:"files_written,omitempty"` // likewise

	Receipt []Standing `json:"receipt,omitempty"`
}

// Standing is how much of one kind stands in the request that is sent. The rest stands in the transcript alone.
type Standing struct {
	Kind    string   `json:"kind"` // messages (of the user), orders, files (written), failures, tasks or claims (of a model)
	All     int      `json:"all"`
	Sent    int      `json:"sent"`
	Missing []string `json:"missing,omitempty"` // the rest; events do not have it
}

// Compacted is the event of a compaction that an exchange has made or tried. Its files are text of the conversation,
// which only the owner is shown; the exchange does not have them.
type Compacted struct {
	Seq          uint64    `json:"seq,omitempty"` // set when the event is stored, as in Exchange
	Time         time.Time `json:"time,omitzero"`
	Exchange     string    `json:"exchange"` // its ID
	Conversation string    `json:"conversation,omitempty"`
	Upstream     string    `json:"upstream,omitempty"`
	Model        string    `json:"model,omitempty"`
	Compaction
}

// TakeCompacted returns the event of the exchange's compaction, and removes the files from the exchange; nil if there
// was no compaction, or none was sent.
func (e *Exchange) TakeCompacted() *Compacted {
	c := &Compacted{
		Time: e.Start, Exchange: e.ID, Conversation: e.Conversation, Upstream: e.Upstream, Model: e.Model,
		Compaction: e.Compaction,
	}
	e.Compaction.FilesRead, e.Compaction.FilesWritten = nil, nil
	if c.Kind == "" || e.Mode != ModeOn {
		return nil
	}
	return c
}

// Cost is what a model's text took, in tokens of the provider's count, of all requests together. It is stored as JSON:
// the names of its keys stay.
type Cost struct {
	InputTokens   int           `json:"input_tokens"`
	CachedTokens  int           `json:"cached_tokens"`            // of the input
	WrittenTokens int           `json:"written_tokens,omitempty"` // of the input, written to a cache at a price
	OutputTokens  int           `json:"output_tokens"`
	Requests      int           `json:"requests"`
	Unreported    int           `json:"untold,omitempty"` // requests whose answers do not state tokens
	Took          time.Duration `json:"took"`             // from the first request on
}

// Warning says that a conversation is about to cost more, or to be larger, than it should.
type Warning struct {
	Reason   string `json:"reason"`             // near, threshold, budget, waits, users, overhead, messages, items or keep
	Tokens   int    `json:"tokens"`             // of the request, of overhead, or sent since the last compaction
	Percent  int    `json:"percent,omitempty"`  // that these take of the window, if the request is near its end
	Messages int    `json:"messages,omitempty"` // that are left out, or lines; of messages, those sent; of items, all
	Why      string `json:"why,omitempty"`      // of waits: why no compaction can be made
	Due      string `json:"due,omitempty"`      // of waits: budget, turns or agent, as it would be its reason
}

// IsNear reports whether a request fills four fifths of what it may have, so that it is soon compacted.
func IsNear(tokens, usable int) bool { return usable > 0 && 5*tokens >= 4*usable }

// Charge is what something cost.
type Charge struct {
	Price string `json:"price,omitempty"` // ID of the price; empty: none is known, and Nano is unknown, not 0
	Nano  int64  `json:"nano,omitempty"`  // nano-dollars
}

// Summary is a step of a job that asks a model for a summary.
type Summary struct {
	Seq          uint64    `json:"seq,omitempty"` // set when the event is stored, as in Exchange
	Kind         string    `json:"kind,omitempty"`
	Time         time.Time `json:"time,omitzero"`
	Conversation string    `json:"conversation,omitempty"`
	Client       string    `json:"client,omitempty"`      // whose conversation it is; its name in the configuration
	Upstream     string    `json:"upstream,omitempty"`    // that is asked
	Model        string    `json:"model,omitempty"`       // that is asked, clipped
	Way          string    `json:"way,omitempty"`         // how it is asked: continue or transcript
	Update       bool      `json:"update,omitempty"`      // of an earlier summary
	Prepared     bool      `json:"prepared,omitempty"`    // nobody waited for it when it began
	Window       int       `json:"window,omitempty"`      // of the conversation's model
	SpanTokens   int       `json:"span_tokens,omitempty"` // of the messages that it replaces
	Tokens       int       `json:"tokens,omitempty"`      // of the summary
	Cost         Cost      `json:"cost,omitzero"`
	Own          Charge    `json:"own,omitzero"`       // for Cost; set when the event is stored
	Reason       string    `json:"reason,omitempty"`   // why it failed, or what a pause means
	Key          string    `json:"key,omitempty"`      // of the answer in the store
	Distills     bool      `json:"distills,omitempty"` // a distillate of one result is asked for, not a summary
}
