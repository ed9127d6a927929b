package aside

import (
	"bytes"
	"strings"

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
	held   int   // bytes of all rounds, about
	skips  int   // rounds of which the client was given nothing

	now round
}

// round is the one that is heard.
type round struct {
	last   bool // no other may follow
	number int  // counted from 1
	begins int  // how many items the client was given before it
	real   string
	stored bool
	usage  []byte
	parts  []*part
	goesOn bool // it has ended, and another one follows
	mute   bool // calls of the tool count no more: the answer ended in another way
	ended  bool // it says so
	failed bool // it says an error
}

// perPart is what an item is held to take in bytes, beside what it says: what is held of an answer is bounded.
const perPart = 4 << 10

// mostItems is beyond every number that an item of an answer has.
const mostItems = 10_000

// part is an item of a round.
type part struct {
	raw    []byte
	ours   bool
	theirs bool  // the client is to run it
	at     int64 // its number, as the stream has it
	out    int   // its number among those that the client gets
}

// Begin begins a round.
func (h *hearing) Begin(last bool) {
	h.before = aside.AddUsage(h.before, h.now.usage)
	h.now = round{last: last, number: h.now.number + 1, begins: h.out}
}

// Anew forgets what the client was given.
func (h *hearing) Anew() {
	*h = hearing{before: h.before, held: h.held, skips: h.now.number, now: h.now}
}

// isFirst reports whether the client's answer begins with the round.
func (h *hearing) isFirst() bool { return h.now.number == h.skips+1 }

// Size is how many bytes are held, about.
func (h *hearing) Size() int { return h.held }

// newPart takes an item in.
func (h *hearing) newPart(item gjson.Result) *part {
	kind := item.Get("type").Str
	p := &part{raw: []byte(item.Raw), out: h.out}
	p.ours = kind == "function_call" && item.Get("name").Str == aside.Tool
	p.theirs = !p.ours && (item.Get("call_id").Str != "" || kind == "mcp_approval_request")
	if !p.ours {
		h.out++
	}
	h.now.parts = append(h.now.parts, p)
	h.held += perPart + len(p.raw)
	return p
}

// begin takes in an item that begins in a stream under a number. The client has the same one while nothing was hidden.
func (h *hearing) begin(item gjson.Result, at int64) *part {
	ours, _ := h.now.calls()
	p := h.newPart(item)
	if p.at = at; ours == 0 && h.isFirst() && !p.ours && at >= 0 && at < mostItems {
		p.out = int(at)
		h.out = p.out + 1
	}
	return p
}

// partAt is the item that a stream speaks of by a number, which is the newest one that has it; nil if there is none.
func (r *round) partAt(at int64) *part {
	for i := len(r.parts) - 1; i >= 0; i-- {
		if r.parts[i].at == at {
			return r.parts[i]
		}
	}
	return nil
}

