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
	held   int               // bytes of all rounds, about
	skips  int               // rounds of which the client was given nothing

	now round
}

// round is the one that is heard.
type round struct {
	last    bool // no other may follow
	number  int  // counted from 1
	usage   []byte
	message map[string]any // what it says, but for calls
	calls   []*call
	said    []byte // the whole message, of an answer that is no stream
	text    []byte // that the client was given of it
	next    int    // number of the client's next call
	goesOn  bool   // it has ended, and another one follows
	ended   bool   // it says why
	failed  bool   // it says an error
}

// Begin begins a round.
func (h *hearing) Begin(last bool) {
	h.before = aside.AddUsage(h.before, h.now.usage)
	h.now = round{last: last, number: h.now.number + 1, message: map[string]any{"role": "assistant", "content": nil}}
}

// Anew forgets what the client was given.
func (h *hearing) Anew() { h.frame, h.given, h.skips = nil, nil, h.now.number }

// isFirst reports whether the client's answer begins with the round.
func (h *hearing) isFirst() bool { return h.now.number == h.skips+1 }

// Size is how many bytes are held, about.
func (h *hearing) Size() int { return h.held }

// Round is the round that has ended.
func (h *hearing) Round() (*aside.Round, bool) {
	if !h.now.goesOn || h.now.failed {
		return nil, false
	}
	r := &aside.Round{Said: h.now.said, Given: string(h.now.text), Calls: h.now.hidden()}
	list := make([]any, len(h.now.calls))
	mended := false
	for i, c := range h.now.calls {
		list[i], mended = c.fields, mended || c.mended
	}
	switch h.now.message["tool_calls"] = list; {
	case r.Said == nil:
		r.Said = encode(h.now.message)
	case mended:
		r.Said = withCalls(r.Said, encode(map[string]any{"tool_calls": list}))
	}
	return r, true
}

// Answer is what the client was given, and which calls were hidden from it.
func (h *hearing) Answer() (given aside.Given, hidden []aside.Call, ok bool) {
	given.Text = string(h.given)
	for _, c := range h.now.calls {
		if !c.ours {
			given.Calls = append(given.Calls, c.id())
		}
	}
	hidden = h.now.hidden()
	return given, hidden, !h.now.failed && (h.now.ended || len(hidden) == 0)
}

// hidden are the calls of the tool in this round.
func (r *round) hidden() (list []aside.Call) {
	at := 0
	for i, c := range r.calls {
		if !c.ours {
			at++
			continue
		}
		c.mend()
		if c.id() == "" {
			c.fields["id"] = "epitome_" + strconv.Itoa(r.number) + "_" + strconv.Itoa(i)
		}
		list = append(list, aside.Call{ID: c.id(), Arguments: c.wrote, At: at, Raw: encode(c.fields)})
	}
	return list
}

// ours is how many calls of this round are of the tool.
func (r *round) ours() (n int) {
	for _, c := range r.calls {
		if c.ours {
			n++
		}
	}
	return n
}

// end takes in that the round has ended, and says why the client is told it did; empty if it is told nothing.
func (r *round) end(why string) string {
	r.ended = true
	for _, c := range r.calls {
		c.mend()
	}
	switch ours := r.ours(); {
	case ours == 0 || len(r.calls) > ours:
		return why
	case r.last || r.failed || why == "length" || why == "content_filter" || why == "error":
		if why == "tool_calls" {
			why = "stop"
		}
		r.calls = nil
		return why
	}
	r.goesOn = true
	return ""
}

// speak takes in a text that the client is given, and returns it as it gets it: parted from that of earlier rounds.
func (h *hearing) speak(text string) string {
	parted := text
	if len(h.now.text) == 0 && len(bytes.TrimSpace(h.given)) > 0 && strings.TrimSpace(text) != "" {
		parted = "\n\n" + text
	}
	h.now.text, h.given = append(h.now.text, text...), append(h.given, parted...)
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
	if h.isFirst() {
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
	if h.now.usage = bytes.Clone(now); len(h.before) > 0 {
		o.Set("usage", string(aside.AddUsage(h.before, now)))
	}
}

// isError reports whether an answer, or a piece of one, says that it has failed.
func isError(o *span.Object, body []byte) bool {
	said := o.Value("error").Of(body)
	return len(said) > 0 && string(said) != "null"
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
