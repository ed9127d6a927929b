package jsonspan

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/tidwall/sjson"
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

// Set returns an object with a value, which is JSON, under a path of sjson. All else stays as it is, but for white
// space around it.
func Set(object []byte, path, value string) []byte {
	changed, err := sjson.SetRawBytes(object, path, []byte(value))
	if err != nil {
		return object // nothing can stand there
	}
	return changed
}

// Delete returns an object without what stands under some paths of sjson. All else stays as it is.
func Delete(object []byte, paths ...string) []byte {
	for _, path := range paths {
		if changed, err := sjson.DeleteBytes(object, path); err == nil {
			object = changed
		}
	}
	return object
}

// TakeOut returns the edits that take elements or members out, each with one comma. Spans are in order.
func TakeOut(body []byte, spans ...Span) (edits []Edit) {
	for _, s := range spans {
		if n := len(edits); n > 0 && edits[n-1].End == s.Start { // one run of elements
			s.Start = edits[n-1].Start
			edits = edits[:n-1]
		}
		if next := SkipSpace(body, s.End); body[next] == ',' {
			s.End = SkipSpace(body, next+1)
		} else { // the last one: the comma before it goes
			s.Start = len(bytes.TrimRight(body[:s.Start], " \t\r\n,"))
		}
		edits = append(edits, Edit{Span: s})
	}
	return edits
}

// Insert is what puts text at a place.
func Insert(at int, text string) Edit {
	return Edit{Span: Span{Start: at, End: at}, With: []byte(text)}
}

// AddTo is what puts text behind all that a content says: at the end of its string, or as one more part of its list. It
// is false for what is neither, or empty.
func AddTo(body []byte, content Span, text string, part []byte) (e Edit, ok bool) {
	switch {
	case content.Empty():
	case body[content.Start] == '"':
		quoted := Quoted(text)
		return Insert(content.End-1, quoted[1:len(quoted)-1]), true
	case HasElements(body, content):
		return Insert(content.End-1, ","+string(part)), true
	}
	return e, false
}
