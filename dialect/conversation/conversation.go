// Package conversation models the request of any LLM API as a sequence of items.
//
// Differences between the APIs are behind Dialect; words.go has what clients put into messages of the user.
// A Request owns no bytes: all spans are positions in Body, which never changes.
package conversation

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"regexp"
	"slices"
	"time"

	"epitome/dialect/answer"
	"epitome/event"
	"epitome/internal/jsonspan"
)

// Role is who speaks in an item. Items with role Unknown are never edited.
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

// Roles are the roles by their names in the APIs. A name that an API does not know is one that it refuses.
var Roles = map[string]Role{"system": System, "developer": System, "user": User, "assistant": Assistant, "tool": Tool,
	"function": Tool}

// Call is a tool call in an assistant item.
type Call struct {
	ID        string        // which the result repeats
	Name      string        // of the tool
	Arguments jsonspan.Span // a JSON string that holds JSON, or the JSON itself, depending on the API; empty if none
	ByName    bool          // the result repeats the tool's name, as there is no ID: ID is that name
	FreeText  bool          // the tool takes any text: Arguments is a JSON string whose text need not be JSON

	// Of a call that the provider ran (see Item.Hosted):
	Output  jsonspan.Span // the JSON of what came back; empty if nothing
	HasRun  bool          // it has a result
	IsError bool          // the provider marked it as failed
}

// ArgumentsIn returns the arguments as text: JSON, unless they are free text.
func (c *Call) ArgumentsIn(body []byte) []byte { return jsonspan.TextOf(c.Arguments.Of(body)) }

// PartKind says which kind of content a part holds.
type PartKind uint8

const (
	OtherPart PartKind = iota // of no kind below: its JSON source is counted
	TextPart
	DocumentPart // a text that nobody said: of a document or a search result
	ImagePart    // this kind and those below are media
	AudioPart
	FilePart
)

// Part is one part of an item's content. Content that is a single string has one part.
type Part struct {
	jsonspan.Span               // an element of the content's list, or the content itself; empty if only Value is read
	Kind          PartKind      //
	Value         jsonspan.Span // the JSON of its text, its address or its base64 data; of OtherPart the JSON to count
	Title         jsonspan.Span // of a document, or the name of its file; empty if it has none
	Detail        jsonspan.Span // of an image the resolution to read it at; else empty
	IsAddress     bool          // Value is the address or the ID of a picture or document, not its data in base64
	Encoded       bool          // the text is itself JSON, and a text that replaces it must be encoded as JSON too
}

// Thought is a block of reasoning. It is dropped as a whole or kept, never shortened.
type Thought struct {
	jsonspan.Span               // the whole block; empty in Reasoning
	Text          jsonspan.Span // the reasoning, mostly a JSON string; empty if the provider hides it
	Summary       jsonspan.Span // the provider's summary of it, to be read where there is no Text; not counted
	Sealed        jsonspan.Span // its encrypted form, a JSON string; counted by its size where there is no Text
}

// Item is the smallest thing that can be edited: a message (Chat Completions), a content block or a run of blocks
// (Messages), or a run of entries of input (Responses).
type Item struct {
	jsonspan.Span
	Message      jsonspan.Span   // the enclosing message if the item is a part of one; else empty
	Number       int             // of its message in the request, from 1 on
	Role         Role            //
	Name         string          // of the speaker or of the tool, where the API has one
	Content      jsonspan.Span   // the value that ReplaceContent replaces; empty if it cannot be replaced
	Parts        []Part          // of the content, in order
	Calls        []Call          // made in this item
	Hosted       []Call          // run by the provider: call and result are parts of the item, and edited only as such
	Answers      string          // ID of the call whose result this is; else empty
	IsError      bool            // the client marked the result as failed
	Thinking     []Thought       // reasoning that DropThinking can take out
	Reasoning    []Thought       // reasoning and encrypted content that stays as long as the item does
	Marks        []jsonspan.Span // cache marks with their key and one comma: clients move them from turn to turn
	StartsAnswer bool            // first item of an answer of the model: the conversation may be cut before it
	Locked       bool            // never replaced and never dropped, mostly because its content is opaque or unknown
	Compaction   bool            // holds the provider's own summary: the provider ignores the items before it
	Trigger      bool            // asks the provider for such a summary
	Hash         Hash            // of what the model sees of it; zero until Chain
	Size         Size            // before any edit, in tokens of the vocabulary; zero until Count
}

