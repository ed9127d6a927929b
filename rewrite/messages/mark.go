package messages

import (
	"bytes"

	"epitome/rewrite/conversation"
	"epitome/rewrite/span"
)

// markAt is the mark with that value, which is a member of an object.
func markAt(body []byte, v span.Span) conversation.Mark {
	m := conversation.Mark{Span: v, Value: v}
	m.Start = bytes.LastIndexByte(body[:bytes.LastIndexByte(body[:v.Start], ':')], '"') - len(marker) - 1
	before := m.Start - 1
	for isSpace(body[before]) {
		before--
	}
	if body[before] == ',' {
		m.Start = before
		return m
	}
	if next := span.SkipSpace(body, v.End); next < len(body) && body[next] == ',' { // it is the first member
		m.End = span.SkipSpace(body, next+1)
	}
	return m
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// Mark puts a mark on a message with a text, or on a block behind others. A text within a string has no place for one.
func (Dialect) Mark(said []byte, mark string) (marked []byte, ok bool) {
	if mark == "" {
		return said, false
	}
	mark = `,"` + marker + `":` + mark + `}`
	switch {
	case bytes.HasPrefix(said, []byte(`,{`)):
		return append(bytes.Clone(said[:len(said)-1]), mark...), true
	case bytes.HasPrefix(said, []byte(`{`)):
		o, err := span.ObjectAt(said, 0)
		if err != nil {
			return said, false
		}
		content := o.Value("content").Of(said)
		if len(content) == 0 || content[0] != '"' {
			return said, false
		}
		o.Set("content", `[{"type":"text","text":`+string(content)+mark+`]`)
		if marked, err = span.Splice(said, o.Edits()); err != nil {
			return said, false
		}
		return marked, true
	}
	return said, false
}

// Marks counts those of tools, of the system's text, and the one by which the provider marks the end by itself.
func (Dialect) Marks(r *conversation.Request) (outside, most int) {
	o, err := span.ObjectAt(r.Body, span.SkipSpace(r.Body, 0))
	if err != nil {
		return mostMarks, mostMarks
	}
	all := marks{}
	for _, list := range [...]span.Span{r.Tools, r.Instructions} {
		if err := all.add(r.Body, list, true); err != nil {
			return mostMarks, mostMarks
		}
	}
	if !span.UnlessNull(r.Body, o.Value(marker)).Empty() {
		all.count++
	}
	return all.count, mostMarks
}
