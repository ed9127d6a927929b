package conversation

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"epitome/dialect/jsonspan"
)

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
	if it.IsError {
		number(1)
	}
	number(len(it.Parts))
	for _, p := range it.Parts {
		source := p.Span                     // with the keys beside the value, such as an image's detail
		if p.Kind == TextPart || p.Empty() { // of a text only the text; a picture or an entry in no list has no Span
			source = p.Value
		}
		number(int(p.Kind))
		if len(it.Marks) == 0 {
			field(source.Of(r.Body))
		} else {
			field(r.withoutMarks(source, r.Items[i:i+1]))
		}
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

// Chain returns one link per prefix length in items: Chain()[n] identifies Items[:n]. The system prompt and the tools are
// left out, as clients change them in the middle of a conversation: a new day, another mode, MCP servers that start late.
// Chain sets the hashes of the items behind the leading ones.
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

// root returns the link of the empty prefix. It covers a reference to messages that the provider keeps, and the number
// of leading system items, as edits name items by their index.
func (r *Request) root() Link {
	const version = "epitome chain 5" // another one would make all recorded links unknown
	return sha256.Sum256(fmt.Appendf(nil, "%s %d %s", version, r.Lead, r.ServerState.Of(r.Body)))
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
	waiting := map[string][2]int{} // by ID of a call without a result so far: the item with this call, and its number
	calls := 0                     // of the items before
	for i := range r.Items {
		it := &r.Items[i]
		callers[i] = -1
		for _, call := range it.Calls {
			waiting[call.ID] = [2]int{i, calls}
			calls++
		}
		calls += len(it.Hosted)
		if call, ok := waiting[it.Answers]; ok && it.Role == Tool { // Answers "" of other roles may match a broken call
			callers[i] = call[0]
			r.Answered[i] = call[1]
			delete(waiting, it.Answers)
		}
	}
	r.callers = callers
	return callers
}