// MessageSpan returns the span to remove or to replace when all items of the item's message are dropped.
func (it *Item) MessageSpan() jsonspan.Span {
	if it.Message.Empty() {
		return it.Span
	}
	return it.Message
}

// OnlyThinks reports whether the item holds only reasoning, so that it must be dropped as a whole, not by DropThinking.
func (it *Item) OnlyThinks() bool {
	return len(it.Thinking) > 0 && it.Content.Empty() && len(it.Calls) == 0 // no text may replace reasoning: no Content
}

// Upkeep says who besides epitome shortens the conversation; epitome itself then decides less, as described below.
// Where several do, the highest counts.
type Upkeep uint8

const (
	NobodyElse        Upkeep = iota
	ProviderClears           // the provider clears or compacts, or has done so: only new results are shortened
	ProviderRemembers        // the provider keeps earlier messages itself: only new results are shortened
	ClientSummarizes         // the request asks for the client's own summary: recorded edits are repeated, none added
)

// Request is a parsed request. Reused, Lead, Head and End each count items from the start of Items:
//
//	system  task  answer result  answer result  answer result  answer result  reminder
//	       |Lead |Head          |Reused                                       |End
//
// No item before Head is ever dropped. Those before End come again in the next request of the conversation, and so a
// decision may cover them; those behind it may move.
type Request struct {
	Dialect   Dialect
	Body      []byte
	Model     string
	MaxOutput int  // the client's limit for the answer, in tokens of the model; 0 if the request has none
	Stream    bool // the client wants the answer as a stream

	Tools    jsonspan.Span   // the declarations of tools; empty if there are none
	System   jsonspan.Span   // the system prompt where it is a field of the body, not an item; else empty
	Prompts  []jsonspan.Span // the texts of System, as JSON strings
	Settings []jsonspan.Span // settings that the provider's cache depends on: choice of tools, thinking
	Caching  jsonspan.Span   // a setting that says how long the cache is kept; empty if there is none
	List     int             // index in Body behind the bracket that opens the list of items; 0 if input is one string
	Items    []Item
	Folder   string // in which the agent works; empty if it is not known. The reader leaves it empty
	Reused   int    // items copied from an earlier request, with their hashes and sizes, as their bytes are the same
	Lead     int    // system items before any other item
	Head     int    // items never dropped, as they state the task: before the first answer, or the first after a Compaction

	ServerState  jsonspan.Span // refers to earlier messages that the provider keeps; empty if the body has all
	Upkeep       Upkeep
	Truncates    bool          // the provider drops items that do not fit its window, instead of refusing the request
	ThinksFirst  bool          // while results wait, the first answer since the user spoke must begin with thinking
	Unpriced     bool          // something costs tokens that cannot be counted here, so the usage teaches no Ratio
	Unserved     jsonspan.Span // member that asks the provider to compact by itself, from some size on; empty if none
	Threshold    int           // that size, in tokens of the model; 0 if it is the provider's to choose
	Strips       bool          // Unserved is not sent, as the provider does not know it
	AnswerGoesOn bool          // the last item is the model's, who may continue it: nothing is decided about it yet

	// Computed at the first call of Chain, Callers and Count.
	chain    []Link
	callers  []int
	Answered []int        // by item, the number of the call that it answers, among Calls and Hosted of all; else 0
	fixed    event.Tokens // of all but the items, in tokens of the vocabulary
}

// lifetime matches how long a cache mark or a setting asks the provider to keep its cache: "1h".
var lifetime = regexp.MustCompile(`"(\d+[mh])"`)

