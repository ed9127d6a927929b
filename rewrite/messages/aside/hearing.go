package aside

import (
	"bytes"

	"github.com/tidwall/gjson"

	"epitome/rewrite/aside"
	"epitome/rewrite/span"
)

// hearing hears an answer of several rounds.
type hearing struct {
	id     []byte      // of the first round, as JSON
	before []byte      // usage of earlier rounds, added
	given  aside.Given // in all rounds
	blocks [][]byte    // that the client gets of earlier rounds, of an answer that is no stream
	out    int         // how many blocks the client was given
	held   int         // bytes of all rounds, about
	skips  int         // rounds of which the client was given nothing

	now round
}

// round is the one that is heard.
type round struct {
	last   bool // no other may follow
	number int  // counted from 1
	usage  []byte
	parts  []*part
	goesOn bool // it has ended, and another one follows
	mute   bool // calls of the tool count no more: the answer ended in another way
	ended  bool // it says why
	failed bool // it says an error
}

// Begin begins a round.
func (h *hearing) Begin(last bool) {
	h.before = aside.AddUsage(h.before, h.now.usage)
	h.now = round{last: last, number: h.now.number + 1}
}

// Anew forgets what the client was given.
func (h *hearing) Anew() {
	*h = hearing{before: h.before, held: h.held, skips: h.now.number, now: h.now}
}

// isFirst reports whether the client's answer begins with the round.
func (h *hearing) isFirst() bool { return h.now.number == h.skips+1 }

// Size is how many bytes are held, about.
func (h *hearing) Size() int { return h.held }

// Round is the round that has ended.
func (h *hearing) Round() (*aside.Round, bool) {
	if !h.now.goesOn || h.now.failed {
		return nil, false
	}
	r := &aside.Round{Calls: h.now.hidden()}
	for _, p := range h.now.parts {
		if p.isBlank() { // a server says it, and refuses to read it again
			continue
		}
		r.Said = append(append(r.Said, ','), p.block()...)
		switch {
		case p.ours:
		case p.kind == "text":
			r.Given += "\n" + string(p.text)
		default:
			r.Marks = append(r.Marks, markOf(gjson.ParseBytes(p.block())))
		}
	}
	r.Said[0] = '['
	r.Said = append(r.Said, ']')
	return r, true
}

// Answer is what the client was given, and which calls were hidden from it.
func (h *hearing) Answer() (given aside.Given, hidden []aside.Call, ok bool) {
	given = h.given
	for _, p := range h.now.parts {
		given.Thought = given.Thought || isThought(p.kind)
		switch {
		case p.ours:
		case p.kind == "text":
			given.Text += string(p.text)
		case p.kind == "tool_use":
			given.Calls = append(given.Calls, p.id)
		}
	}
	return given, h.now.hidden(), h.now.ended && !h.now.failed
}

// hidden are the calls of the tool in this round.
func (r *round) hidden() (list []aside.Call) {
	at := 0
	for _, p := range r.parts {
		switch {
		case p.ours && !r.mute:
			list = append(list, aside.Call{ID: p.id, Arguments: p.arguments(), At: at, Raw: p.block()})
		case p.kind == "tool_use" && !p.ours:
			at++
		}
	}
	return list
}

// calls is how many calls of the tool and of the client's own stand in this round.
func (r *round) calls() (ours, theirs int) {
	for _, p := range r.parts {
		switch {
		case p.ours:
			ours++
		case p.kind == "tool_use":
			theirs++
		}
	}
	return ours, theirs
}

// end takes in why the round has ended, and returns what the client is told; empty if it is told nothing.
func (h *hearing) end(why string) string {
	h.now.ended = true
	ours, theirs := h.now.calls()
	switch {
	case ours == 0 || theirs > 0 && why == "tool_use":
		return why
	case why != "tool_use":
		h.now.mute = true
		return why
	case h.now.last:
		h.now.mute = true
		return "end_turn"
	}
	h.now.goesOn = true
	for _, p := range h.now.parts {
		if !p.ours && p.kind == "text" {
			h.given.Text += string(p.text)
		}
	}
	return ""
}

// perPart is what a block is held to take in bytes, beside what it says: what is held of an answer is bounded.
const perPart = 4 << 10

