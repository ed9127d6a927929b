// Package conversation is what a request consists of, whatever API it was written for: items, calls, groups, sizes,
// flaws, and the chain of links that names each of its prefixes.
//
// It declares Dialect, behind which everything stands that differs between APIs. It promises that equal prefixes have
// equal links and others have not. It owns no bytes: spans are places in Request.Body, which must not change.
package conversation

import (
	"slices"

	"epitome/rewrite/span"
)

// WholeContent returns an item's content, or the one text that is all of it.
func (r *Request) WholeContent(it *Item) span.Span {
	if it.Content.Empty() {
		return it.Content
	}
	if text, ok := r.Dialect.WholeText(r.Body, it.Content); ok {
		return text
	}
	return it.Content
}

// TextSpans returns the texts of the content's parts; empty where a part is none.
func (r *Request) TextSpans(it *Item) []span.Span {
	parts, _ := r.Parts(it) // what cannot be read has no such part
	all := make([]span.Span, len(parts))
	for n, p := range parts {
		if p.Kind == TextPart {
			all[n] = p.Value
		}
	}
	return all
}

// Decidable returns how many items there are up to the last that is an assistant's or a tool's: what comes behind may
// be a reminder that the client moves each turn. Nor is an answer decided on to which the model may add: a part of it
// alone may be none.
func (r *Request) Decidable() int {
	n := len(r.Items) - r.Head
	if r.Upkeep.GoesOn {
		for n > 0 && r.Items[r.Head+n-1].Role != Assistant {
			n--
		}
		for n > 0 && continues(&r.Items[r.Head+n-1]) {
			n--
		}
		n = max(0, n-1)
	}
	for n > 0 && r.Items[r.Head+n-1].Role != Assistant && r.Items[r.Head+n-1].Role != Tool {
		n--
	}
	return n
}

// LeadingBlock returns the leading block as it stands in the body; nothing if there is none.
func (r *Request) LeadingBlock() []byte {
	apart := r.Instructions.Of(r.Body)
	if r.Head == 0 {
		return apart
	}
	block := r.Body[r.Items[0].Start:r.Items[r.Head-1].End]
	if len(apart) == 0 {
		return block
	}
	return slices.Concat(apart, block)
}

// OpeningOf is how many items a conversation has before the model first speaks. first says that it has not yet.
func OpeningOf(r *Request) (items int, first bool) {
	for i := r.Head; i < len(r.Items); i++ {
		if role := r.Items[i].Role; role == Assistant || role == Tool {
			return i - r.Head, false
		}
	}
	return len(r.Items) - r.Head, true
}

// Role names who speaks in an item.
type Role uint8

// The roles. A role that is none of them is Unknown: its item is never touched, nor anything that depends on it.
const (
	Unknown Role = iota
	System       // system or developer
	User
	Assistant
	Tool // the result of a tool call, or of a legacy function call
)

func (r Role) String() string {
	return [...]string{"unknown", "system", "user", "assistant", "tool"}[r]
}

// Call is a tool call of an assistant's message.
type Call struct {
	span.Span
	ID        string // what its result names; a legacy function call has none
	Name      string
	Arguments span.Span // a JSON string, quotes included, or the JSON itself, as the API has it; empty if there is none
	FreeText  bool      // the arguments are any text and not JSON
}

// ArgumentsIn returns what the call is given, as its text says: JSON, as a rule. body is that of its request.
func (c *Call) ArgumentsIn(body []byte) []byte { return span.TextOf(c.Arguments.Of(body)) }

// Verdict is what a client says, beside a result, of how its call ended.
type Verdict uint8

// The verdicts. Of most results none is told.
const (
	NoVerdict Verdict = iota
	WentWell
	WentWrong
)

// Item is the smallest thing that is said in a request: a message, or a part of one.
type Item struct {
	span.Span
	Outer   span.Span // the message that holds it, and maybe others; empty if the item is a message itself
	Role    Role
	Legacy  bool      // the function role or function_call that came before tools
	Name    string    // of the speaker, or of a legacy function
	Content span.Span // its value, whatever kind it is; empty if there is none or it is null
	Calls   []Call
	Answers string // the id of the call that a tool's result is for
	Verdict Verdict
	Begins  bool // an answer of the model begins here: a conversation may be cut in front of it
	Opaque  bool // its content has parts of an unknown kind
	Pinned  bool // it stays where it is, whatever goes around it
	Locked  bool // it never changes

	Compacts bool // it is a provider's own compaction: nothing before it counts any more

	Reasoning
}