// CacheLife returns how long the last cache mark, or else a setting, asks the provider to keep its cache; 0 if neither
// says.
func (r *Request) CacheLife() (life time.Duration) {
	asked := r.Caching.Of(r.Body)
	for _, it := range slices.Backward(r.Items) {
		if n := len(it.Marks); n > 0 {
			asked = slices.Concat(it.Marks[n-1].Of(r.Body), asked)
			break
		}
	}
	if found := lifetime.FindSubmatch(asked); found != nil {
		life, _ = time.ParseDuration(string(found[1])) // 0 if it is longer than a Duration can be
	}
	return life
}

// Dialect is one API: all in which it differs from the others. It has no state.
type Dialect interface {
	answer.Format

	// API returns the differences that are data.
	API() *API

	// ReadSetting reads a member of the body, one that not all APIs have, whose value is not null, or the conversation
	// where it is no list.
	ReadSetting(r *Request, key []byte, value jsonspan.Span) error
	// ReadEntry appends the items of an element of the conversation's list to r.Items.
	ReadEntry(r *Request, o *jsonspan.Object) error
	// Check adds the flaws of item i, except that calls and results are not paired, and closes c where no more results
	// of calls before it are allowed.
	Check(c *Checker, r *Request, i int)
	// Continue returns a request that puts an instruction behind the conversation in body and asks for plain text.
	Continue(body []byte, instruction string, f answer.Form) ([]byte, error)
}

// Hash is a digest of what the model sees of an item. It leaves out cache marks, which clients move from turn to turn,
// and reasoning beside other content, which some clients do not send again. A string and a list of one text hash alike.
type Hash [sha256.Size]byte

// hashOf hashes the fields of item i. Its JSON is hashed too if its role is unknown or it has neither parts nor calls,
// as an item of reasoning alone: the fields lack its content then. Each length keeps adjacent fields apart.
func (r *Request) hashOf(i int) Hash {
	it := &r.Items[i]
	h := sha256.New()
	number := func(n int) { h.Write(binary.AppendUvarint(nil, uint64(n))) }
	field := func(value []byte) {
		number(len(value))
		h.Write(value)
	}
	number(int(it.Role))
	if it.Role == Unknown || len(it.Parts)+len(it.Calls) == 0 {
		field(r.Source(i, i+1))
	}
	field([]byte(it.Name))
	field([]byte(it.Answers))
	if it.IsError { // else nothing: recorded hashes are so
		number(1)
	}
	number(len(it.Parts))
	for _, p := range it.Parts {
		source := p.Span                     // with the keys beside the value, such as an image's detail
		if p.Kind == TextPart || p.Empty() { // of a text only the text; a part that is in no list has no Span
			source = p.Value
		}
		number(int(p.Kind))
		field(r.without(it.Marks, source))
	}
	number(len(it.Calls))
	for _, c := range it.Calls {
		field([]byte(c.ID))
		field([]byte(c.Name))
		field(c.Arguments.Of(r.Body))
	}
	return Hash(h.Sum(nil))
}

// Link identifies a prefix of a conversation: a digest of the hashes of its items.
type Link [sha256.Size]byte

// Chain returns one link per prefix length in items: Chain()[n] identifies Items[:n]. The system prompt and the tools
// are left out, as clients change them in the middle of a conversation: a new day, another mode, MCP servers that start
// late. Chain sets the hashes of the items behind the leading ones.
func (r *Request) Chain() []Link {
	if len(r.chain) > len(r.Items) { // an earlier call has computed all links
		return r.chain
	}
	chain := append(make([]Link, 0, len(r.Items)+1), r.root())
	if len(r.chain) > 0 && r.chain[0] == chain[0] { // reuse has copied some links, which hold behind the same root only
		chain = append(chain[:0], r.chain...)
	}
	for n := len(chain); n <= len(r.Items); n++ {
		link := chain[n-1]
		if n > r.Lead { // leading system items are part of the system prompt
			hash := &r.Items[n-1].Hash
			if *hash == (Hash{}) {
				*hash = r.hashOf(n - 1)
			}
			link = sha256.Sum256(append(link[:], hash[:]...))
		}
		chain = append(chain, link)
	}
	r.chain = chain
	return chain
}

// ChainVersion names the way in which links are made. Another one makes all recorded decisions unknown.
const ChainVersion = "epitome chain 5"

