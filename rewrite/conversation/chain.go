package conversation

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"epitome/rewrite/jsonspan"
)

// Hash is a digest of what an item shows to the model. Marks for the cache and reasoning are no part of it, as clients
// move the ones and leave out the others; a string and a list of one text part are equal.
type Hash [sha256.Size]byte

// hashOf hashes item i by its fields, or by its bytes where none was read. Each field comes behind its length, so that
// no two lists of fields are equal.
func (r *Request) hashOf(i int) Hash {
	it, h := &r.Items[i], sha256.New()
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
		shown := p.Span
		if p.Kind == TextPart || p.Empty() {
			shown = p.Value
		}
		number(int(p.Kind))
		field(r.unmarked(shown, r.Items[i:i+1]))
	}
	number(len(it.Calls))
	for _, c := range it.Calls {
		field([]byte(c.ID))
		field([]byte(c.Name))
		field(c.Arguments.Of(r.Body))
	}
	return Hash(h.Sum(nil))
}

// Link names a prefix of a conversation. Equal prefixes have equal links, others differ.
type Link [sha256.Size]byte

// Chain returns one link per prefix length, in items: Chain()[n] names Items[:n]. All links cover the system prompt
// without its digits, so that a clock changes nothing and an instruction does.
// Tools stay out, as tool search and late MCP servers add some in the middle.
func (r *Request) Chain() []Link {
	if len(r.chain) > len(r.Items) {
		return r.chain
	}
	chain := append(make([]Link, 0, len(r.Items)+1), r.root())
	if len(r.chain) > 0 && r.chain[0] == chain[0] { // those of the items that were taken over
		chain = append(chain[:0], r.chain...)
	}
	for n := len(chain); n <= len(r.Items); n++ {
		last := chain[n-1]
		if n > r.Lead {
			hash := r.Items[n-1].Hash
			last = sha256.Sum256(append(last[:], hash[:]...))
		}
		chain = append(chain, last)
	}
	r.chain = chain
	return chain
}

// root is the link of the system prompt.
func (r *Request) root() Link {
	h := sha256.New()
	h.Write([]byte("epitome chain 4\x00"))
	h.Write(r.ServerState.Of(r.Body))
	for _, text := range r.Prompts {
		h.Write(withoutNumbers(jsonspan.TextOf(text.Of(r.Body))))
	}
	for i := range r.Items[:r.Lead] {
		for _, text := range r.texts(&r.Items[i]) {
			h.Write(withoutNumbers([]byte(text)))
		}
	}
	return Link(h.Sum(nil))
}

// withoutNumbers returns what stays of a system prompt from request to request: no digits, and not the first line that
// Claude Code writes for its bills.
func withoutNumbers(text []byte) []byte {
	if bytes.HasPrefix(text, []byte("x-anthropic-billing-header:")) {
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	isDigit := func(c byte) bool { return c >= '0' && c <= '9' }
	return append(slices.DeleteFunc(bytes.Clone(text), isDigit), 0)
}

// End is the length of the prefix that a decision about this request may cover: up to the last answer or result, or the
// head while the model has not spoken. A message of the user behind it may be a reminder that the client moves each
// turn, and an answer that goes on is not whole.
func (r *Request) End() int {
	n := len(r.Items)
	if r.AnswerGoesOn {
		for n > r.Head && !r.Items[n-1].StartsAnswer {
			n--
		}
		n = max(r.Head, n-1)
	}
	for n > r.Head && !r.Items[n-1].isAnswer() {
		n--
	}
	return n
}

// Ends returns the prefix lengths at which a decision about this conversation can stand, longest first.
func (r *Request) Ends() []int {
	ends := make([]int, 0, len(r.Items))
	for n := len(r.Items); n > r.Lead; n-- {
		if n == len(r.Items) || n == r.Head || r.Items[n-1].isAnswer() {
			ends = append(ends, n)
		}
	}
	return ends
}

// isAnswer reports whether an item is the model's, or a result.
func (it *Item) isAnswer() bool { return it.Role == Assistant || it.Role == Tool }

// continues reports whether an item belongs to the answer of the model before it.
func (it *Item) continues() bool { return it.Role == Tool || it.Role == Assistant && !it.StartsAnswer }

// Group is one answer of the model with the results of its calls, or any other single item: the smallest unit that may
// be cut off.
type Group struct{ First, End int }

// Groups returns the groups behind the head, which cover it in order. A group whose calls are answered further behind
// reaches up to there. Results belong to the answer before them whether they answer it or not: a broken conversation is
// kept together as it came.
func (r *Request) Groups() []Group {
	reaches := make([]int, len(r.Items)) // for each item, the end of the last result that answers it
	for i, caller := range r.Callers() {
		if caller >= 0 {
			reaches[caller] = i + 1
		}
	}
	var groups []Group
	for i := r.Head; i < len(r.Items); {
		g := Group{i, i + 1}
		reach := reaches[i]
		for g.End < len(r.Items) && (g.End < reach || r.Items[g.End].continues()) {
			reach = max(reach, reaches[g.End])
			g.End++
		}
		groups = append(groups, g)
		i = g.End
	}
	return groups
}

// Callers returns for each item the item whose call it answers; -1 if it answers none.
func (r *Request) Callers() []int {
	if r.callers != nil {
		return r.callers
	}
	callers := make([]int, len(r.Items))
	open := map[string]int{}
	for i := range r.Items {
		callers[i] = -1
		for _, call := range r.Items[i].Calls {
			open[call.ID] = i
		}
		if caller, ok := open[r.Items[i].Answers]; ok && r.Items[i].Role == Tool {
			callers[i] = caller
			delete(open, r.Items[i].Answers)
		}
	}
	r.callers = callers
	return callers
}

// CallOf returns the call that item i answers; nil if it answers none.
func (r *Request) CallOf(i int) *Call {
	caller := r.Callers()[i]
	if caller < 0 {
		return nil
	}
	calls := r.Items[caller].Calls
	k := slices.IndexFunc(calls, func(c Call) bool { return c.ID == r.Items[i].Answers })
	return &calls[k]
}
