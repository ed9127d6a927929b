package jsonspan

import (
	"bytes"
	"encoding/json"
	"strings"
)

// LastMember returns the last value under key in tail that fits. tail is the end of a JSON text, or a text with JSON
// in it. Only the last few places where the key stands are looked at; the span is empty if nothing fits.
func LastMember(tail []byte, key string, fits func(v Span) bool) Span {
	const tries = 4
	name, at := AppendQuoted(nil, key), len(tail)
	for range tries {
		if at = bytes.LastIndex(tail[:at], name); at < 0 {
			break
		}
		i := SkipSpace(tail, at+len(name))
		if i >= len(tail) || tail[i] != ':' {
			continue
		}
		i = SkipSpace(tail, i+1)
		if end, err := EndOfValue(tail, i); err == nil && fits(Span{Start: i, End: end}) {
			return Span{Start: i, End: end}
		}
	}
	return Span{}
}

// Closes reports whether the text behind a value closes that many nested objects and says nothing else.
func Closes(rest []byte, objects int) bool {
	return json.Valid(append([]byte(strings.Repeat(`{"":`, objects)+"0"), rest...))
}