// root returns the link of the empty prefix. It covers a reference to messages that the provider keeps, and the number
// of leading system items, as edits name items by their index.
func (r *Request) root() Link {
	return sha256.Sum256(fmt.Appendf(nil, "%s %d %s", ChainVersion, r.Lead, r.ServerState.Of(r.Body)))
}

// Before returns what a provider caches of the request up to item end: system prompt, tools, settings, items.
func (r *Request) Before(end int) []jsonspan.Span {
	spans := append([]jsonspan.Span{r.System, r.Tools}, r.Settings...)
	for i := range r.Items[:end] {
		spans = append(spans, r.Items[i].Span)
	}
	return spans
}

// End returns the length in items of the prefix that a decision about this request may cover: later requests must begin
// with it. It ends with the last answer or result, or is the head if none is behind that. Left out are user messages at
// the end, which may be reminders that the client moves each turn, and an answer that the model may continue.
func (r *Request) End() int {
	n := len(r.Items)
	if r.AnswerGoesOn {
		for n > r.Head && !r.Items[n-1].StartsAnswer {
			n--
		}
		n = max(r.Head, n-1) // leaves out the item that starts the incomplete answer
	}
	for n > r.Head && !r.Items[n-1].isAnswerOrResult() {
		n--
	}
	return n
}

// Ends returns the lengths in items of the prefixes for which an earlier request may have recorded a decision, longest
// first: those that can be the End of a request, and whole requests. No prefix is within the leading system items,
// which other conversations have as well, or ends before a result: requests have all results of an answer.
func (r *Request) Ends() (ends []int) {
	for n := len(r.Items); n > r.Lead; n-- {
		isWhole := n == len(r.Items) || r.Items[n].StartsAnswer
		endsTurn := r.Items[n-1].isAnswerOrResult() && !isWhole && r.Items[n].Role != Tool
		if isWhole || n == r.Head || endsTurn {
			ends = append(ends, n)
		}
	}
	return ends
}

// isAnswerOrResult reports whether an item comes from the model or is the result of one of its calls.
func (it *Item) isAnswerOrResult() bool { return it.Role == Assistant || it.Role == Tool }

// continues reports whether an item belongs to the group of the item before: it is a result, or adds to an answer.
func (it *Item) continues() bool { return it.Role == Tool || it.Role == Assistant && !it.StartsAnswer }

// Group is the items [First, End): one answer of the model with the results of its calls, or any other single item.
// Items are dropped in whole groups, so that no call loses its result.
type Group struct{ First, End int }

// Groups divides the items behind the head into groups, in order. A group includes all items up to the last result of
// its calls, even messages in between. A result that answers no call belongs to the group before it: a conversation
// that arrives broken keeps its order and is not broken further.
func (r *Request) Groups() []Group {
	resultsEnd := make([]int, len(r.Items)) // by item with calls, the index behind the last result of these calls
	for i, caller := range r.Callers() {
		if caller >= 0 {
			resultsEnd[caller] = i + 1
		}
	}
	var groups []Group
	for i := r.Head; i < len(r.Items); {
		g := Group{i, i + 1}
		least := resultsEnd[i] // the group must not end before this index
		for g.End < len(r.Items) && (g.End < least || r.Items[g.End].continues()) {
			least = max(least, resultsEnd[g.End])
			g.End++
		}
		groups = append(groups, g)
		i = g.End
	}
	return groups
}

// Callers returns for each item the index of the item whose call it is the first to answer; -1 if it answers no call.
func (r *Request) Callers() []int {
	if r.callers != nil {
		return r.callers
	}
	callers := make([]int, len(r.Items))
	r.Answered = make([]int, len(r.Items))
	before := make([]int, len(r.Items)+1)      // by item, the calls of the items before
	c := Checker{waiting: map[string][2]int{}} // it is not closed, so results may come at any later time
	for i := range r.Items {
		it := &r.Items[i]
		before[i+1] = before[i] + len(it.Calls) + len(it.Hosted)
		callers[i] = -1
		if call, ok := c.pair(i, it); ok {
			callers[i] = call[0]
			r.Answered[i] = before[call[0]] + call[1]
		}
	}
	r.callers = callers
	return callers
}
