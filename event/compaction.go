package event

import "time"

// Kinds of a Compaction and of a Summary, and what the log calls a Warning and an answer that refutes a learned window.
const (
	CompactionCompleted = "compaction_completed"
	CompactionFailed    = "compaction_failed"

	SummaryStarted   = "summary_started"
	SummaryCompleted = "summary_completed"
	SummaryFailed    = "summary_failed"

	ContextWindowWarning   = "context_window_warning"
	ContextWindowCorrected = "context_window_corrected"
)

// Why a conversation is compacted, or warned about.
const (
	ReasonThreshold = "threshold" // the request is over the line; of a warning, over Usable
	ReasonBudget    = "budget"    // tokens sent since the last compaction are over cutover_at; of a warning, warn_at
	ReasonManual    = "manual"    // it was asked for
	ReasonOverflow  = "overflow"  // the provider refused the request as too long
	ReasonUsers     = "users"     // of a warning: messages of the user are left out, as nothing else helped
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
}

// Cost is what a model's text took, in tokens of the provider's count, of all requests together. It is stored as JSON:
// the names of its keys stay.
type Cost struct {
	InputTokens   int           `json:"input_tokens"`
	CachedTokens  int           `json:"cached_tokens"`            // of the input
	WrittenTokens int           `json:"written_tokens,omitempty"` // of the input, written to a cache at a price
	OutputTokens  int           `json:"output_tokens"`
	Requests      int           `json:"requests"`
	Untold        int           `json:"untold,omitempty"` // requests whose answers do not state tokens
	Took          time.Duration `json:"took"`             // from the first request on
}

// Warning says that a conversation is about to cost more, or to be larger, than it should.
type Warning struct {
	Reason   string `json:"reason"`             // threshold, budget or users
	Tokens   int    `json:"tokens"`             // of the original request, or sent since the last compaction
	Messages int    `json:"messages,omitempty"` // of the user that are left out
}

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
	Upstream     string    `json:"upstream,omitempty"`    // that is asked
	Model        string    `json:"model,omitempty"`       // that is asked, clipped
	Way          string    `json:"way,omitempty"`         // how it is asked: continue or transcript
	Update       bool      `json:"update,omitempty"`      // of an earlier summary
	Prepared     bool      `json:"prepared,omitempty"`    // nobody waited for it when it began
	SpanTokens   int       `json:"span_tokens,omitempty"` // of the messages that it replaces
	Tokens       int       `json:"tokens,omitempty"`      // of the summary
	Cost         Cost      `json:"cost,omitzero"`
	Own          Charge    `json:"own,omitzero"`     // for Cost; set when the event is stored
	Reason       string    `json:"reason,omitempty"` // why it failed
}