// Reasoning is what the model thought before it spoke.
type Reasoning struct {
	Thoughts span.Span // a string, if the client sends that; else empty
	Thinking []Thought // what the API counts, in its order
}

// Thought is a part of a message that the model thought and did not say. Only as a whole it may go.
type Thought struct {
	span.Span
	Text span.Span // a string; empty if it is not shown
}

// Shift moves the places of the item by so many bytes.
func (it *Item) Shift(by int) {
	it.eachSpan(func(s *span.Span) {
		if !s.Empty() {
			s.Start, s.End = s.Start+by, s.End+by
		}
	})
}

// Move gives each place in the item another one: a byte that was at i is at to(i).
func (it *Item) Move(to func(i int) int) {
	it.eachSpan(func(s *span.Span) {
		if !s.Empty() {
			s.Start, s.End = to(s.Start), to(s.End)
		}
	})
}

// eachSpan gives f each place of the item.
func (it *Item) eachSpan(f func(s *span.Span)) {
	f(&it.Span)
	f(&it.Outer)
	f(&it.Content)
	f(&it.Thoughts)
	for k := range it.Thinking {
		f(&it.Thinking[k].Span)
		f(&it.Thinking[k].Text)
	}
	for k := range it.Calls {
		f(&it.Calls[k].Span)
		f(&it.Calls[k].Arguments)
	}
}

// Mark is a mark for the provider's cache. Clients move them from turn to turn.
type Mark struct {
	span.Span           // with what parts it from the rest of what it marks
	Value     span.Span // what it says
}

// Asked is how a request is to be answered.
type Asked struct {
	Model     string
	MaxOutput int  // tokens asked for; 0 if the request says nothing
	Stream    bool // the answer is wanted as a stream
	// Settings that count as standing before the items where a provider caches: how tools are chosen, how it thinks.
	Settings []span.Span
}

// Request is a conversation as it was sent.
type Request struct {
	Asked

	Dialect Dialect
	Body    []byte
	Tools   span.Span // their declarations; empty if there are none
	Items   []Item

	Instructions span.Span // the system's text, where it stands apart from the items; else empty
	Head         int       // leading system items
	Nested       bool      // a message may hold several items, or items be one where nothing parts them
	ThinksFirst  bool      // an answer that waits for results must go on to begin with what the model thought
	Opaque       bool      // it has items or settings of which nobody knows here what they cost
	Upkeep       Upkeep    // what others see to
	Marks        []Mark    // for the provider's cache, in messages, in their order

	parts []Part // room for those of one item
	found found
}

// found is what was asked for before, and need not be looked for again.
type found struct {
	numbers []int32                // of the messages that say the items; empty until one is asked for
	results Group                  // the run of results that was looked at last
	calls   map[int]map[string]int // of items with many, their places by their ids, once asked for
	text    text                   // the large one that was read last
}

// Parts returns the parts of the item's content. They are good until the next call.
func (r *Request) Parts(it *Item) (list []Part, err error) {
	r.parts, err = r.Dialect.AppendParts(r.parts[:0], r.Body, it.Content)
	return r.parts, err
}

// Group is the smallest run of items that may be taken out of a conversation together: an assistant's message with
// all results that answer its calls, or any other single item.
type Group struct{ First, End int } // items[First:End]

// Groups cuts the conversation behind its head into groups, which cover it in order. Results belong to the assistant's
// message before them whether they answer it or not: what came in broken is kept together as it came.
func (r *Request) Groups() []Group {
	var groups []Group
	for i := r.Head; i < len(r.Items); {
		g := Group{i, i + 1}
		if r.Items[i].Begins {
			for g.End < len(r.Items) && continues(&r.Items[g.End]) {
				g.End++
			}
		}
		groups = append(groups, g)
		i = g.End
	}
	return groups
}

// continues reports whether an item belongs to the answer of the model before it.
func continues(it *Item) bool {
	return it.Role == Tool || it.Role == Assistant && !it.Begins
}

// Turns returns the indexes of the items in which the user speaks, at each of which a turn begins.
func (r *Request) Turns() []int {
	var turns []int
	for i := range r.Items {
		if Speaks(r, &r.Items[i]) {
			turns = append(turns, i)
		}
	}
	return turns
}
