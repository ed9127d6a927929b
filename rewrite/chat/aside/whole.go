package aside

import (
	"bytes"
	"strings"

	"github.com/tidwall/gjson"

	"epitome/rewrite/span"
)

// Document takes an answer that is no stream.
func (h *hearing) Document(doc []byte) []byte {
	if !span.Valid(doc) {
		return doc
	}
	start := span.SkipSpace(doc, 0)
	o, err := span.ObjectAt(doc, start)
	if err != nil {
		return doc
	}
	h.keepFrame(o, doc)
	h.keepUsage(o, doc)
	edits := o.Edits()
	h.held += len(doc)
	if c := choiceOf(o, doc, "message"); c != nil && c.says != nil {
		h.now.failed = isError(o, doc)
		edits = append(edits, h.hearMessage(c)...)
	} else {
		h.now.failed = true
	}
	out, err := span.Splice(doc, edits)
	if err != nil {
		return doc
	}
	return out
}

// hearMessage takes in a whole message, and returns what makes it the client's.
func (h *hearing) hearMessage(c *choice) []span.Edit {
	h.now.said = withoutNulls(c.at.Raw)
	earlier, content := string(h.given), c.at.Get("content")
	before, text := earlier != "", content.Str
	for _, part := range content.Array() { // some servers have parts here
		text += part.Get("text").Str
	}
	switch h.speak(text); {
	case content.IsArray() && before:
		part := string(span.AppendQuoted([]byte(`{"type":"text","text":`), earlier+"\n\n")) + "}"
		others := strings.TrimSpace(content.Raw[1 : len(content.Raw)-1])
		c.says.Set("content", "["+strings.TrimSuffix(part+","+others, ",")+"]")
	case !content.IsArray() && string(h.given) != text:
		c.says.Set("content", string(span.AppendQuoted(nil, string(h.given))))
	}
	var out []byte
	for _, v := range c.at.Get("tool_calls").Array() { // of null there are none
		made := newCall(v)
		if h.now.calls = append(h.now.calls, made); !made.ours {
			out = append(append(out, ','), v.Raw...)
		}
	}
	h.now.ended = true
	if h.now.ours() == 0 && !before {
		return append(c.says.Edits(), c.Edits()...)
	}
	switch {
	case len(h.now.calls) == 0:
	case len(out) == 0:
		c.says.TakeOut("tool_calls")
	default:
		c.says.Set("tool_calls", "["+string(out[1:])+"]")
	}
	if why := h.now.end(c.why); why != "" && why != c.why {
		c.Set("finish_reason", string(span.AppendQuoted(nil, why)))
	}
	return append(c.says.Edits(), c.Edits()...)
}

// withCalls is a message with the calls of another.
func withCalls(message, other []byte) []byte {
	o, err := span.ObjectAt(message, 0)
	if err != nil {
		return message
	}
	o.Set("tool_calls", gjson.GetBytes(other, "tool_calls").Raw)
	out, err := span.Splice(message, o.Edits())
	if err != nil {
		return message
	}
	return out
}

// withoutNulls is a message as the API takes it back: servers write null for all that a message does not have.
func withoutNulls(message string) []byte {
	body := []byte(message)
	o, err := span.ObjectAt(body, 0)
	if err != nil {
		return body
	}
	gjson.ParseBytes(body).ForEach(func(key, v gjson.Result) bool {
		if (v.Type == gjson.Null || v.Raw == "[]") && key.Str != "content" {
			o.TakeOut(key.Str)
		}
		return true
	})
	out, err := span.Splice(body, o.Edits())
	if err != nil {
		return body
	}
	return bytes.TrimSpace(out)
}
