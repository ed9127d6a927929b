package fakeapi

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// The functions of this file take JSON that is known to be valid, so that a body is checked once and its parts are
// only cut out.

// CutObject returns the fields of an object; false if raw is none. Of fields with one name the last counts.
func CutObject(raw []byte) (Object, bool) {
	parsed := gjson.ParseBytes(raw)
	o := Object{}
	if !parsed.IsObject() {
		return o, false
	}
	parsed.ForEach(func(name, part gjson.Result) bool {
		o[textOf([]byte(name.Raw))] = raw[part.Index : part.Index+len(part.Raw)]
		return true
	})
	return o, true
}

// CutList returns the elements of a list, each as it stands; false if raw is none.
func CutList(raw json.RawMessage) ([]json.RawMessage, bool) {
	parsed := gjson.ParseBytes(raw)
	if !parsed.IsArray() {
		return nil, false
	}
	list := []json.RawMessage{}
	parsed.ForEach(func(_, part gjson.Result) bool {
		list = append(list, raw[part.Index:part.Index+len(part.Raw)])
		return true
	})
	return list, true
}

// textOf is what a JSON string says.
func textOf(raw []byte) string {
	if bare := raw[1 : len(raw)-1]; utf8.Valid(bare) && !bytes.Contains(bare, []byte(`\`)) {
		return string(bare)
	}
	var text string
	_ = json.Unmarshal(raw, &text) // it is known to be valid
	return text
}

// appendCanon appends the one form that all equal values have: no blanks, keys sorted, no escape that need not be.
func appendCanon(dst, raw []byte) []byte {
	switch raw[0] {
	case '"':
		return appendText(dst, textOf(raw))
	case '[':
		parts, _ := CutList(raw)
		return appendList(dst, parts)
	case '{':
		o, _ := CutObject(raw)
		return o.appendTo(dst, nil)
	}
	return appendNumber(dst, raw)
}

// appendNumber appends a number, or true, false or null. What a client reads and writes anew is the same: 1e2 is 100.
func appendNumber(dst, raw []byte) []byte {
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || !bytes.ContainsAny(raw, ".eE") {
		return append(dst, raw...)
	}
	if f == math.Trunc(f) && math.Abs(f) < 1e15 {
		return strconv.AppendInt(dst, int64(f), 10)
	}
	return strconv.AppendFloat(dst, f, 'g', -1, 64)
}

// appendText appends a string in quotation marks.
func appendText(dst []byte, text string) []byte {
	dst = append(dst, '"')
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < ' ':
			dst = append(dst, `\u00`...)
			dst = append(dst, "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15])
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}

func appendList(dst []byte, parts []json.RawMessage) []byte {
	dst = append(dst, '[')
	for i, part := range parts {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendCanon(dst, part)
	}
	return append(dst, ']')
}

// appendTo appends the object with its keys sorted. What canons has is written as it stands there.
func (o Object) appendTo(dst []byte, canons map[string][]byte) []byte {
	dst = append(dst, '{')
	for i, name := range slices.Sorted(maps.Keys(o)) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendText(dst, name), ':')
		if done, ok := canons[name]; ok {
			dst = append(dst, done...)
		} else {
			dst = appendCanon(dst, o[name])
		}
	}
	return append(dst, '}')
}

// Whole reads an integer.
func Whole(raw []byte) (int, bool) {
	f, err := strconv.ParseFloat(string(raw), 64)
	return int(f), err == nil && f == float64(int(f))
}
