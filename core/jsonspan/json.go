// Package jsonspan finds and edits values in JSON as runs of bytes.
//
// It promises that each byte is looked at once, that nesting is bounded, and that an object with a key twice or a key
// with escapes is an error: readers differ in what they make of those. It does not validate what lies between the
// values it finds; Valid does.
package jsonspan

import (
	"bytes"
	"errors"
	"unsafe"

	"github.com/tidwall/gjson"
)

// Span is a run of bytes of a body, which it does not keep.
type Span struct{ Start, End int }

// Of returns the span's bytes in body, which it does not copy.
func (s Span) Of(body []byte) []byte { return body[s.Start:s.End] }

// Empty reports whether there is nothing in the span, as for a key that is not there.
func (s Span) Empty() bool { return s.Start == s.End }

// The ways in which a text is no JSON as far as it was looked at. Spans are found without validating what lies
// between them: whoever is to edit a body validates the whole of it first.
var (
	ErrNoJSON   = errors.New("the body is not JSON")
	errTooDeep  = errors.New("the body is nested too deeply")
	errEscaped  = errors.New("a key is written with escapes")
	errRepeated = errors.New("a key stands twice in one object")
	errNoObject = errors.New("the body is no JSON object")
)

// deepest is the nesting at which standard decoders give up too.
const deepest = 10_000

// SkipSpace returns the index of the first byte at or behind b[i] that is no white space; len(b) if there is none.
func SkipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// EndOfString returns the index behind the string that begins at b[i].
func EndOfString(b []byte, i int) (int, error) {
	const near = 16 // bytes: about what keys and short values have, for which calling a search takes longer
	for i++; i < len(b); i++ {
		for end := min(i+near, len(b)); i < end; i++ {
			switch b[i] {
			case '"':
				return i + 1, nil
			case '\\':
				i++
			}
		}
		if i >= len(b) {
			break
		}
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			break
		}
		start := i
		i += n
		escapes := i
		for escapes > start && b[escapes-1] == '\\' {
			escapes--
		}
		if (i-escapes)%2 == 0 {
			return i + 1, nil
		}
	}
	return 0, ErrNoJSON
}

// EndOfValue returns the index behind the value that begins at b[i].
func EndOfValue(b []byte, i int) (int, error) {
	if i >= len(b) {
		return 0, ErrNoJSON
	}
	switch b[i] {
	case '"':
		return EndOfString(b, i)
	case '{', '[':
		return endOfNested(b, i)
	case '}', ']', ':', ',':
		return 0, ErrNoJSON
	}
	start := i
	for i < len(b) && bytes.IndexByte([]byte(" \n\t\r,]}"), b[i]) < 0 {
		i++
	}
	if start == i {
		return 0, ErrNoJSON
	}
	return i, nil
}

// endOfNested returns the index behind the object or array that begins at b[i].
func endOfNested(b []byte, i int) (end int, err error) {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			if i, err = EndOfString(b, i); err != nil {
				return 0, err
			}
			continue
		case '{', '[':
			if depth++; depth > deepest {
				return 0, errTooDeep
			}
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1, nil
			}
		}
		i++
	}
	return 0, ErrNoJSON
}

// Valid reports whether b is one JSON value and nothing else. The validator itself would follow any depth on its stack.
func Valid(b []byte) bool {
	if i := SkipSpace(b, 0); i < len(b) && (b[i] == '{' || b[i] == '[') {
		if _, err := endOfNested(b, i); err != nil {
			return false
		}
	}
	return gjson.ValidBytes(b)
}

// Parse returns the object or array at v for gjson. It shares the bytes of body, and its indexes are those of body.
func Parse(body []byte, v Span) gjson.Result {
	raw := v.Of(body)
	r := gjson.Parse(unsafe.String(unsafe.SliceData(raw), len(raw)))
	r.Index = v.Start
	return r
}

// SpanOf returns the place of a value that gjson found; empty if it found none.
func SpanOf(v gjson.Result) Span {
	if !v.Exists() {
		return Span{}
	}
	return Span{Start: v.Index, End: v.Index + len(v.Raw)}
}

// reader takes the value that begins at body[i] and returns the index behind it.
type reader func(i int) (end int, err error)

// Members gives f each key of the object that begins at body[i], without its quotes, with the place of its value, and
// returns the object's end. A key with escapes or one that stands there twice is an error: readers differ in what they
// make of those.
func Members(body []byte, i int, f func(key []byte, i int) (end int, err error)) (int, error) {
	var seen keys
	return Entries(body, i, func(key []byte, i int) (int, error) {
		if err := seen.add(key); err != nil {
			return 0, err
		}
		return f(key, i)
	})
}

