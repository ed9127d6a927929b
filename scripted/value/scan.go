package value

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// The functions of this file take JSON that is known to be valid, so that a body is checked once and its parts are
// only cut out.

// blanks is where the first byte from i on is that is no blank.
func blanks(raw []byte, i int) int {
	for i < len(raw) && (raw[i] == ' ' || raw[i] == '\n' || raw[i] == '\t' || raw[i] == '\r') {
		i++
	}
	return i
}

// skip is where the value ends that begins at i.
func skip(raw []byte, i int) int {
	if raw[i] == '"' {
		return skipText(raw, i)
	}
	depth := 0
	for ; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			i = skipText(raw, i) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return i
			}
		}
		if depth < 0 {
			return i
		}
	}
	return i
}

// skipText is where the string ends that begins at i.
func skipText(raw []byte, i int) int {
	for end := i + 1; ; end++ {
		end += bytes.IndexByte(raw[end:], '"')
		slashes := 0
		for raw[end-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return end + 1
		}
	}
}

// cut returns the parts of an object or a list, each up to the comma or the colon behind it; false if raw is none.
func cut(raw []byte, open byte) ([][]byte, bool) {
	i := blanks(raw, 0)
	if i >= len(raw) || raw[i] != open {
		return nil, false
	}
	var all [][]byte
	for i = blanks(raw, i+1); raw[i] != '}' && raw[i] != ']'; {
		end := skip(raw, i)
		all = append(all, raw[i:end:end])
		if i = blanks(raw, end); raw[i] == ',' || raw[i] == ':' {
			i = blanks(raw, i+1)
		}
	}
	return all, true
}

// CutObject returns the fields of an object; false if raw is none. Of fields with one name the last counts.
func CutObject(raw []byte) (Object, bool) {
	parts, ok := cut(raw, '{')
	o := make(Object, len(parts)/2)
	for i := 0; i+1 < len(parts); i += 2 {
		o[unquote(parts[i])] = parts[i+1]
	}
	return o, ok
}

// unquote is what a JSON string says.
func unquote(raw []byte) string {
	bare := raw[1 : len(raw)-1]
	if !utf8.Valid(bare) {
		var s string
		_ = json.Unmarshal(raw, &s)
		return s
	}
	n := bytes.IndexByte(bare, '\\')
	if n < 0 {
		return string(bare)
	}
	s := make([]byte, 0, len(bare))
	for ; n >= 0; n = bytes.IndexByte(bare, '\\') {
		s, bare = unescape(append(s, bare[:n]...), bare[n:])
	}
	return string(append(s, bare...))
}

// unescape appends what the escape at the beginning of raw means, and returns what comes after it.
func unescape(dst, raw []byte) (text, rest []byte) {
	switch c := raw[1]; c {
	case 'b':
		return append(dst, '\b'), raw[2:]
	case 'f':
		return append(dst, '\f'), raw[2:]
	case 'n':
		return append(dst, '\n'), raw[2:]
	case 'r':
		return append(dst, '\r'), raw[2:]
	case 't':
		return append(dst, '\t'), raw[2:]
	case 'u':
	default:
		return append(dst, c), raw[2:]
	}
	r, rest := sixteen(raw[2:6]), raw[6:]
	if utf16.IsSurrogate(r) && len(rest) >= 6 && rest[0] == '\\' && rest[1] == 'u' {
		if both := utf16.DecodeRune(r, sixteen(rest[2:6])); both != utf8.RuneError {
			return utf8.AppendRune(dst, both), rest[6:]
		}
	}
	return utf8.AppendRune(dst, r), rest
}

// sixteen reads four digits.
func sixteen(digits []byte) rune {
	n, _ := strconv.ParseUint(string(digits), 16, 16)
	return rune(n)
}

// appendCanon appends the one form that all equal values have: no blanks, keys sorted, no escape that need not be.
func appendCanon(dst, raw []byte) []byte {
	switch raw[0] {
	case '"':
		return appendText(dst, unquote(raw))
	case '[':
		parts, _ := cut(raw, '[')
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

func appendList(dst []byte, parts [][]byte) []byte {
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
