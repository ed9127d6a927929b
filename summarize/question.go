package summarize

import (
	"context"

	"epitome/dialect/conversation"
)

// Question asks for a summary of the items of a span of a conversation. It must not be changed once it is asked, and
// never be printed: it has a credential and a conversation.
type Question struct {
	// Key names the span and all that the answer depends on, but for Behind and Instructions: scope, chain at its
	// start and end, mode, detail, earlier summary and focus. The chain covers the content, so no content can know the key.
	Key          string
	Conversation string // ID, for events
	Scope        string
	Project      string // in which the agent works; empty if it is not known
	Upstream     string // of the conversation, like Model and Dialect
	Model        string
	Dialect      conversation.Dialect
	Credential   any     // by which the upstream knows the client
	Continue     []byte  // the request as it is sent, up to the end of the span; nil if it cannot be continued
	Transcript   []Entry // the span as text, for the other way to ask, below the user's messages of the head
	Earlier      string  // summary by a model that the answer is to update; empty for the first one
	Written      string  // the files that were written in the span, a line each: an answer has to name one of them
	Focus        string  // what the user wants this answer to be about above all; empty if they do not say
	Instructions string  // of the user, for all answers; a Summarizer sets it
	Behind       int     // tokens of the messages behind the span, which stay; more may come before the answer is used
	SpanTokens   int     // of the span as it is sent now
	Detail       Detail  // how long the answer is to be
	Distills     bool    // a distillate of one result is wanted, not a summary
	Room         int     // tokens that the answer may take; 0 is no limit but SpanTokens
	Usable       int     // tokens of the vocabulary that a request to Model may have; 0 if that is not known
}

// Entry is a piece of a transcript: what somebody said, a call, or a result.
type Entry struct {
	Group   int    // rises along the span; entries of one group are left out together
	Speaker string // such as "user", "call bash" or "result bash, exit code 1"
	IsTool  bool   // a call or a result; the text of a call is its arguments
	Text    string
}

// The ways to ask.
const (
	WayContinue   = "continue"   // the conversation itself, with an instruction behind it
	WayTranscript = "transcript" // a request of its own, with the span as text
)

// Request is sent to an upstream. It holds a credential and a conversation: it is not for logs.
type Request struct {
	Upstream   string
	Body       []byte
	Path       string // where the API takes the body, unless the credential says it
	Credential any    // of the question; nil for another upstream
	KeyEnv     string // environment variable with the key, if it is not empty
	Authorize  func(key string) (headers [][2]string)
}

// Response is the answer of an upstream.
type Response struct {
	Status     int
	Body       []byte // without content coding
	RetryAfter string // the header of this name; empty if there is none
}

// Sender sends a request and returns the whole answer, or an error once ctx has ended.
type Sender func(ctx context.Context, r Request) (Response, error)