// Entries is Members with all keys as they are written: those with escapes, and those that stand there twice.
func Entries(body []byte, i int, f func(key []byte, i int) (end int, err error)) (int, error) {
	return Walk(body, i, '{', func(i int) (int, error) {
		if body[i] != '"' {
			return 0, ErrNoJSON
		}
		end, err := EndOfString(body, i)
		if err != nil {
			return 0, err
		}
		name := body[i+1 : end-1]
		if i = SkipSpace(body, end); i >= len(body) || body[i] != ':' {
			return 0, ErrNoJSON
		}
		if i = SkipSpace(body, i+1); i >= len(body) {
			return 0, ErrNoJSON
		}
		return f(name, i)
	})
}

// Document gives f each key of the one object that the body is, as Members does.
func Document(body []byte, f func(key []byte, i int) (end int, err error)) error {
	start := SkipSpace(body, 0)
	if start >= len(body) {
		return ErrNoJSON
	}
	if err := Want(body, start, '{', errNoObject); err != nil {
		return err
	}
	end, err := Members(body, start, f)
	if err == nil && SkipSpace(body, end) != len(body) {
		err = ErrNoJSON
	}
	return err
}

// Want is nil if the value at body[i] begins with first. Otherwise it says what the value is not: no JSON, or else what
// fails says.
func Want(body []byte, i int, first byte, fails error) error {
	if i < len(body) && body[i] == first {
		return nil
	}
	if _, err := EndOfValue(body, i); err != nil {
		return err
	}
	return fails
}

// UnlessNull is v, or nothing if it is null.
func UnlessNull(body []byte, v Span) Span {
	if string(v.Of(body)) == "null" {
		return Span{}
	}
	return v
}

// HasElements reports whether a value is a list with something in it.
func HasElements(body []byte, v Span) bool {
	return !v.Empty() && body[v.Start] == '[' && SkipSpace(body, v.Start+1) != v.End-1
}

// Elements gives f the place of each value of the array that begins at body[i], and returns the array's end.
func Elements(body []byte, i int, f reader) (int, error) { return Walk(body, i, '[', f) }

// ElementsFrom does the same from the middle of an array: body[i] begins a value, or is right behind the bracket.
func ElementsFrom(body []byte, i int, f reader) (int, error) { return walkFrom(body, i, ']', f) }

// Walk steps over the brackets and commas of an object or array. Everything is looked at once.
func Walk(body []byte, i int, open byte, f reader) (end int, err error) {
	if body[i] != open {
		return 0, ErrNoJSON
	}
	return walkFrom(body, i+1, open+2, f) // ] is [ + 2, and } is { + 2
}

func walkFrom(body []byte, i int, shut byte, f reader) (end int, err error) {
	i = SkipSpace(body, i)
	if i < len(body) && body[i] == shut {
		return i + 1, nil
	}
	for i < len(body) {
		if i, err = f(i); err != nil {
			return 0, err
		}
		i = SkipSpace(body, i)
		switch {
		case i >= len(body):
		case body[i] == shut:
			return i + 1, nil
		case body[i] != ',':
			return 0, ErrNoJSON
		default:
			i = SkipSpace(body, i+1)
		}
	}
	return 0, ErrNoJSON
}

// keys are the names that an object has had so far.
type keys struct {
	few  [12][]byte // most objects have no more
	n    int
	many map[string]bool
}

func (k *keys) add(name []byte) error {
	if bytes.IndexByte(name, '\\') >= 0 {
		return errEscaped
	}
	for _, old := range k.few[:min(k.n, len(k.few))] {
		if bytes.Equal(old, name) {
			return errRepeated
		}
	}
	if k.n < len(k.few) {
		k.few[k.n] = name
		k.n++
		return nil
	}
	if k.many == nil {
		k.many = make(map[string]bool)
	}
	if k.many[string(name)] {
		return errRepeated
	}
	k.many[string(name)] = true
	return nil
}

// Each gives f the place of each value of a run of values with commas between them.
func Each(body []byte, run Span, f func(i int) (end int, err error)) error {
	for i := run.Start; i < run.End; {
		end, err := f(i)
		if err != nil {
			return err
		}
		if i = SkipSpace(body, end); i < run.End && body[i] != ',' {
			return ErrNoJSON
		}
		i = SkipSpace(body, i+1)
	}
	return nil
}
