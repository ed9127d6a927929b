package aside

import (
	"bytes"
	"strconv"

	"github.com/tidwall/gjson"

	"epitome/rewrite/span"
)

// Event takes a piece of a streamed answer.
func (h *hearing) Event(dst, raw, _, data []byte) (out []byte, ends bool) {
	data = bytes.TrimSpace(data)
	if string(data) == "[DONE]" && h.goesOn {
		return dst, false
	}
	if len(data) == 0 || data[0] != '{' || !span.Valid(data) {
		return append(dst, raw...), string(data) == "[DONE]"
	}
	o, err := span.ObjectAt(data, 0)
	if err != nil {
		return append(dst, raw...), false
	}
	h.keepFrame(o, data)
	h.keepUsage(o, data)
	c := choiceOf(o, data, "delta")
	if c == nil {
		if h.goesOn {
			return dst, false
		}
		return appendEvent(dst, raw, data, o.Edits()), false
	}
	edits, mute := h.piece(c, data)
	if mute || h.goesOn && c.why == "" && !h.saysMore(c) {
		return dst, false
	}
	return appendEvent(dst, raw, data, append(o.Edits(), edits...)), c.why != "" && !h.goesOn
}

// saysMore reports whether a piece behind the end of a round says anything.
func (h *hearing) saysMore(c *choice) bool { return c.at.Get("content").Str != "" }

// piece takes a piece of the message in. mute is true if the client gets nothing of it.
func (h *hearing) piece(c *choice, data []byte) (edits []span.Edit, mute bool) {
	hid := false
	if c.says != nil {
		hid = h.hearDelta(c, data)
		edits = append(edits, c.says.Edits()...)
	}
	if c.why != "" {
		switch why := h.end(c.why); {
		case why == "":
			hid = true
			c.Set("finish_reason", "null")
		case why != c.why:
			c.Set("finish_reason", string(span.AppendQuoted(nil, why)))
		}
	}
	bare := c.why == "" || h.goesOn
	return append(edits, c.Edits()...), bare && (hid || h.round > 1) && h.bare(c)
}

// bare reports whether a piece says nothing once calls of the tool are out of it.
func (h *hearing) bare(c *choice) bool {
	something := false
	c.at.ForEach(func(key, v gjson.Result) bool {
		switch {
		case key.Str == "role":
		case key.Str == "tool_calls":
			something = something || h.passes(v)
		case v.Type == gjson.String:
			something = something || v.Str != ""
		default:
			something = something || v.Type != gjson.Null && v.Raw != "[]" && v.Raw != "{}"
		}
		return !something
	})
	return !something
}

// passes reports whether any of the calls goes to the client.
func (h *hearing) passes(list gjson.Result) (some bool) {
	for _, v := range list.Array() {
		c := h.callOf(v)
		some = some || c != nil && !c.ours
	}
	return some
}

// hearDelta takes in what a piece says, and reports whether something of it was hidden.
func (h *hearing) hearDelta(c *choice, data []byte) (hid bool) {
	said := decode(c.at.Raw)
	delete(said, "tool_calls")
	merge(h.message, said)
	if h.round > 1 {
		c.says.TakeOut("role")
	}
	if text := c.at.Get("content"); text.Type == gjson.String && text.Str != "" {
		if now := h.speak(text.Str); now != text.Str {
			c.says.Set("content", string(span.AppendQuoted(nil, now)))
		}
	}
	list := c.says.Value("tool_calls")
	if !span.HasElements(data, list) {
		return false
	}
	var out []byte
	changed := false
	_, _ = span.Elements(data, list.Start, func(i int) (int, error) {
		end, err := span.EndOfValue(data, i)
		if err != nil {
			return 0, err
		}
		element, same := h.hearCall(data[i:end])
		changed = changed || !same
		if len(element) > 0 {
			out = append(append(out, ','), element...)
		}
		return end, nil
	})
	switch {
	case len(out) == 0:
		c.says.TakeOut("tool_calls")
		return true
	case changed:
		c.says.Set("tool_calls", "["+string(out[1:])+"]")
	}
	return false
}

// callOf is the call that a piece of one belongs to; nil if it is a new one. Some servers give all calls one index, or
// none.
func (h *hearing) callOf(v gjson.Result) *call {
	index, id, name := v.Get("index").Raw, v.Get("id").Str, v.Get("function.name").Str
	for i := len(h.calls) - 1; i >= 0; i-- {
		c := h.calls[i]
		if c.index != index {
			continue
		}
		if own, _ := c.fields["id"].(string); id != "" && name != "" && id != own {
			return nil
		}
		return c
	}
	return nil
}

// hearCall takes in a piece of a call, and returns it as the client gets it; nothing if it does not. same is true if
// that is as it came.
func (h *hearing) hearCall(element []byte) (out []byte, same bool) {
	v := gjson.ParseBytes(element)
	c := h.callOf(v)
	if c == nil {
		c = h.add(decode(v.Raw), isOurs(v))
		c.index = v.Get("index").Raw
	} else {
		more := decode(v.Raw)
		delete(more, "index")
		merge(c.fields, more)
	}
	switch {
	case c.ours:
		return nil, false
	case v.Get("index").Raw == "" || len(h.calls) == h.theirs() || v.Get("index").Raw == strconv.Itoa(c.out):
		return element, true
	}
	o, err := span.ObjectAt(element, 0)
	if err != nil {
		return element, true
	}
	o.Set("index", strconv.Itoa(c.out))
	if out, err = span.Splice(element, o.Edits()); err != nil {
		return element, true
	}
	return out, false
}

// appendEvent writes an event: as it came if nothing is edited.
func appendEvent(dst, raw, data []byte, edits []span.Edit) []byte {
	if len(edits) == 0 {
		return append(dst, raw...)
	}
	out, err := span.Splice(data, edits)
	if err != nil {
		return append(dst, raw...)
	}
	return append(append(append(dst, "data: "...), out...), "\n\n"...)
}