// part is a block of a round.
type part struct {
	raw            []byte // as it began, or of an answer that is no stream as it is
	kind, id, name string
	ours           bool
	out            int // its number among those that the client gets

	text, thinking, signature, input, citations []byte // pieces that have come
}

// newPart takes a block in that begins so.
func (h *hearing) newPart(b gjson.Result) *part {
	p := &part{raw: []byte(b.Raw), kind: b.Get("type").Str, id: b.Get("id").Str, name: b.Get("name").Str, out: h.out}
	if p.ours = p.kind == "tool_use" && p.name == aside.Tool; !p.ours {
		h.out++
	}
	p.text, p.thinking = []byte(b.Get("text").Str), []byte(b.Get("thinking").Str)
	p.signature = []byte(b.Get("signature").Str)
	h.now.parts = append(h.now.parts, p)
	h.held += perPart + len(b.Raw)
	return p
}

// add takes a piece of a block in.
func (p *part) add(delta gjson.Result) {
	switch delta.Get("type").Str {
	case "text_delta":
		p.text = append(p.text, delta.Get("text").Str...)
	case "thinking_delta":
		p.thinking = append(p.thinking, delta.Get("thinking").Str...)
	case "signature_delta":
		p.signature = append(p.signature, delta.Get("signature").Str...)
	case "input_json_delta":
		p.input = append(p.input, delta.Get("partial_json").Str...)
	case "citations_delta":
		p.citations = append(append(p.citations, ','), delta.Get("citation").Raw...)
	}
}

// arguments are those of a call.
func (p *part) arguments() string { return gjson.GetBytes(p.block(), "input").Raw }

// isBlank reports whether the block is a text that says nothing.
func (p *part) isBlank() bool { return p.kind == "text" && len(bytes.TrimSpace(p.text)) == 0 }

// block is the block with all that came of it.
func (p *part) block() []byte {
	o, err := span.ObjectAt(p.raw, 0)
	if err != nil {
		return p.raw
	}
	set := func(key string, value []byte) {
		if gjson.ParseBytes(o.Value(key).Of(p.raw)).Str != string(value) {
			o.Set(key, string(span.AppendQuoted(nil, string(value))))
		}
	}
	switch p.kind {
	case "text":
		set("text", p.text)
	case "thinking":
		set("thinking", p.thinking)
		set("signature", p.signature)
	}
	if len(p.input) > 0 && span.Valid(p.input) && gjson.ParseBytes(p.input).IsObject() {
		o.Set("input", string(p.input))
	}
	if len(p.citations) > 0 {
		o.Set("citations", "["+string(p.citations[1:])+"]")
	}
	out, err := span.Splice(p.raw, o.Edits())
	if err != nil {
		return p.raw
	}
	return out
}

// Document takes an answer that is no stream.
func (h *hearing) Document(doc []byte) []byte {
	v := gjson.ParseBytes(doc)
	if h.now.failed = !span.Valid(doc) || !v.Get("content").IsArray(); h.now.failed {
		return doc
	}
	o, err := span.ObjectAt(doc, span.SkipSpace(doc, 0))
	if err != nil {
		return doc
	}
	for _, b := range v.Get("content").Array() {
		h.newPart(b)
	}
	h.now.usage = bytes.Clone(o.Value("usage").Of(doc))
	why := h.end(v.Get("stop_reason").Str)
	ours, _ := h.now.calls()
	for _, p := range h.now.parts {
		if !p.ours {
			h.blocks = append(h.blocks, p.raw)
		}
	}
	if h.isFirst() {
		h.id = bytes.Clone(o.Value("id").Of(doc))
	}
	if h.now.goesOn || ours == 0 && len(h.before) == 0 && h.isFirst() {
		return doc
	}
	if ours > 0 || !h.isFirst() {
		o.Set("content", "["+string(bytes.Join(h.blocks, []byte{','}))+"]")
	}
	if why != v.Get("stop_reason").Str {
		o.Set("stop_reason", `"`+why+`"`)
	}
	if len(h.before) > 0 {
		o.Set("usage", string(aside.AddUsage(h.before, h.now.usage)))
	}
	if len(h.id) > 0 {
		o.Set("id", string(h.id))
	}
	out, err := span.Splice(doc, o.Edits())
	if err != nil {
		return doc
	}
	return out
}
