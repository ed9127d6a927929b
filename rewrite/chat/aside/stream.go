package aside

import (
	"bytes"

	"github.com/tidwall/gjson"

	"epitome/rewrite/aside"
	"epitome/rewrite/span"
)

// Event takes a piece of a streamed answer.
func (h *hearing) Event(dst, raw, data []byte) (out []byte, ends bool) {
	data = bytes.TrimSpace(data)
	if string(data) == "[DONE]" && h.now.goesOn {
		return dst, false
	}
	if len(data) == 0 || data[0] != '{' || !span.Valid(data) {
		return append(dst, raw...), string(data) == "[DONE]"
	}
	o, err := span.ObjectAt(data, 0)
	if err != nil {
		return append(dst, raw...), false
	}
	h.now.failed = h.now.failed || isError(o, data)
	h.keepFrame(o, data)
	h.keepUsage(o, data)
	c := choiceOf(o, data, "delta")
	if c == nil {
		if h.now.goesOn && !h.now.failed {
			return dst, false
		}
		return appendEvent(dst, raw, data, o.Edits()), h.now.failed
	}
	edits, mute := h.piece(c, data)
	goesOn := h.now.goesOn && !h.now.failed
	if mute || goesOn && c.why == "" && !saysMore(c) {
		return dst, false
	}
	return appendEvent(dst, raw, data, append(o.Edits(), edits...)), h.now.failed || c.why != "" && !goesOn
}

// saysMore reports whether a piece behind the end of a round says anything.
func saysMore(c *choice) bool { return c.at.Get("content").Str != "" }

// piece takes a piece of the message in. mute is true if the client gets nothing of it.
func (h *hearing) piece(c *choice, data []byte) (edits []span.Edit, mute bool) {
	h.held += len(c.at.Raw)
	var calls []byte
	hid := false
	if c.says != nil {
		calls, hid = h.hearDelta(c, data)
	}
	if c.why != "" {
		if late := h.now.releaseAll(); len(late) > 0 {
			calls, hid = append(calls, late...), false
			c.giveCalls(calls)
		}
		switch why := h.now.end(c.why); {
		case why == "":
			hid = true
			c.Set("finish_reason", "null")
		case why != c.why:
			c.Set("finish_reason", string(span.AppendQuoted(nil, why)))
		}
	}
	if c.says != nil {
		edits = c.says.Edits()
	}
	bare := c.why == "" || h.now.goesOn
	return append(edits, c.Edits()...), bare && (hid || !h.isFirst()) && len(calls) == 0 && c.isBare()
}

// giveCalls has a piece have these calls, each with a comma before it, and no others.
func (c *choice) giveCalls(calls []byte) {
	list := "[" + string(calls[1:]) + "]"
	if c.says == nil {
		c.Set(c.key, `{"tool_calls":`+list+"}")
		return
	}
	c.says.Set("tool_calls", list)
}

// isBare reports whether a piece says nothing but for calls.
func (c *choice) isBare() bool {
	something := false
	c.at.ForEach(func(key, v gjson.Result) bool {
		switch {
		case key.Str == "role" || key.Str == "tool_calls":
		case v.Type == gjson.String:
			something = v.Str != ""
		default:
			something = v.Type != gjson.Null && v.Raw != "[]" && v.Raw != "{}"
		}
		return !something
	})
	return !something
}

// hearDelta takes in what a piece says. calls are those that the client gets of it, each with a comma before it; hid is
// true if some are hidden, or wait.
func (h *hearing) hearDelta(c *choice, data []byte) (calls []byte, hid bool) {
	said := decode(c.at.Raw)
	delete(said, "tool_calls")
	merge(h.now.message, said)
	if !h.isFirst() {
		c.says.TakeOut("role")
	}
	if text := c.at.Get("content"); text.Type == gjson.String && text.Str != "" {
		if now := h.speak(text.Str); now != text.Str {
			c.says.Set("content", string(span.AppendQuoted(nil, now)))
		}
	}
	list := c.says.Value("tool_calls")
	if !span.HasElements(data, list) {
		return nil, false
	}
	changed := false
	_, _ = span.Elements(data, list.Start, func(i int) (int, error) {
		end, err := span.EndOfValue(data, i)
		if err != nil {
			return 0, err
		}
		if len(h.now.calls) >= mostCalls { // more than is held of an answer
			return 0, errManyCalls
		}
		before := len(h.now.calls)
		out := h.now.hearCall(data[i:end])
		h.held += perCall * (len(h.now.calls) - before)
		changed = changed || len(out) == 0 || !bytes.Equal(out[1:], data[i:end])
		calls = append(calls, out...)
		return end, nil
	})
	switch {
	case len(calls) == 0:
		c.says.TakeOut("tool_calls")
		return nil, true
	case changed:
		c.giveCalls(calls)
	}
	return calls, false
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
	return aside.AppendEvent(dst, raw, out)
}
