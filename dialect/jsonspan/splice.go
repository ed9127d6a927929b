package jsonspan

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/tidwall/sjson"
)

// Edit replaces the bytes of a span by With. An empty span makes it an insertion, an empty With a deletion.
type Edit struct {
	Span
	With []byte
}

// Splice returns a copy of body with all edits made. Bytes outside of the edits stay the same. Edits must not overlap;
// Splice sorts the slice given. Of edits with the same start, insertions come first, in the order given. memory returns
// empty memory for the copy; nil: Go's own.
func Splice(body []byte, edits []Edit, memory func(bytes int) []byte) ([]byte, error) {
	slices.SortStableFunc(edits, func(a, b Edit) int { return cmp.Or(a.Start-b.Start, a.End-b.End) })
	size := len(body)
	at := 0 // behind the last edit
	for _, e := range edits {
		if e.Start < at || e.End < e.Start || e.End > len(body) {
			return nil, fmt.Errorf("cannot splice bytes %d to %d: edits overlap, or lie outside of the body", e.Start, e.End)
		}
		size += len(e.With) - e.Len()
		at = e.End
	}
	var out []byte
	if memory == nil {
		out = make([]byte, 0, size)
	} else {
		out = memory(size)
	}
	at = 0
	for _, e := range edits {
		out = append(append(out, body[at:e.Start]...), e.With...)
		at = e.End
	}
	return append(out, body[at:]...), nil
}

// Set returns object with value, which is JSON, at a path in sjson's syntax. All else stays as it is, except white
// space next to the value.
func Set(object []byte, path, value string) []byte {
	changed, err := sjson.SetRawBytes(object, path, []byte(value))
	if err != nil {
		return object // unchanged: the path leads through an array or is invalid
	}
	return changed
}

// Delete returns object without the values at paths in sjson's syntax. Paths that do not exist are ignored.
func Delete(object []byte, paths ...string) []byte {
	for _, path := range paths {
		if changed, err := sjson.DeleteBytes(object, path); err == nil {
			object = changed
		}
	}
	return object
}

// TakeOut returns the edits that remove array elements or object members, with one comma each. spans are in order.
func TakeOut(body []byte, spans ...Span) (edits []Edit) {
	for _, s := range spans {
		n := len(edits)
		if n > 0 && edits[n-1].End == s.Start { // joined: if both end the list, the comma before both goes
			s.Start = edits[n-1].Start
			edits = edits[:n-1]
		}
		next := SkipSpace(body, s.End)
		if body[next] == ',' { // else it is the closing bracket
			s.End = SkipSpace(body, next+1)
		} else { // the last element or member: the comma before it must go
			s.Start = len(bytes.TrimRight(body[:s.Start], " \t\r\n,"))
		}
		edits = append(edits, Edit{Span: s})
	}
	return edits
}

func Insert(at int, text string) Edit {
	return Edit{Span: Span{Start: at, End: at}, With: []byte(text)}
}

// AddTo returns the edit that adds a text to the end of a message's content: text itself to a string, or part, the JSON
// of a part with this text, to a list. ok is false if content is neither a string nor a list with elements.
func AddTo(body []byte, content Span, text string, part []byte) (e Edit, ok bool) {
	if IsText(body, content) {
		quoted := Quoted(text)
		return Insert(content.End-1, quoted[1:len(quoted)-1]), true // before the closing quote
	}
	if HasElements(body, content) {
		return Insert(content.End-1, ","+string(part)), true
	}
	return e, false
}
