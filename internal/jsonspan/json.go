// Package jsonspan finds and edits values in JSON as byte ranges, so that all bytes outside of an edit stay the same.
//
// Nesting is bounded. An object with a repeated key, or with escapes in a key, is an error, because JSON parsers differ
// in how they read it. Finding a value does not validate it: a body must pass Valid before it is sent with edits.
// A callback f is called with the index at which a value begins, and returns the index behind the value.
package jsonspan

import (
	"bytes"
	"errors"
	"slices"

	"github.com/tidwall/gjson"
)

// Span is the bytes [Start, End) of a body, usually of one JSON value. It holds no reference to the body.
type Span struct{ Start, End int }

// Of returns the span's bytes without copying them.
func (s Span) Of(body []byte) []byte { return body[s.Start:s.End] }

// Len returns the number of the span's bytes.
func (s Span) Len() int { return s.End - s.Start }

// Empty reports whether the span has no bytes. An empty span stands for a value that does not exist.
func (s Span) Empty() bool { return s.Start == s.End }

var (
	ErrNoJSON   = errors.New("the body is not JSON")
	errTooDeep  = errors.New("the body is nested too deeply")
	errEscaped  = errors.New("a key is written with escapes")
	errRepeated = errors.New("a key stands twice in one object")
	errNoObject = errors.New("it is not a JSON object")
)

// maxDepth bounds how deeply arrays and objects are nested. encoding/json has the same limit.
const maxDepth = 10_000

// skipSpace returns the first index from i on at which b has no white space; len(b) if there is none.
func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// EndOfString returns the index behind the string whose opening quote is b[i].
func EndOfString(b []byte, i int) (int, error) {
	for i++; ; i++ {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return 0, ErrNoJSON
		}
		i += n
		firstBackslash := i               // of those right before the quote at b[i]; i if there is none
		for b[firstBackslash-1] == '\\' { // at the latest the opening quote ends the loop
			firstBackslash--
		}
		if (i-firstBackslash)%2 == 0 { // in pairs they escape each other, not the quote
			return i + 1, nil
		}
	}
}

// EndOfValue returns the index behind the value that begins at b[i]. It counts brackets but does not check their kinds.
func EndOfValue(b []byte, i int) (end int, err error) { return endOfValue(b, i, maxDepth) }

// IsFlat reports whether arrays and objects of the JSON text b are nested at most maxLevels deep.
func IsFlat(b []byte, maxLevels int) bool {
	_, err := endOfValue(b, skipSpace(b, 0), maxLevels)
	return err == nil
}

func endOfValue(b []byte, i, maxLevels int) (end int, err error) {
	if i < len(b) && b[i] != '"' && b[i] != '{' && b[i] != '[' { // a number, true, false or null
		n := bytes.IndexAny(b[i:], " \n\t\r,:]}")
		if n == 0 { // no value, but a comma or a closing bracket
			return 0, ErrNoJSON
		}
		if n < 0 { // the value ends the text
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
			i-- // the closing quote, which is skipped below
		case '{', '[':
			depth++
			if depth > maxLevels {
				return 0, errTooDeep
			}
		case '}', ']':
			depth--
		}
		i++
		if depth == 0 { // a string has ended that is the value itself, or its last bracket has closed
			return i, nil
		}
	}
	return 0, ErrNoJSON
}

// Commas returns how many commas b has outside of strings: about as many as it has values.
func Commas(b []byte) (n int) {
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case ',':
			n++
		case '"':
			end, err := EndOfString(b, i)
			if err != nil {
				return n
			}
			i = end - 1
		}
	}
	return n
}

// Valid reports whether b is one valid JSON value. It checks the nesting first, because gjson's validator is recursive
// and has no limit: a deep value could exhaust the stack.
func Valid(b []byte) bool {
	_, err := EndOfValue(b, skipSpace(b, 0))
	return err == nil && gjson.ValidBytes(b)
}

// members calls f for each member of the object that begins at body[start]: with its key, whose span leaves out the
// quotes, and the index of its value. It returns the index behind the object.
func members(body []byte, start int, f func(key Span, valueStart int) (valueEnd int, err error)) (end int, err error) {
	if start >= len(body) || body[start] != '{' {
		return 0, errNoObject
	}
	keys := make([][]byte, 0, 12) // room for those of most objects
	end, err = walk(body, start+1, '}', func(keyStart int) (valueEnd int, err error) {
		if body[keyStart] != '"' {
			return 0, ErrNoJSON
		}
		keyEnd, err := EndOfString(body, keyStart)
		if err != nil {
			return 0, err
		}
		key := Span{Start: keyStart + 1, End: keyEnd - 1}
		if bytes.IndexByte(key.Of(body), '\\') >= 0 {
			return 0, errEscaped
		}
		keys = append(keys, key.Of(body))
		colon := skipSpace(body, keyEnd)
		valueStart := skipSpace(body, colon+1)
		if valueStart >= len(body) || body[colon] != ':' {
			return 0, ErrNoJSON
		}
		return f(key, valueStart)
	})
	slices.SortFunc(keys, bytes.Compare) // so that CompactFunc, which compares neighbours, takes out repeated keys
	if len(slices.CompactFunc(keys, bytes.Equal)) < len(keys) {
		return 0, errRepeated
	}
	return end, err
}

