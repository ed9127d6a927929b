package jsonspan

import (
	"cmp"
	"fmt"
	"slices"
)

// Edit puts other bytes in the place of a span.
type Edit struct {
	Span
	With []byte
}

// Splice makes a body with all edits done, in one pass; what no edit covers is copied as it is. Edits are sorted in
// place and must not overlap; of those at one place, an insertion comes first. The result is a slice of its own.
func Splice(body []byte, edits []Edit) ([]byte, error) {
	slices.SortStableFunc(edits, func(a, b Edit) int { return cmp.Or(a.Start-b.Start, a.End-b.End) })
	size, at := len(body), 0
	for _, e := range edits {
		if e.Start < at || e.End < e.Start || e.End > len(body) {
			return nil, fmt.Errorf("cannot splice bytes %d to %d: edits overlap, or lie outside of the body", e.Start, e.End)
		}
		size += len(e.With) - (e.End - e.Start)
		at = e.End
	}
	out := make([]byte, 0, size)
	at = 0
	for _, e := range edits {
		out = append(append(out, body[at:e.Start]...), e.With...)
		at = e.End
	}
	return append(out, body[at:]...), nil
}

// AddElement is what puts a value behind all others of a list.
func AddElement(body []byte, list Span, value []byte) Edit {
	at := list.End - 1
	if HasElements(body, list) {
		value = append([]byte{','}, value...)
	}
	return Edit{Span: Span{Start: at, End: at}, With: value}
}

// AddTo is what puts text behind all that a content says: at the end of its string, or as one more part of its list. It
// is false for what is neither, or empty.
func AddTo(body []byte, content Span, text string, part []byte) (e Edit, ok bool) {
	switch {
	case content.Empty():
		return e, false
	case body[content.Start] == '"':
		at, with := content.End-1, AppendQuoted(nil, text)
		return Edit{Span: Span{Start: at, End: at}, With: with[1 : len(with)-1]}, true
	case HasElements(body, content):
		return AddElement(body, content, part), true
	}
	return e, false
}
