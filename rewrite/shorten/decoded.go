package shorten

import (
	"bytes"
	"strings"

	"epitome/rewrite/span"
)

// mostNested is how many levels of JSON in strings of JSON are read.
const mostNested = 4

// Decoded returns a text with what strings of JSON in it say, in place of how they are written: where all of it is
// JSON, or what an object or list in one of its lines is. What is no JSON stays as it is.
func Decoded(text string) string { return decoded(text, mostNested) }

func decoded(text string, levels int) string {
	if levels == 0 || strings.IndexByte(text, '\\') < 0 {
		return text
	}
	if body := []byte(text); beginsJSON(body, `{["`) && span.Valid(body) {
		return string(appendDecoded(nil, body, levels))
	}
	var out []byte
	for line := range strings.Lines(text) {
		out = appendLine(out, []byte(line), levels)
	}
	return string(out)
}

// beginsJSON reports whether a value of one of these kinds may begin here.
func beginsJSON(body []byte, kinds string) bool {
	i := span.SkipSpace(body, 0)
	return i < len(body) && strings.IndexByte(kinds, body[i]) >= 0
}

// appendLine appends a line with the objects and lists in it decoded.
func appendLine(out, line []byte, levels int) []byte {
	const most = 4 // places that are tried
	for tries := 0; tries < most; tries++ {
		i := bytes.IndexAny(line, "{[")
		if i < 0 || bytes.IndexByte(line[i:], '\\') < 0 {
			break
		}
		end, err := span.EndOfValue(line, i)
		if err != nil || !span.Valid(line[i:end]) {
			out, line = append(out, line[:i+1]...), line[i+1:]
			continue
		}
		out = appendDecoded(append(out, line[:i]...), line[i:end], levels)
		line = line[end:]
	}
	return append(out, line...)
}

// appendDecoded appends valid JSON with what its strings say.
func appendDecoded(out, body []byte, levels int) []byte {
	for i := 0; i < len(body); {
		if body[i] != '"' {
			out = append(out, body[i])
			i++
			continue
		}
		end, err := span.EndOfString(body, i)
		if err != nil {
			return append(out, body[i:]...)
		}
		out = append(out, '"')
		out = append(out, decoded(string(span.TextOf(body[i:end])), levels-1)...)
		out = append(out, '"')
		i = end
	}
	return out
}
