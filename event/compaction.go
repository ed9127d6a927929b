package event

import "time"

// Kinds of a Compaction.
const (
	CompactionCompleted = "compaction_completed"
	CompactionFailed    = "compaction_failed"
)

// ContextWindowWarning is what a Warning is called.
const ContextWindowWarning = "context_window_warning"

// ContextWindowCorrected is what it is called that an answer takes a window back which was learned.
const ContextWindowCorrected = "context_window_corrected"

// Kinds of a Summary.
const (
	SummaryStarted   = "summary_started"
	SummaryCompleted = "summary_completed"
	SummaryFailed    = "summary_failed"
)

// Why a conversation is compacted, or warned about.
const (
	ReasonThreshold = "threshold" // a request is over the line; of a warning, over what its model takes
	ReasonBudget    = "budget"    // what was sent since the last compaction is over cutover_at; of a warning, warn_at
	ReasonManual    = "manual"    // it was asked for
	ReasonOverflow  = "overflow"  // the provider refused the request as too long
	ReasonUsers     = "users"     // of a warning: messages of the user are left to the transcript, as nothing else helped
)

// Compaction is a step of one, told when it happens. Tokens are the model's. Seq is known when it is written down, as
// with an Exchange.
type Compaction struct {
	Seq          uint64    `json:"seq,omitempty"` // as in Exchange
	Kind         string    `json:"kind,omitempty"`
	Time         time.Time `json:"time,omitzero"`
	Conversation string    `json:"conversation,omitempty"` // its id
	Upstream     string    `json:"upstream,omitempty"`     // name of the one that the conversation goes to
	Model        string    `json:"model,omitempty"`        // as the request names it, cut if it is long
	Window       int       `json:"window,omitempty"`       // tokens that the model is believed to hold
	Usable       int       `json:"usable,omitempty"`       // what of them a request may fill
	// why there is a compaction: one of the reasons above; a metric label
	Reason string `json:"reason,omitempty"`
	// of the summary as it was made in the end: what [summarize] may say; a metric label
	Mode           string `json:"mode,omitempty"`
	MessagesBefore int    `json:"messages_before,omitempty"`
	MessagesAfter  int    `json:"messages_after,omitempty"`
	TokensBefore   int    `json:"tokens_before,omitempty"` // of the request
	TokensAfter    int    `json:"tokens_after,omitempty"`
	TurnsKept      int    `json:"turns_kept,omitempty"`
	Files          int    `json:"files,omitempty"`    // that the summary names
	Prepared       bool   `json:"prepared,omitempty"` // a model's words were there already
	Cost           Cost   `json:"cost,omitzero"`      // of a model's words; zero if none was heard
	// it failed, or fell back to what code makes; empty if neither
	Why string `json:"why,omitempty"`
}

// Cost is what a model's words took. Tokens are the provider's count, of all requests together.
// It is stored with them as JSON: the names of its keys stay.
type Cost struct {
	InputTokens  int `json:"input_tokens"`
	CachedTokens int `json:"cached_tokens"` // of the input
	// of the input, what a cache took up at a price
	WrittenTokens int           `json:"written_tokens,omitempty"`
	OutputTokens  int           `json:"output_tokens"`
	Requests      int           `json:"requests"`
	Untold        int           `json:"untold,omitempty"` // of the requests, those whose answers do not tell tokens
	Took          time.Duration `json:"took"`             // from the first request on
}

// Warning says that a conversation is about to cost more, or to be more, than it should.
type Warning struct {
	Seq          uint64    `json:"seq,omitempty"` // as in Exchange
	Time         time.Time `json:"time,omitzero"`
	Conversation string    `json:"conversation,omitempty"`
	Upstream     string    `json:"upstream,omitempty"`
	Model        string    `json:"model,omitempty"`  // as in Compaction
	Window       int       `json:"window,omitempty"` // tokens that the model is believed to hold
	Usable       int       `json:"usable,omitempty"` // what of them a request may fill
	// of the request as it came; of a budget, what was sent since the last compaction
	Tokens int `json:"tokens,omitempty"`
	Sent   int `json:"sent,omitempty"` // tokens of the request as it is sent
	// threshold: Sent is more than Usable; budget: that is nearly used up; users; a metric label
	Reason   string `json:"reason,omitempty"`
	Messages int    `json:"messages,omitempty"` // of the user that are left to the transcript
	Latest   bool   `json:"latest,omitempty"`   // the newest message of the user is one of them
}

// Charge is what something cost.
type Charge struct {
	Price string `json:"price,omitempty"` // by which it was worked out; empty: none is known, and Nano is unknown, not 0
	Nano  int64  `json:"nano,omitempty"`  // nano-dollars
}

// IsUncharged reports whether what it cost is not known: no price of the model is, or an answer does not tell its
// tokens. What was refused costs nothing.
func (s *Summary) IsUncharged() bool {
	c := &s.Cost
	return s.Own.Price == "" && (c.Untold > 0 || c.InputTokens > 0 || c.OutputTokens > 0)
}

// Summary is a step of a job that asks a model for a summary, of which there may be one ahead of a compaction.
type Summary struct {
	Seq          uint64    `json:"seq,omitempty"` // as in Exchange
	Kind         string    `json:"kind,omitempty"`
	Time         time.Time `json:"time,omitzero"`
	Conversation string    `json:"conversation,omitempty"`
	Upstream     string    `json:"upstream,omitempty"`    // name of the one that is asked
	Model        string    `json:"model,omitempty"`       // that is asked, cut as in Compaction
	Way          string    `json:"way,omitempty"`         // how it is asked: continue or transcript
	Update       bool      `json:"update,omitempty"`      // of an earlier summary
	Prepared     bool      `json:"prepared,omitempty"`    // nobody waited for it when it began
	SpanTokens   int       `json:"span_tokens,omitempty"` // of what it stands for
	Tokens       int       `json:"tokens,omitempty"`      // of the summary
	Cost         Cost      `json:"cost,omitzero"`
	Own          Charge    `json:"own,omitzero"`     // for Cost; known when this is written down
	Reason       string    `json:"reason,omitempty"` // why it failed
}
