package reply

import (
	"bytes"
	"slices"

	"epitome/rewrite/jsonspan"
)

// LastMember returns the last value under key in tail that fits. tail is the end of a JSON text, or a text with JSON
// in it. Only the last few places where the key stands are looked at; the span is empty if nothing fits.
func LastMember(tail []byte, key string, fits func(v jsonspan.Span) bool) jsonspan.Span {
	const tries = 4
	name, at := jsonspan.AppendQuoted(nil, key), len(tail)
	for range tries {
		if at = bytes.LastIndex(tail[:at], name); at < 0 {
			break
		}
		i := jsonspan.SkipSpace(tail, at+len(name))
		if i >= len(tail) || tail[i] != ':' {
			continue
		}
		i = jsonspan.SkipSpace(tail, i+1)
		if end, err := jsonspan.EndOfValue(tail, i); err == nil && fits(jsonspan.Span{Start: i, End: end}) {
			return jsonspan.Span{Start: i, End: end}
		}
	}
	return jsonspan.Span{}
}

// Closes reports whether the text behind a value closes that many nested objects and says nothing else.
func Closes(rest []byte, objects int) bool {
	return jsonspan.Valid(slices.Concat(bytes.Repeat([]byte(`{"":`), objects), []byte("0"), rest))
}
