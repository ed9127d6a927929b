package summarize

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"
)

// Question is a span of a conversation that is to become prose. Whoever asks does not change it afterwards.
type Question struct {
	// Key names the span and all that the answer depends on: scope, chain at its start and end, mode, detail and the earlier
	// summary. Equal keys have equal answers; the chain in it covers the content, so that no content can know the key.
	Key          string
	Conversation string // its id, for events alone
	Upstream     string // the conversation's own
	Model        string
	Credential   any     // what Means.Send needs to speak for the client; kept in the job's memory alone, and never shown
	By           *Config // what a rule says for this conversation; nil is the Summariser's own

	// Continue is a request in the provider's dialect with the rewritten messages up to the cut, the earlier summary among
	// them; nil if it would not fit together with what Needs says.
	Continue   []byte
	Transcript []Entry // the span told as text, for the other way to ask; what stays before it and tells the task comes first
	Earlier    string  // prose of the summary that this one updates; empty for the first one
	SpanTokens int     // of the span as it is sent now
	Room       int     // tokens that the prose may take; 0 is no limit but the span
	Usable     int     // tokens that a request to the model that is asked may have beside what is kept free for answers; 0 if unknown
}

// size is the memory that the question holds, about, in bytes.
func (q *Question) size() int64 {
	n := len(q.Key) + len(q.Continue) + len(q.Earlier)
	for i := range q.Transcript {
		e := &q.Transcript[i]
		n += len(e.Tool) + len(e.State) + len(e.Text) + 64
	}
	return int64(n)
}

// Format keeps credential and conversation out of everything that prints, whatever the verb.
func (q Question) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "a question to summarise") }

// LogValue does the same for logs.
func (q Question) LogValue() slog.Value { return slog.StringValue("a question to summarise") }

// Roles of an Entry: three speakers, and the two sides of a tool.
const (
	RoleSystem    = "system"
	RoleUser      = "user"
	RoleAssistant = "assistant"
	RoleCall      = "call"   // its text is the arguments
	RoleResult    = "result" // its text is what the tool gave
)

// Entry is a piece of a transcript.
type Entry struct {
	Group int    // rises along the span; entries of one group are left out together
	Role  string // one of the roles above
	Tool  string // name of the tool, for a call or a result
	State string // what is known of a result besides what it says, as "exit code 1" or "failed"; empty if nothing is
	Text  string
}

// The ways to ask.
const (
	WayContinue   = "continue"   // the conversation itself, with an instruction behind it
	WayTranscript = "transcript" // a request of its own, with the span told as text
)

// Prose is a summary, and what it cost. Tokens of requests are the provider's count, of all requests that it took.
type Prose struct {
	Text         string        `json:"text"`
	Tokens       int           `json:"tokens"` // of the text
	Way          string        `json:"way"`
	Upstream     string        `json:"upstream"`
	Model        string        `json:"model"`
	InputTokens  int           `json:"input_tokens"`
	CachedTokens int           `json:"cached_tokens"` // of the input
	OutputTokens int           `json:"output_tokens"`
	Requests     int           `json:"requests"`
	Took         time.Duration `json:"took"` // from the first request on
	Made         time.Time     `json:"made"`
}

// Kind is what an Event tells.
type Kind string

// The kinds. Each job that asks has one Started, and then one of the others.
const (
	Started   Kind = "summary_started"
	Completed Kind = "summary_completed"
	Failed    Kind = "summary_failed"
)

// Event is a step of a job, without a word of the conversation.
type Event struct {
	Kind         Kind
	Conversation string
	Upstream     string // that is asked
	Model        string
	Detail       string
	Way          string
	Update       bool // of an earlier summary
	Prepared     bool // nobody waited for it when it began
	SpanTokens   int
	Tokens       int // of the prose
	InputTokens  int
	CachedTokens int
	OutputTokens int
	Requests     int
	Took         time.Duration
	Reason       string // why it failed
}

// Request is what Means.Send is to send.
type Request struct {
	Upstream   string
	Body       []byte // JSON in the dialect
	Credential any    // the question's; nil if the upstream is not the one it is for
	KeyEnv     string // the environment variable whose value is the key, if it is not empty
}

// Format keeps credential and conversation out of everything that prints.
func (r Request) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "a request for a summary") }

// LogValue does the same for logs.
func (r Request) LogValue() slog.Value { return slog.StringValue("a request for a summary") }

// Response is an upstream's answer.
type Response struct {
	Status      int
	ContentType string
	RetryAfter  string        // the header as it came
	Body        io.ReadCloser // without content coding; Close may come twice, and from another goroutine while Read waits
}

// Sender sends a request and returns when the head of its answer is there, or the context has ended.
type Sender func(ctx context.Context, r Request) (Response, error)

// Form is how an answer is asked for.
type Form struct {
	MaxOutput int  // tokens
	OtherCap  bool // the provider wants the cap under another name than is usual
	Stream    bool // the provider answers in streams alone
}

// Answer is what a model said.
type Answer struct {
	Text    string // without its reasoning
	Refused bool   // the model, or a filter, declined
	Cut     bool   // the cap on the output was reached
	Called  bool   // tools are called
	Error   []byte // what the provider says went wrong in an answer that began well; nil if nothing did

	Input, Cached, Output int // tokens, 0 if they are not told
}

// Dialect makes requests and reads answers of a provider's dialect.
type Dialect interface {
	// Continue puts an instruction behind the conversation in body, and takes out what would keep the answer from being plain text.
	Continue(body []byte, instruction string, f Form) ([]byte, error)
	// Prompt is a request that has a system prompt and a user's message.
	Prompt(model, system, user string, f Form) []byte
	// Read reads an answer, streamed or not, and not more than is good for the memory. One that breaks off is an error.
	Read(contentType string, body io.Reader) (Answer, error)
	// Adapt says in which other form to ask after the provider has refused one; false if the form is not what it complains of.
	Adapt(f Form, refusal []byte) (Form, bool)
}
