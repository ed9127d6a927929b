package span

import (
	"bytes"
	"encoding/json"
	"strings"
)

// LastMember is the last value under a key in tail, which is the end of a JSON text, or a text with more around it: of
// the last few that stand under the key, the last one that fits. It is empty if none does.
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

// Closes reports whether what stands behind a value is the rest of so many objects, one in the other, and nothing else.
func Closes(rest []byte, objects int) bool {
	return json.Valid(append([]byte(strings.Repeat(`{"":`, objects)+"0"), rest...))
}
