// Package prose has the data that is exchanged about summaries by models: what package rewrite asks, what package
// summarize answers, and what the dialects of providers read and write for both.
package prose

import "epitome/event"

// Question is a span of a conversation that a model is to summarize. It must not be changed once it is asked, and never
// be printed: it has a credential and a conversation.
type Question struct {
	// Key names the span and all that the answer depends on: scope, chain at its start and end, mode, detail and the
	// earlier summary. Equal keys have equal answers. The chain covers the content, so no content can know the key.
	Key          string
	Conversation string // its id, for events alone
	Scope        string // the conversation's own
	Project      string // in which the conversation is; empty: nobody knows
	Upstream     string // the conversation's own
	Model        string // the conversation's own
	Dialect      string // the key of the conversation's own
	Credential   any    // what it takes to speak for the client; kept in the job's memory alone, and never shown

	// Continue is the request as it is sent, up to the end of the span; nil if there is no room for an instruction
	// and an answer behind it, or if it does not show Earlier.
	Continue   []byte
	Transcript []Entry // the span as text, for the other way to ask; the users' messages of the head come first
	Earlier    string  // prose that the new one is to update; empty for the first one
	SpanTokens int     // of the span as it is sent now
	Room       int     // tokens that the prose may take; 0 is no limit but the span
	Usable     int     // tokens that a request to the model that is asked may have; 0 if unknown
}

// Kind says who speaks in an Entry, or which side of a tool it is.
type Kind string

// The kinds of an Entry: three speakers, and the two sides of a tool.
const (
	System    Kind = "system"
	User      Kind = "user"
	Assistant Kind = "assistant"
	Call      Kind = "call"   // its text is the arguments
	Result    Kind = "result" // its text is what the tool gave
)

// Entry is a piece of a transcript.
type Entry struct {
	Group int // rises along the span; entries of one group are left out together
	Kind  Kind
	Tool  string // name of the tool, for a call or a result
	State string // what is known of a result besides its text, as "exit code 1" or "failed"; empty if nothing is
	Text  string
}

// The ways to ask.
const (
	WayContinue   = "continue"   // the conversation itself, with an instruction behind it
	WayTranscript = "transcript" // a request of its own, with the span told as text
)

// Prose is what a model says of a span, and what that cost. It is stored as JSON.
type Prose struct {
	Text string `json:"text"`
	event.Cost
}

// Form is how an answer is asked for.
type Form struct {
	MaxOutput int  // tokens
	OtherCap  bool // the provider wants the cap under another name than is usual
	Stream    bool // the provider answers in streams alone
}

// Answer is what a model said to one request.
type Answer struct {
	Text    string // without its reasoning
	Refused bool   // the model, or a filter, declined
	Cut     bool   // the cap on the output was reached
	Called  bool   // tools are called
	Error   []byte // what the provider says went wrong in an answer that began well; nil if nothing did

	Input, Cached, Written, Output int // tokens, of the input what the cache had and took up; 0 if they are not told
}