// Round is the round that has ended.
func (h *hearing) Round() (*aside.Round, bool) {
	if !h.now.goesOn || h.now.failed {
		return nil, false
	}
	r := &aside.Round{Calls: h.now.hidden()}
	readable := true
	for _, p := range h.now.parts {
		item := gjson.ParseBytes(p.raw)
		r.Said = append(append(r.Said, ','), p.raw...)
		readable = readable && (h.now.stored || !isReasoning(item) || item.Get("encrypted_content").Str != "")
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
func (r *round) hidden() (list []aside.Call) {
	at := 0
	for _, p := range r.parts {
		item := gjson.ParseBytes(p.raw)
		switch {
		case p.ours && !r.mute:
			list = append(list, aside.Call{ID: item.Get("call_id").Str, Arguments: item.Get("arguments").Str, At: at, Raw: p.raw})
		case p.theirs:
			at++
		}
	}
	return list
}

// Answer is what the client was given, and which calls were hidden from it.
func (h *hearing) Answer() (given aside.Given, hidden []aside.Call, ok bool) {
	given.Text = h.text + h.now.words()
	for _, p := range h.now.parts {
		given.Thought = given.Thought || isReasoning(gjson.ParseBytes(p.raw))
		if p.theirs {
			given.Calls = append(given.Calls, gjson.GetBytes(p.raw, "call_id").Str)
		}
	}
	if h.now.stored {
		given.ID, given.Real = h.id, h.now.real
	}
	return given, h.now.hidden(), h.now.ended && !h.now.failed
}

// words is the text of this round.
func (r *round) words() (text string) {
	for _, p := range r.parts {
		if item := gjson.ParseBytes(p.raw); isMessage(item) {
			text += textOf(item)
		}
	}
	return text
}

// calls is how many calls of the tool and of the client's own stand in this round.
func (r *round) calls() (ours, theirs int) {
	for _, p := range r.parts {
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
		streamed := h.out
		h.out, h.now.parts = h.now.begins, nil
		for _, item := range list {
			h.newPart(item)
		}
		h.out = max(h.out, streamed)
	}
	h.now.real, h.now.stored = response.Get("id").Str, response.Get("store").Type != gjson.False
	if u := response.Get("usage"); u.IsObject() {
		h.now.usage = []byte(u.Raw)
	}
	ours, theirs := h.now.calls()
	status := response.Get("status").Str
	completed := status == "completed"
	h.now.ended, h.now.failed = true, status == "failed" || status == "cancelled"
	h.now.goesOn = ours > 0 && theirs == 0 && completed && !h.now.last
	h.now.mute = !h.now.goesOn && (theirs == 0 || !completed)
	for _, p := range h.now.parts {
		if !p.ours {
			h.items = append(h.items, p.raw)
		}
	}
	if h.now.goesOn {
		h.text += h.now.words()
	}
}

// join makes a response that has ended the client's: with all that it was given, and with the tokens of all rounds.
func (h *hearing) join(o *span.Object, body []byte) {
	ours, _ := h.now.calls()
	if (ours > 0 || !h.isFirst()) && span.HasElements(body, o.Value("output")) {
		o.Set("output", "["+string(bytes.Join(h.items, []byte{','}))+"]")
	}
	if len(h.before) > 0 {
		o.Set("usage", string(aside.AddUsage(h.before, h.now.usage)))
	}
	dropTool(o, body)
}

// dropTool takes the tool out of the tools that a response says that it was asked with: the client sent none such.
func dropTool(response *span.Object, body []byte) {
	list := response.Value("tools")
	if !span.HasElements(body, list) {
		return
	}
	var ours span.Span
	before := list.Start + 1
	_, err := span.Elements(body, list.Start, func(i int) (int, error) {
		end, err := span.EndOfValue(body, i)
		switch {
		case err != nil || !ours.Empty():
		case gjson.GetBytes(body[i:end], "name").Str == aside.Tool:
			ours = span.Span{Start: before, End: end}
		default:
			before = end
		}
		return end, err
	})
	if err == nil && !ours.Empty() {
		left := string(body[list.Start:ours.Start]) + string(body[ours.End:list.End])
		if gap := strings.TrimLeft(left[1:], " \t\r\n"); strings.HasPrefix(gap, ",") { // it was the first
			left = "[" + gap[1:]
		}
		response.Set("tools", left)
	}
}

// Document takes an answer that is no stream.
func (h *hearing) Document(doc []byte) []byte {
	response := gjson.ParseBytes(doc)
	o, err := span.ObjectAt(doc, span.SkipSpace(doc, 0))
	if h.now.failed = err != nil || !span.Valid(doc) || !response.Get("output").IsArray(); h.now.failed {
		return doc
	}
	h.end(response)
	if h.id = h.now.real; h.now.goesOn {
		return doc
	}
	h.join(o, doc)
	out, err := span.Splice(doc, o.Edits())
	if err != nil {
		return doc
	}
	return out
}
