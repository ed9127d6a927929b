package aside

import (
	"errors"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"epitome/rewrite/aside"
	"epitome/rewrite/span"
)

// How much a call is held to take, beside its text. What is held of an answer is bounded, and so are its calls.
const (
	perCall   = 16 << 10 // bytes
	mostCalls = 5_000    // in a round
)

var errManyCalls = errors.New("the round has too many calls")

// call is one call of a round.
type call struct {
	index  string // as the stream has it
	fields map[string]any
	known  bool // its name has told whose it is
	ours   bool
	told   bool   // the client has its beginning
	wrote  string // arguments, as the model wrote them, once the round has ended
	mended bool   // they were no object of JSON, which servers refuse to read again
	out    int    // its number among those that the client gets
}

// newCall is a call that begins so.
func newCall(v gjson.Result) *call {
	c := &call{index: v.Get("index").Raw, fields: decode(v.Raw)}
	delete(c.fields, "index")
	if f := c.function(); f != nil && f["arguments"] == nil {
		f["arguments"] = ""
	}
	c.know(v)
	return c
}

// function is what is called, and with what; nil if the call is of another kind.
func (c *call) function() map[string]any {
	f, _ := c.fields["function"].(map[string]any)
	return f
}

func (c *call) id() string { return textOf(c.fields["id"]) }

// add takes in a piece of the call.
func (c *call) add(v gjson.Result) {
	name := c.name()
	more := decode(v.Raw)
	delete(more, "index")
	merge(c.fields, more)
	switch now := v.Get("function.name").Str; {
	case c.known:
	case strings.HasPrefix(now, name): // all that has come is said again, as some servers do
		name = now
	default:
		name += now
	}
	if f := c.function(); f != nil && name != "" {
		f["name"] = name
	}
	c.know(v)
}

// name is that of the function, as much of it as has come.
func (c *call) name() string { return textOf(c.function()["name"]) }

// know takes in whose the call is, if its name says so by now. v is the piece that has come.
func (c *call) know(v gjson.Result) {
	name, kind := c.name(), textOf(c.fields["type"])
	switch {
	case c.known:
	case name == aside.Tool:
		c.known, c.ours = true, true
	default:
		whole := name != "" && v.Get("function.name").Str == "" && v.Get("function.arguments").Str != ""
		c.known = whole || !strings.HasPrefix(aside.Tool, name) || kind != "" && kind != "function"
	}
}

// mend keeps the arguments of a call, and makes them such that the server takes the call back. What is wrong with them
// is what the call is answered.
func (c *call) mend() {
	f := c.function()
	if f == nil || c.mended {
		return
	}
	c.wrote = textOf(f["arguments"])
	if c.wrote != "" && (!c.ours || span.Valid([]byte(c.wrote)) && gjson.Parse(c.wrote).IsObject()) {
		return
	}
	f["arguments"], c.mended = "{}", true
}

// callOf is the call that a piece of one belongs to; nil if it is a new one. Some servers give all calls one index, or
// none.
func (r *round) callOf(v gjson.Result) *call {
	index, id, name := v.Get("index").Raw, v.Get("id").Str, v.Get("function.name").Str
	for _, c := range r.calls {
		if id != "" && c.index == index && c.id() == id {
			return c
		}
	}
	for i := len(r.calls) - 1; i >= 0; i-- {
		c := r.calls[i]
		if c.index != index {
			continue
		}
		own := c.id()
		if own != "" && id != "" && name != "" && id != own || (own == "" || id == "") && c.isBehind(name, v) {
			return nil
		}
		return c
	}
	return nil
}

// isBehind reports whether a piece with a name begins another call: this one has all of its arguments, and the piece
// begins with some.
func (c *call) isBehind(name string, v gjson.Result) bool {
	if name == "" || !strings.HasPrefix(v.Get("function.arguments").Str, "{") {
		return false
	}
	wrote := textOf(c.function()["arguments"])
	return span.Valid([]byte(wrote)) && gjson.Parse(wrote).IsObject()
}

// hearCall takes in a piece of a call, and returns what the client gets now, each element with a comma before it: it
// gets nothing of a call before it is known whose that is, and nothing of those behind it.
func (r *round) hearCall(element []byte) (out []byte) {
	v := gjson.ParseBytes(element)
	c := r.callOf(v)
	fresh := c == nil
	if fresh {
		c = newCall(v)
		r.calls = append(r.calls, c)
	} else {
		c.add(v)
	}
	switch {
	case c.told:
		return append([]byte{','}, renumbered(element, c)...)
	case fresh && c.known && !c.ours && len(r.waiting()) == 1:
		r.tell(c)
		return append([]byte{','}, renumbered(element, c)...)
	}
	return r.release()
}

// waiting are the calls of which the client was told nothing, and may be.
func (r *round) waiting() (list []*call) {
	for _, c := range r.calls {
		if !c.ours && !c.told {
			list = append(list, c)
		}
	}
	return list
}

// release returns the calls that had to wait and do no more, each with a comma before it.
func (r *round) release() (out []byte) {
	for _, c := range r.waiting() {
		if !c.known {
			break
		}
		r.tell(c)
		with, _ := span.ObjectAt(encode(c.fields), 0)
		if c.index != "" {
			with.Set("index", strconv.Itoa(c.out))
		}
		element, err := span.Splice(encode(c.fields), with.Edits())
		if err == nil {
			out = append(append(out, ','), element...)
		}
	}
	return out
}

// releaseAll returns the calls that wait when the round has ended.
func (r *round) releaseAll() []byte {
	for _, c := range r.calls {
		c.known = true
	}
	return r.release()
}

// tell gives a call its number among those of the client. It is the server's own while none was hidden.
func (r *round) tell(c *call) {
	c.told, c.out = true, r.next
	if n, err := strconv.Atoi(c.index); err == nil && r.ours() == 0 {
		c.out = n
	}
	r.next = c.out + 1
}

// renumbered is an element with the number that the client has of its call.
func renumbered(element []byte, c *call) []byte {
	o, err := span.ObjectAt(element, 0)
	if err != nil || c.index == "" || c.index == strconv.Itoa(c.out) {
		return element
	}
	o.Set("index", strconv.Itoa(c.out))
	out, err := span.Splice(element, o.Edits())
	if err != nil {
		return element
	}
	return out
}
