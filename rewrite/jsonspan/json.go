// Package jsonspan finds and edits values in JSON as runs of bytes.
//
// It promises that each byte is looked at once, that nesting is bounded, and that an object with a key twice or a key
// with escapes is an error: readers differ in what they make of those. It does not validate what lies between the
// values it finds; Valid does. Whoever edits a body validates the whole of it first.
package jsonspan

import (
	"bytes"
	"errors"
	"slices"

	"github.com/tidwall/gjson"
)

// Span is a run of bytes of a body, which it does not keep.
type Span struct{ Start, End int }

// Of returns the span's bytes in body, which it does not copy.
func (s Span) Of(body []byte) []byte { return body[s.Start:s.End] }

// Empty reports whether there is nothing in the span, as for a key that is not there.
func (s Span) Empty() bool { return s.Start == s.End }

var (
	ErrNoJSON   = errors.New("the body is not JSON") // as far as it was looked at
	errTooDeep  = errors.New("the body is nested too deeply")
	errEscaped  = errors.New("a key is written with escapes")
	errRepeated = errors.New("a key stands twice in one object")
	errNoObject = errors.New("it is not a JSON object")
)

// maxDepth is the nesting at which standard decoders give up too.
const maxDepth = 10_000

// SkipSpace returns the index of the first byte at or behind b[i] that is no white space; len(b) if there is none.
func SkipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// EndOfString returns the index behind the string that begins at b[i].
func EndOfString(b []byte, i int) (int, error) {
	for i++; ; i++ {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return 0, ErrNoJSON
		}
		i += n
		backslashes := i
		for b[backslashes-1] == '\\' {
			backslashes--
		}
		if (i-backslashes)%2 == 0 {
			return i + 1, nil
		}
	}
}

// EndOfValue returns the index behind the value that begins at b[i].
func EndOfValue(b []byte, i int) (end int, err error) { return endOfValue(b, i, maxDepth) }

// IsFlat reports whether values of b are nested at most depth times.
func IsFlat(b []byte, depth int) bool {
	_, err := endOfValue(b, SkipSpace(b, 0), depth)
	return err == nil
}

func endOfValue(b []byte, i, maxDepth int) (end int, err error) {
	if i < len(b) && b[i] != '"' && b[i] != '{' && b[i] != '[' {
		n := bytes.IndexAny(b[i:], " \n\t\r,:]}")
		if n == 0 {
			return 0, ErrNoJSON
		}
		if n < 0 {
			n = len(b) - i
		}
		return i + n, nil
	}
	for depth := 0; i < len(b); {
		switch b[i] {
		case '"':
			if i, err = EndOfString(b, i); err != nil {
				return 0, err
			}
			i-- // its last quote
		case '{', '[':
			if depth++; depth > maxDepth {
				return 0, errTooDeep
			}
		case '}', ']':
			depth--
		}
		if i++; depth == 0 {
			return i, nil
		}
	}
	return 0, ErrNoJSON
}

// Valid reports whether b is one JSON value and nothing else. The validator itself would follow any depth on its stack.
func Valid(b []byte) bool {
	_, err := EndOfValue(b, SkipSpace(b, 0))
	return err == nil && gjson.ValidBytes(b)
}

// members gives f each key of the object that begins at body[i], without its quotes, with the place of its value, and
// returns the object's end.
func members(body []byte, i int, f func(key Span, i int) (end int, err error)) (int, error) {
	if i >= len(body) || body[i] != '{' {
		return 0, errNoObject
	}
	names := make([][]byte, 0, 12) // most objects have no more
	end, err := walk(body, i+1, '}', func(i int) (int, error) {
		if body[i] != '"' {
			return 0, ErrNoJSON
		}
		end, err := EndOfString(body, i)
		if err != nil {
			return 0, err
		}
		key := Span{Start: i + 1, End: end - 1}
		if bytes.IndexByte(key.Of(body), '\\') >= 0 {
			return 0, errEscaped
		}
		names = append(names, key.Of(body))
		if i = SkipSpace(body, end); i >= len(body) || body[i] != ':' {
			return 0, ErrNoJSON
		}
		if i = SkipSpace(body, i+1); i >= len(body) {
			return 0, ErrNoJSON
		}
		return f(key, i)
	})
	slices.SortFunc(names, bytes.Compare)
	if len(slices.CompactFunc(names, bytes.Equal)) < len(names) {
		return 0, errRepeated
	}
	return end, err
}

// Document gives f each key of the one object that the body is, without its quotes, with the place of its value; f
// returns where that ends.
func Document(body []byte, f func(key []byte, i int) (end int, err error)) error {
	end, err := members(body, SkipSpace(body, 0), func(key Span, i int) (int, error) { return f(key.Of(body), i) })
	if err == nil && SkipSpace(body, end) != len(body) {
		err = ErrNoJSON
	}
	return err
}

// Elements gives f the place of each value of the array that begins at body[i], and returns the array's end.
func Elements(body []byte, i int, f func(i int) (end int, err error)) (int, error) {
	if i >= len(body) || body[i] != '[' {
		return 0, ErrNoJSON
	}
	return ElementsFrom(body, i+1, f)
}

// ElementsFrom does the same from the middle of an array: body[i] begins a value, or is right behind the bracket.
func ElementsFrom(body []byte, i int, f func(i int) (end int, err error)) (int, error) {
	return walk(body, i, ']', f)
}

// walk gives f the place of whatever stands between commas from body[i] on, up to the bracket that closes, and returns
// the index behind that.
func walk(body []byte, i int, closing byte, f func(i int) (end int, err error)) (end int, err error) {
	i = SkipSpace(body, i)
	if i < len(body) && body[i] == closing {
		return i + 1, nil
	}
	for i < len(body) {
		if i, err = f(i); err != nil {
			return 0, err
		}
		i = SkipSpace(body, i)
		switch {
		case i >= len(body):
		case body[i] == closing:
			return i + 1, nil
		case body[i] != ',':
			return 0, ErrNoJSON
		default:
			i = SkipSpace(body, i+1)
		}
	}
	return 0, ErrNoJSON
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
