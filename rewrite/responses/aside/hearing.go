package aside

import (
	"bytes"

	"github.com/tidwall/gjson"

	"epitome/rewrite/aside"
	"epitome/rewrite/span"
)

// hearing hears an answer of several rounds.
type hearing struct {
	id     string // that the client has of the answer
	before []byte // usage of earlier rounds, added
	text   string // that the client was given in earlier rounds
	items  [][]byte
	out    int   // how many items the client was given
	number int64 // of the next event that it gets

	// of the round that is heard
	last   bool // no other may follow
	round  int  // counted from 1
	real   string
	stored bool
	usage  []byte
	parts  []*part
	goesOn bool // it has ended, and another one follows
	mute   bool // calls of the tool count no more: the answer ended in another way
}

// part is an item of a round.
type part struct {
	raw    []byte
	ours   bool
	theirs bool // the client is to run it
	out    int  // its number among those that the client gets
}

// Begin begins a round.
func (h *hearing) Begin(last bool) {
	h.before = aside.AddUsage(h.before, h.usage)
	*h = hearing{id: h.id, before: h.before, text: h.text, items: h.items, out: h.out, number: h.number,
		last: last, round: h.round + 1}
}

// newPart takes an item in.
func (h *hearing) newPart(item gjson.Result) *part {
	kind := item.Get("type").Str
	p := &part{raw: []byte(item.Raw), out: h.out}
	p.ours = kind == "function_call" && item.Get("name").Str == aside.Tool
	p.theirs = !p.ours && (item.Get("call_id").Str != "" || kind == "mcp_approval_request")
	if !p.ours {
		h.out++
	}
	h.parts = append(h.parts, p)
	return p
}

// Round is the round that has ended.
func (h *hearing) Round() (*aside.Round, bool) {
	if !h.goesOn {
		return nil, false
	}
	r := &aside.Round{Calls: h.hidden()}
	readable := true
	for _, p := range h.parts {
		item := gjson.ParseBytes(p.raw)
		r.Said = append(append(r.Said, ','), p.raw...)
		readable = readable && (h.stored || !isReasoning(item) || item.Get("encrypted_content").Str != "")
		switch {
		case p.ours:
		case isMessage(item):
			r.Given += "\n" + textOf(item)
		default:
			r.Marks = append(r.Marks, markOf(item))
		}
	}
	r.Said[0] = '['
	if r.Said = append(r.Said, ']'); !readable { // the provider has not kept what was thought, and nobody has it
		r.Said = withoutReasoning(r.Said)
	}
	return r, true
}

// hidden are the calls of the tool in this round.
func (h *hearing) hidden() (list []aside.Call) {
	at := 0
	for _, p := range h.parts {
		item := gjson.ParseBytes(p.raw)
		switch {
		case p.ours && !h.mute:
			list = append(list, aside.Call{ID: item.Get("call_id").Str, Arguments: item.Get("arguments").Str, At: at, Raw: p.raw})
		case p.theirs:
			at++
		}
	}
	return list
}

// Answer is what the client was given, and which calls were hidden from it.
func (h *hearing) Answer() (given aside.Given, hidden []aside.Call) {
	given.Text = h.text + h.words()
	for _, p := range h.parts {
		if p.theirs {
			given.Calls = append(given.Calls, gjson.GetBytes(p.raw, "call_id").Str)
		}
	}
	if h.stored {
		given.ID, given.Real = h.id, h.real
	}
	return given, h.hidden()
}

// words is the text of this round.
func (h *hearing) words() (text string) {
	for _, p := range h.parts {
		if item := gjson.ParseBytes(p.raw); isMessage(item) {
			text += textOf(item)
		}
	}
	return text
}

// calls is how many calls of the tool and of the client's own stand in this round.
func (h *hearing) calls() (ours, theirs int) {
	for _, p := range h.parts {
		switch {
		case p.ours:
			ours++
		case p.theirs:
			theirs++
		}
	}
	return ours, theirs
}

// end takes in a response that has ended. The items that it tells are those of the round, if it tells any.
func (h *hearing) end(response gjson.Result) {
	if list := response.Get("output").Array(); len(list) > 0 {
		h.out -= h.passing()
		h.parts = nil
		for _, item := range list {
			h.newPart(item)
		}
	}
	h.real, h.stored = response.Get("id").Str, response.Get("store").Type != gjson.False
	if u := response.Get("usage"); u.IsObject() {
		h.usage = []byte(u.Raw)
	}
	ours, theirs := h.calls()
	completed := response.Get("status").Str == "completed"
	h.goesOn = ours > 0 && theirs == 0 && completed && !h.last
	h.mute = !h.goesOn && (theirs == 0 || !completed)
	for _, p := range h.parts {
		if !p.ours {
			h.items = append(h.items, p.raw)
		}
	}
	if h.goesOn {
		h.text += h.words()
	}
}

// passing is how many items of this round the client gets.
func (h *hearing) passing() (n int) {
	for _, p := range h.parts {
		if !p.ours {
			n++
		}
	}
	return n
}

// join makes a response that has ended the client's: with all that it was given, and with the tokens of all rounds.
func (h *hearing) join(o *span.Object, body []byte) {
	if ours, _ := h.calls(); ours == 0 && h.round == 1 {
		return
	}
	if span.HasElements(body, o.Value("output")) {
		o.Set("output", "["+string(bytes.Join(h.items, []byte{','}))+"]")
	}
	if len(h.before) > 0 {
		o.Set("usage", string(aside.AddUsage(h.before, h.usage)))
	}
}

// Document takes an answer that is no stream.
func (h *hearing) Document(doc []byte) []byte {
	response := gjson.ParseBytes(doc)
	o, err := span.ObjectAt(doc, span.SkipSpace(doc, 0))
	if err != nil || !span.Valid(doc) || !response.Get("output").IsArray() {
		return doc
	}
	h.end(response)
	if h.id = h.real; h.goesOn {
		return doc
	}
	h.join(o, doc)
	out, err := span.Splice(doc, o.Edits())
	if err != nil {
		return doc
	}
	return out
}
