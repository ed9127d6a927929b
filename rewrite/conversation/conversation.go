// Package conversation models the request of any LLM API as a sequence of items.
//
// Whatever differs between the APIs is behind Dialect; no JSON name appears here but those that all APIs have.
// A Request owns no bytes: all spans point into Body, which never changes.
package conversation

import (
	"epitome/event"
	"epitome/rewrite/jsonspan"
	"epitome/tokenize"
)

// Role is who speaks in an item. Items with role Unknown are never touched.
type Role uint8

const (
	Unknown Role = iota
	System       // system or developer
	User
	Assistant
	Tool // the result of a tool call
)

func (r Role) String() string {
	return [...]string{"unknown", "system", "user", "assistant", "tool"}[r]
}

// Call is a tool call in an assistant item.
type Call struct {
	ID        string // named by its result
	Name      string
	Arguments jsonspan.Span // a JSON string or the JSON itself, as the API has it; empty if there is none
	FreeText  bool          // the arguments are any text, not JSON
}

// ArgumentsIn returns the arguments as text: JSON, unless they are free text.
func (c *Call) ArgumentsIn(body []byte) []byte { return jsonspan.TextOf(c.Arguments.Of(body)) }

// PartKind is what a part of a content is.
type PartKind uint8

const (
	OtherPart PartKind = iota // of an unknown kind: counted as it is written, never changed
	TextPart
	ImagePart
	AudioPart
	FilePart
)

// Part is one part of an item's content. A content that is one string has one part.
type Part struct {
	jsonspan.Span               // the whole part, as it stands in a list; empty if no other can stand in its place
	Kind          PartKind      //
	Value         jsonspan.Span // text, address or data
	Detail        jsonspan.Span // of an image how closely to look, of sound its format
	Encoded       bool          // the text is JSON in a string, and so must be any text in its place
}

// Thought is a piece of reasoning that the API counts. It goes as a whole or stays.
type Thought struct {
	jsonspan.Span
	Text jsonspan.Span // a JSON string; empty if the reasoning is hidden
}

// Item is the smallest thing that can be edited: a message (Chat Completions), a content block or a run of blocks
// (Messages), or a run of entries of input (Responses).
type Item struct {
	jsonspan.Span
	Message      jsonspan.Span // the enclosing message, where several items share one; else empty
	Number       int           // of its message, from 1 on
	Role         Role
	Name         string          // of the speaker, where the API has one
	Content      jsonspan.Span   // the value that Dialect.ReplaceContent replaces; empty if there is none
	Parts        []Part          // of the content
	Calls        []Call          // made in this item
	Answers      string          // ID of the call whose result this is
	IsError      bool            // the client marked the result as failed
	Thinking     []Thought       // reasoning that the API counts
	Marks        []jsonspan.Span // for the provider's cache, each with its comma: clients move them from turn to turn
	StartsAnswer bool            // first item of one answer of the model: a conversation may be cut before it
	Locked       bool            // opaque or unknown content: it stays as it is, where it is
	Compaction   bool            // the provider's own summary: the provider passes over all before it
	Hash         Hash            // of what it shows to the model
	Size         Size            // as it came; zero until counted
}

// Place is the span that goes when the item goes as the only one of its message.
func (it *Item) Place() jsonspan.Span {
	if it.Message.Empty() {
		return it.Span
	}
	return it.Message
}

// OnlyThinks reports whether the item holds nothing but reasoning.
func (it *Item) OnlyThinks() bool {
	return len(it.Thinking) > 0 && it.Content.Empty() && len(it.Calls) == 0
}

// Upkeep is who else shortens a conversation. Then less is decided here.
type Upkeep uint8

const (
	NobodyElse        Upkeep = iota
	ClientSummarizes         // the request asks for the client's own summary: decisions are repeated, none is made
	ProviderClears           // the provider clears or compacts by the client's rules: only new results are shortened
	ProviderRemembers        // earlier messages lie with the provider: only new results are shortened
)

// Request is a parsed request.
type Request struct {
	Dialect   Dialect
	Body      []byte
	Model     string
	MaxOutput int  // tokens asked for; 0 if the request does not say
	Stream    bool // the answer is wanted as a stream

	Tools    jsonspan.Span   // declarations of tools; empty if there are none
	System   jsonspan.Span   // the system prompt where it stands apart from the items; else empty
	Prompts  []jsonspan.Span // the texts of it, as JSON strings
	Settings []jsonspan.Span // settings that the provider's cache depends on: choice of tools, thinking
	List     int             // where the first item may stand: behind the bracket of the list of items
	Items    []Item
	Reused   int // items at the start that were taken from an earlier request
	Lead     int // leading system items
	Head     int // items that always stay: the leading ones, all up to a provider's summary, the user's first words
	Dead     int // items that the provider passes over, as its own summary stands behind them

	ServerState  jsonspan.Span // names earlier messages that lie with the provider; empty if all are in the body
	Upkeep       Upkeep
	Truncates    bool // the provider itself leaves out what does not fit, and refuses nothing for its size
	ThinksFirst  bool // an answer that waits for results must go on to begin with thinking
	Unpriced     bool // it holds items or settings whose tokens nobody can count here
	AnswerGoesOn bool // the model may add to the last answer: nothing is decided about that yet

	// computed when they are first asked for
	chain   []Link
	callers []int
	fixed   event.Tokens // beside the items
}

// Dialect is one API: a stateless reader and writer of spans.
type Dialect interface {
	// Name is part of every key of a decision and never changes: "chat", "messages", "responses".
	Name() string
	// Read parses a body in one pass. known, if not nil, is an earlier request of the same conversation: items in the
	// common prefix of both lists are taken from it. An error says why the body is better left alone, and
	// quotes nothing of it.
	Read(body []byte, known *Request) (*Request, error)
	// Flaws lists every rule of the API that the request breaks, as its server would check it.
	Flaws(r *Request) []Flaw
	// Declared reads the declarations of tools, for counting; nil if they are counted as they are written.
	Declared(tools []byte) []tokenize.Tool

	// ReplaceContent returns the edits that put one text in the place of all that an item says, pictures too.
	ReplaceContent(r *Request, it *Item, text string) []jsonspan.Edit
	// UserMessage returns a message of the user, as it may stand in the list of items.
	UserMessage(text string) []byte
	// Append returns the edit that adds text behind all that the user says in an item, as a part of its own where the
	// content is a list; false if nothing can stand there.
	Append(r *Request, it *Item, text string) (jsonspan.Edit, bool)
	// AppendSystem returns the edit that adds text to the end of the system prompt, or makes one; false if it cannot.
	AppendSystem(r *Request, text string) (jsonspan.Edit, bool)
}
