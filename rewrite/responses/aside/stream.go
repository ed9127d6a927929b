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
	o, err := span.ObjectAt(data, span.SkipSpace(data, 0))
	if err != nil {
		return append(dst, raw...), false
	}
	edits, hid := h.hear(o, v, data)
	if hid {
		return dst, false
	}
	if at := v.Get("sequence_number"); at.Exists() {
		if at.Int() != h.number && h.number > 0 {
			o.Set("sequence_number", strconv.FormatInt(h.number, 10))
		} else {
			h.number = at.Int()
		}
		h.number++
	}
	if edits = append(edits, o.Edits()...); len(edits) == 0 {
		return append(dst, raw...), isEnd(v)
	}
	changed, err := span.Splice(data, edits)
	if err != nil {
		return append(dst, raw...), isEnd(v)
	}
	return aside.AppendEvent(dst, raw, changed), isEnd(v)
}

// isEnd reports whether an event tells the end of an answer.
func isEnd(v gjson.Result) bool {
	switch v.Get("type").Str {
	case "response.completed", "response.incomplete", "response.failed", "error":
		return true
	}
	return false
}

// hear takes an event in. hid is true if the client gets nothing of it.
func (h *hearing) hear(o *span.Object, v gjson.Result, data []byte) (edits []span.Edit, hid bool) {
	switch kind := v.Get("type").Str; {
	case kind == "error":
		h.now.failed = true
		return nil, false
	case kind == "response.created" || kind == "response.in_progress" || kind == "response.queued":
		if h.id == "" {
			h.id = v.Get("response.id").Str
		}
		return withoutTool(o, data), !h.isFirst()
	case isEnd(v):
		return h.close(o, v, data)
	case kind == "response.output_item.added":
		return nil, h.renumber(o, v, h.begin(v.Get("item"), v.Get("output_index").Int()))
	case v.Get("output_index").Exists():
		p := h.now.partAt(v.Get("output_index").Int())
		if p == nil {
			return nil, false
		}
		if kind == "response.output_item.done" {
			p.raw = []byte(v.Get("item").Raw)
			h.held += len(p.raw)
		}
		return nil, h.renumber(o, v, p)
	}
	return nil, false
}

// renumber gives an event the number of its item as the client has it. hid is true for one of the tool's calls.
func (h *hearing) renumber(o *span.Object, v gjson.Result, p *part) (hid bool) {
	if at := v.Get("output_index"); at.Exists() && at.Int() != int64(p.out) {
		o.Set("output_index", strconv.Itoa(p.out))
	}
	return p.ours
}

// withoutTool has the response that an event brings be asked without the tool.
func withoutTool(o *span.Object, data []byte) []span.Edit {
	in, err := span.ObjectAt(data, o.Value("response").Start)
	if err != nil {
		return nil
	}
	dropTool(in, data)
	return in.Edits()
}

// close takes in the end of a round.
func (h *hearing) close(o *span.Object, v gjson.Result, data []byte) (edits []span.Edit, hid bool) {
	h.end(v.Get("response"))
	if h.now.goesOn {
		return nil, true
	}
	in, err := span.ObjectAt(data, o.Value("response").Start)
	if err != nil {
		return nil, false
	}
	h.join(in, data)
	if h.id != "" && h.id != h.now.real {
		in.Set("id", string(span.AppendQuoted(nil, h.id)))
	}
	return in.Edits(), false
}
