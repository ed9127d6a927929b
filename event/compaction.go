package event

import "time"

// Kinds of a Compaction.
const (
	CompactionStarted   = "compaction_started"
	CompactionCompleted = "compaction_completed"
	CompactionFailed    = "compaction_failed"
)

// ContextWindowWarning is what a Warning is called.
const ContextWindowWarning = "context_window_warning"

// ContextWindowCorrected is what it is called that an answer takes a window back which was learned or suspected.
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
	ReasonImitation = "imitation" // of a warning: a call of the model repeats what epitome puts into old calls
	ReasonUsers     = "users"     // of a warning: messages of the user are left to the transcript, as nothing else helped
)

// Compaction is a step of one, told when it happens. Tokens are the model's.
type Compaction struct {
	Kind           string
	Time           time.Time
	Conversation   string // its id
	Upstream       string // name of the one that the conversation goes to
	Model          string // as the request names it, cut if it is long
	Window, Usable int    // tokens that the model is believed to hold, and what of them a request may fill
	Reason         string // why there is a compaction: one of the reasons above; a metric label
	Mode           string // of the summary as it was made in the end: what [summarize] may say; a metric label
	Detail         string // of the summary
	MessagesBefore int
	MessagesAfter  int
	TokensBefore   int // of the request
	TokensAfter    int
	TurnsKept      int
	Files          int    // that the summary names
	Prepared       bool   // a model's words were there already
	Cost           Cost   // of a model's words; zero if none was heard
	Why            string // it failed, or fell back to what code makes; empty if neither
}

// Cost is what a model's words took. Tokens are the provider's count, of all requests together.
// It is stored with them as JSON: the names of its keys stay.
type Cost struct {
	InputTokens  int           `json:"input_tokens"`
	CachedTokens int           `json:"cached_tokens"` // of the input
	OutputTokens int           `json:"output_tokens"`
	Requests     int           `json:"requests"`
	Took         time.Duration `json:"took"` // from the first request on
}

// Warning says that a conversation is about to cost more, or to be more, than it should.
type Warning struct {
	Time           time.Time
	Conversation   string
	Upstream       string
	Model          string // as in Compaction
	Window, Usable int    // tokens that the model is believed to hold, and what of them a request may fill
	Tokens         int    // of the request as it came; of a budget, what was sent since the last compaction
	Sent           int    // tokens of the request as it is sent
	// threshold: Sent is more than Usable; budget: that is nearly used up; users; imitation; a metric label
	Reason   string
	Messages int  // of the user that are left to the transcript
	Latest   bool // the newest message of the user is one of them
}

// Summary is a step of a job that asks a model for a summary, of which there may be one ahead of a compaction.
type Summary struct {
	Kind         string
	Time         time.Time
	Conversation string
	Upstream     string // name of the one that is asked
	Model        string // that is asked, cut as in Compaction
	Detail       string
	Way          string // how it is asked: continue or transcript
	Update       bool   // of an earlier summary
	Prepared     bool   // nobody waited for it when it began
	SpanTokens   int    // of what it stands for
	Tokens       int    // of the summary
	Cost         Cost
	Reason       string // why it failed
}