// Document calls f for each member of body, which must be one object, with its key without the quotes.
func Document(body []byte, f func(key []byte, valueStart int) (valueEnd int, err error)) error {
	end, err := members(body, skipSpace(body, 0), func(k Span, start int) (int, error) { return f(k.Of(body), start) })
	if err == nil && skipSpace(body, end) != len(body) {
		err = ErrNoJSON
	}
	return err
}

// Objects calls f for each object of an array and returns the index behind the array. body[i] begins an object, or is
// right behind the opening bracket. An element that is no object is an error.
func Objects(body []byte, i int, f func(o *Object) error) (end int, err error) {
	return walk(body, i, ']', func(start int) (end int, err error) {
		o, err := ObjectAt(body, start)
		if err == nil {
			err = f(o)
		}
		return o.End, err
	})
}

// walk calls f for each element or member from body[i] on, up to the closing bracket of their array or object, and
// returns the index behind this bracket. f returns the index behind the element or member that begins at start.
func walk(body []byte, i int, closing byte, f func(start int) (end int, err error)) (end int, err error) {
	i = skipSpace(body, i)
	if i < len(body) && body[i] == closing {
		return i + 1, nil
	}
	for i < len(body) {
		if i, err = f(i); err != nil {
			return 0, err
		}
		i = skipSpace(body, i)
		switch {
		case i >= len(body): // the bracket is missing, and the loop ends
		case body[i] == closing:
			return i + 1, nil
		case body[i] != ',':
			return 0, ErrNoJSON
		default:
			i = skipSpace(body, i+1)
		}
	}
	return 0, ErrNoJSON
}

// IsText reports whether v is a string.
func IsText(body []byte, v Span) bool { return !v.Empty() && body[v.Start] == '"' }

// HasElements reports whether v is an array with at least one element.
func HasElements(body []byte, v Span) bool {
	return !v.Empty() && body[v.Start] == '[' && skipSpace(body, v.Start+1) != v.End-1 // not the closing bracket
}

// Object is a JSON object whose values are found by their keys. In represents a missing object as one without keys.
type Object struct {
	Span
	body    []byte
	members []member
}

type member struct{ key, value Span } // the key without its quotes

// ObjectAt reads the object that begins at body[start]. It finds the values and does not validate them.
func ObjectAt(body []byte, start int) (o *Object, err error) {
	o = &Object{Span: Span{Start: start}, body: body, members: make([]member, 0, 8)} // room for those of most objects
	o.End, err = members(body, start, func(key Span, valueStart int) (valueEnd int, err error) {
		valueEnd, err = EndOfValue(body, valueStart)
		o.members = append(o.members, member{key: key, value: Span{Start: valueStart, End: valueEnd}})
		return valueEnd, err
	})
	return o, err
}

func (o *Object) member(key string) member {
	for _, m := range o.members {
		if string(m.key.Of(o.body)) == key {
			return m
		}
	}
	return member{}
}

// HasOther reports whether the object has a key that is none of some.
func (o *Object) HasOther(keys []string) bool {
	return slices.ContainsFunc(o.members, func(m member) bool { return !slices.Contains(keys, string(m.key.Of(o.body))) })
}

// Value returns the value of a key; an empty span if the object has no such key.
func (o *Object) Value(key string) Span { return o.member(key).value }

// Member returns the span to cut out so that the object loses a key, which it must have: key, value and one comma.
func (o *Object) Member(key string) Span {
	m := o.member(key)
	return TakeOut(o.body, Span{Start: m.key.Start - 1, End: m.value.End})[0].Span // with the key's opening quote
}

// Find returns the value of the first key that exists with a value other than null; an empty span if there is none.
func (o *Object) Find(keys ...string) Span {
	for _, key := range keys {
		v := o.Value(key)
		if !v.Empty() && string(v.Of(o.body)) != "null" {
			return v
		}
	}
	return Span{}
}

// Raw returns the JSON source of a key's value.
func (o *Object) Raw(key string) string { return string(o.Value(key).Of(o.body)) }

// Text returns the text of a key's value; "" if the value is no string. Unlike TextOf it keeps invalid UTF-8.
func (o *Object) Text(key string) string { return gjson.ParseBytes(o.Value(key).Of(o.body)).Str }

// In returns the object that is a key's value; an object without keys if the value is missing or no object.
func (o *Object) In(key string) *Object {
	if v := o.Value(key); !v.Empty() {
		if in, err := ObjectAt(o.body, v.Start); err == nil {
			return in
		}
	}
	return &Object{}
}
