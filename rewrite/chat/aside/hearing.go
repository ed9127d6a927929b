package aside

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"epitome/rewrite/aside"
	"epitome/rewrite/span"
)

// hearing hears an answer of several rounds.
type hearing struct {
	frame  map[string][]byte // what the first round's frame has, by key: it goes on
	before []byte            // usage of earlier rounds, added
	given  []byte            // text, in all rounds

	// of the round that is heard
	last    bool           // no other may follow
	round   int            // counted from 1
	usage   []byte         // what it says of its tokens
	message map[string]any // what it says, but for calls
	calls   []*call
	said    []byte // the whole message, of an answer that is no stream
	text    []byte // that the client was given of it
	goesOn  bool   // it has ended, and another one follows
}

// call is one call of a round.
type call struct {
	index  string // as the stream has it
	fields map[string]any
	ours   bool
	wrote  string // arguments, as the model wrote them, once the round has ended
	mended bool   // they were no object of JSON, which servers refuse to read again
	out    int    // its number among those that the client gets
}

// Begin begins a round.
func (h *hearing) Begin(last bool) {
	h.before = aside.AddUsage(h.before, h.usage)
	*h = hearing{frame: h.frame, before: h.before, given: h.given, last: last, round: h.round + 1,
		message: map[string]any{"role": "assistant", "content": nil}}
}

// Round is the round that has ended.
func (h *hearing) Round() (*aside.Round, bool) {
	if !h.goesOn {
		return nil, false
	}
	r := &aside.Round{Said: h.said, Given: string(h.text), Calls: h.hidden()}
	list := make([]any, len(h.calls))
	mended := false
	for i, c := range h.calls {
		list[i], mended = c.fields, mended || c.mended
	}
	switch h.message["tool_calls"] = list; {
	case r.Said == nil:
		r.Said = encode(h.message)
	case mended:
		r.Said = withCalls(r.Said, encode(map[string]any{"tool_calls": list}))
	}
	return r, true
}

// Answer is what the client was given, and which calls were hidden from it.
func (h *hearing) Answer() (aside.Given, []aside.Call) {
	given := aside.Given{Text: string(h.given)}
	for _, c := range h.calls {
		if id, _ := c.fields["id"].(string); !c.ours {
			given.Calls = append(given.Calls, id)
		}
	}
	return given, h.hidden()
}

// hidden are the calls of the tool in this round.
func (h *hearing) hidden() (list []aside.Call) {
	at := 0
	for _, c := range h.calls {
		if !c.ours {
			at++
			continue
		}
		c.mend()
		id, _ := c.fields["id"].(string)
		list = append(list, aside.Call{ID: id, Arguments: c.wrote, At: at, Raw: encode(c.fields)})
	}
	return list
}

// theirs is how many calls of this round are of the client's own tools.
func (h *hearing) theirs() (n int) {
	for _, c := range h.calls {
		if !c.ours {
			n++
		}
	}
	return n
}

// add takes a call in that begins with these fields.
func (h *hearing) add(fields map[string]any, ours bool) *call {
	delete(fields, "index")
	if f, _ := fields["function"].(map[string]any); f != nil && f["arguments"] == nil {
		f["arguments"] = ""
	}
	if id, _ := fields["id"].(string); id == "" {
		fields["id"] = "epitome_" + strconv.Itoa(h.round) + "_" + strconv.Itoa(len(h.calls))
	}
	c := &call{fields: fields, ours: ours, out: h.theirs()}
	h.calls = append(h.calls, c)
	return c
}

// end takes in that the round has ended, and says why the client is told it did; empty if it is told nothing.
func (h *hearing) end(why string) string {
	for _, c := range h.calls {
		c.mend()
	}
	switch {
	case len(h.calls) == 0 || h.theirs() > 0:
		return why
	case h.last || why == "length" || why == "content_filter":
		if why == "tool_calls" {
			why = "stop"
		}
		h.calls = nil
		return why
	}
	h.goesOn = true
	return ""
}

// mend keeps the arguments of a call, and makes them such that the server takes the call back. What is wrong with them
// is what the call is answered.
func (c *call) mend() {
	f, _ := c.fields["function"].(map[string]any)
	if f == nil || c.mended {
		return
	}
	c.wrote = textOf(f["arguments"])
	if c.wrote != "" && (!c.ours || span.Valid([]byte(c.wrote)) && gjson.Parse(c.wrote).IsObject()) {
		return
	}
	f["arguments"], c.mended = "{}", true
}

// speak takes in a text that the client is given, and returns it as it gets it: parted from that of earlier rounds.
func (h *hearing) speak(text string) string {
	parted := text
	if len(h.text) == 0 && len(bytes.TrimSpace(h.given)) > 0 && strings.TrimSpace(text) != "" {
		parted = "\n\n" + text
	}
	h.text, h.given = append(h.text, text...), append(h.given, parted...)
	return parted
}

// keepFrame has the rounds share the frame of the first.
func (h *hearing) keepFrame(o *span.Object, body []byte) {
	if h.frame == nil {
		h.frame = map[string][]byte{}
		for _, key := range []string{"id", "created"} {
			h.frame[key] = bytes.Clone(o.Value(key).Of(body))
		}
		return
	}
	if h.round == 1 {
		return
	}
	for key, value := range h.frame {
		if now := o.Value(key).Of(body); len(now) > 0 && len(value) > 0 && !bytes.Equal(now, value) {
			o.Set(key, string(value))
		}
	}
}

// keepUsage has the rounds' usage added.
func (h *hearing) keepUsage(o *span.Object, body []byte) {
	now := o.Value("usage").Of(body)
	if len(now) == 0 || now[0] != '{' {
		return
	}
	if h.usage = bytes.Clone(now); len(h.before) > 0 {
		o.Set("usage", string(aside.AddUsage(h.before, now)))
	}
}

// choice is the one choice of an answer or of a piece of one, for edits.
type choice struct {
	*span.Object
	key  string       // of what is said
	says *span.Object // what is said; nil if nothing is
	at   gjson.Result // the same to be read
	why  string       // why it ends; empty if it does not
}

// choiceOf finds the choice under the key choices; nil if there is none, or another than the first.
func choiceOf(o *span.Object, body []byte, key string) *choice {
	list := o.Value("choices")
	if !span.HasElements(body, list) {
		return nil
	}
	inner, err := span.ObjectAt(body, span.SkipSpace(body, list.Start+1))
	if err != nil || len(inner.Value("index").Of(body)) > 1 || string(inner.Value("index").Of(body)) > "0" {
		return nil
	}
	c := &choice{Object: inner, key: key, why: gjson.ParseBytes(inner.Value("finish_reason").Of(body)).Str}
	if said := inner.Value(key); !said.Empty() {
		c.says, _ = span.ObjectAt(body, said.Start)
		c.at = gjson.ParseBytes(said.Of(body))
	}
	return c
}
