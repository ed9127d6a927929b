package aside

import (
	"strconv"

	"github.com/tidwall/gjson"

	"epitome/rewrite/span"
)

// Event takes an event of a streamed answer.
func (h *hearing) Event(dst, raw, kind, data []byte) (out []byte, ends bool) {
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
	if len(kind) > 0 {
		dst = append(append(append(dst, "event: "...), kind...), '\n')
	}
	return append(append(append(dst, "data: "...), changed...), "\n\n"...), isEnd(v)
}

// isEnd reports whether an event tells the end of an answer.
func isEnd(v gjson.Result) bool {
	switch v.Get("type").Str {
	case "response.completed", "response.incomplete", "response.failed":
		return true
	}
	return false
}

// hear takes an event in. hid is true if the client gets nothing of it.
func (h *hearing) hear(o *span.Object, v gjson.Result, data []byte) (edits []span.Edit, hid bool) {
	switch kind := v.Get("type").Str; {
	case kind == "response.created" || kind == "response.in_progress" || kind == "response.queued":
		if h.id == "" {
			h.id = v.Get("response.id").Str
		}
		return nil, h.round > 1
	case isEnd(v):
		return h.close(o, v, data)
	case kind == "response.output_item.added":
		return nil, h.renumber(o, v, h.newPart(v.Get("item")))
	case v.Get("output_index").Exists():
		i := v.Get("output_index").Int()
		if i < 0 || i >= int64(len(h.parts)) {
			return nil, false
		}
		p := h.parts[i]
		if kind == "response.output_item.done" {
			p.raw = []byte(v.Get("item").Raw)
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

// close takes in the end of a round.
func (h *hearing) close(o *span.Object, v gjson.Result, data []byte) (edits []span.Edit, hid bool) {
	h.end(v.Get("response"))
	if h.goesOn {
		return nil, true
	}
	in, err := span.ObjectAt(data, o.Value("response").Start)
	if err != nil {
		return nil, false
	}
	h.join(in, data)
	if h.id != "" && h.id != h.real {
		in.Set("id", string(span.AppendQuoted(nil, h.id)))
	}
	return in.Edits(), false
}
