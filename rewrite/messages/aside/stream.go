package aside

import (
	"strconv"

	"github.com/tidwall/gjson"

	"epitome/rewrite/aside"
	"epitome/rewrite/span"
)

// Event takes an event of a streamed answer.
func (h *hearing) Event(dst, raw, data []byte) (out []byte, ends bool) {
	v := gjson.ParseBytes(data)
	if !v.IsObject() || !span.Valid(data) {
		return append(dst, raw...), false
	}
	start := span.SkipSpace(data, 0)
	o, err := span.ObjectAt(data, start)
	if err != nil {
		return append(dst, raw...), false
	}
	var hid bool
	switch v.Get("type").Str {
	case "error":
		h.now.failed, ends = true, true
	case "message_start":
		h.now.usage, hid = []byte(v.Get("message.usage").Raw), !h.isFirst()
	case "content_block_start":
		hid = h.renumber(o, h.begin(v))
	case "content_block_delta":
		p := h.partOf(v)
		if p != nil {
			p.add(v.Get("delta"))
			h.held += len(v.Get("delta").Raw)
		}
		hid = h.renumber(o, p)
	case "content_block_stop":
		hid = h.renumber(o, h.partOf(v))
	case "message_delta":
		hid, ends = h.close(o, v, data)
	case "message_stop":
		hid, ends = h.now.goesOn, !h.now.goesOn
	}
	if hid {
		return dst, false
	}
	edits := append(o.Edits(), h.why(o, v, data)...)
	if len(edits) == 0 {
		return append(dst, raw...), ends
	}
	changed, err := span.Splice(data, edits)
	if err != nil {
		return append(dst, raw...), ends
	}
	return aside.AppendEvent(dst, raw, changed), ends
}

// begin takes the beginning of a block in.
func (h *hearing) begin(v gjson.Result) *part {
	for len(h.now.parts) < int(min(v.Get("index").Int(), 10_000)) { // a hole of the server's own
		h.now.parts = append(h.now.parts, &part{raw: []byte(`{"type":"text","text":""}`), kind: "text", out: h.out})
		h.out++
		h.held += perPart
	}
	return h.newPart(v.Get("content_block"))
}

// partOf is the block that an event speaks of; nil if there is none.
func (h *hearing) partOf(v gjson.Result) *part {
	if i := v.Get("index").Int(); i >= 0 && i < int64(len(h.now.parts)) {
		return h.now.parts[i]
	}
	return nil
}

// renumber gives an event the number of its block as the client has it. hid is true for one of the tool's calls.
func (h *hearing) renumber(o *span.Object, p *part) (hid bool) {
	if p == nil {
		return false
	}
	if at := strconv.Itoa(p.out); !h.isFirst() || h.now.parts[p.out%len(h.now.parts)] != p {
		o.Set("index", at)
	}
	return p.ours
}

// close takes in why a round ends, and what it used.
func (h *hearing) close(o *span.Object, v gjson.Result, data []byte) (hid, ends bool) {
	now := o.Value("usage").Of(data)
	h.now.usage = overlay(h.now.usage, now)
	if why := v.Get("delta.stop_reason"); why.Type == gjson.String && !h.now.goesOn && !h.now.mute {
		hid = h.end(why.Str) == ""
	}
	if !hid && len(h.before) > 0 {
		o.Set("usage", string(aside.AddUsage(h.before, h.now.usage)))
	}
	return hid, !hid
}

// why has the client told that the answer is over where calls of the tool were taken out of it.
func (h *hearing) why(o *span.Object, v gjson.Result, data []byte) []span.Edit {
	if !h.now.mute || v.Get("delta.stop_reason").Str != "tool_use" {
		return nil
	}
	if _, theirs := h.now.calls(); theirs > 0 {
		return nil
	}
	in, err := span.ObjectAt(data, o.Value("delta").Start)
	if err != nil {
		return nil
	}
	in.Set("stop_reason", `"end_turn"`)
	return in.Edits()
}

// overlay is what the end of a round says of its tokens, with what only its beginning said.
func overlay(begin, end []byte) []byte {
	o, err := span.ObjectAt(begin, 0)
	if err != nil || len(begin) == 0 {
		return append([]byte(nil), end...)
	}
	gjson.ParseBytes(end).ForEach(func(key, v gjson.Result) bool {
		if v.Type != gjson.Null {
			o.Set(key.Str, v.Raw)
		}
		return true
	})
	out, err := span.Splice(begin, o.Edits())
	if err != nil {
		return end
	}
	return out
}
