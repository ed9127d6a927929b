package jsonspan

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// TextOf returns the text of a JSON string. Of a broken one it returns the bytes as they stand.
func TextOf(quoted []byte) []byte {
	if text, ok := unquoteSound(quoted); ok {
		return text
	}
	text, err := Unquote(quoted)
	if err != nil {
		return quoted
	}
	return []byte(text)
}

// Unquote returns the text of the JSON string b, which has its quotes. Texts are read many times while a request is
// shaped, so they are read here, several times as fast as by encoding/json. What is wrong with b is left to that.
func Unquote(b []byte) (string, error) {
	if text, ok := unquoteSound(b); ok {
		return unsafe.String(unsafe.SliceData(text), len(text)), nil // nobody else has it
	}
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return "", ErrNoJSON
	}
	return s, nil
}

// ContentOf returns what is kept of the JSON value v: the text of a string, and anything else as it is written. So is a
// string that its text would not show whole, as half a pair or what is no UTF-8 stands in it. The content is not to be
// changed.
func ContentOf(v []byte) []byte {
	if len(v) < 2 || v[0] != '"' {
		return v
	}
	text, err := Unquote(v)
	if err != nil {
		return v
	}
	return ContentOfText(v, text)
}

// ContentOfText is ContentOf of a string whose text is known.
func ContentOfText(v []byte, text string) []byte {
	if n := strings.Count(text, "\uFFFD"); n > 0 &&
		n != bytes.Count(v, []byte("\uFFFD"))+bytes.Count(bytes.ToLower(v), []byte(`\ufffd`)) {
		return v
	}
	return unsafe.Slice(unsafe.StringData(text), len(text))
}

// ShortText returns the text of a short string. A value that is null or of another kind has none.
func ShortText(v []byte) (string, error) {
	if len(v) < 2 || v[0] != '"' {
		return "", nil
	}
	if bytes.IndexByte(v, '\\') < 0 {
		return string(v[1 : len(v)-1]), nil
	}
	return Unquote(v)
}

// unquoteSound reads a JSON string as encoding/json does: what is no UTF-8, and half a pair, becomes U+FFFD. The
// text shares nothing with b. ok is false if b is anything else, or no JSON string at all.
func unquoteSound(b []byte) (text []byte, ok bool) {
	if len(b) < 2 || b[0] != '"' || b[len(b)-1] != '"' {
		return nil, false
	}
	b = b[1 : len(b)-1]
	valid := utf8.Valid(b)
	text = make([]byte, 0, len(b))
	from := 0 // what stands before it is in text
	for i := plain(b, valid); i < len(b); i += plain(b[i:], valid) {
		r, n := unescape(b[i:])
		if n == 0 {
			return nil, false
		}
		text = utf8.AppendRune(append(text, b[from:i]...), r)
		i += n
		from = i
	}
	return append(text, b[from:]...), true
}

// plain is how many bytes at the start of b stand in a JSON string as they are; no ASCII does so only if wide.
func plain(b []byte, wide bool) (n int) {
	const ones = 0x0101010101010101 // times a byte: that byte eight times
	const tops = 0x80 * ones
	others := uint64(tops)
	if wide {
		others = 0
	}
	for ; n+8 <= len(b); n += 8 {
		x := binary.LittleEndian.Uint64(b[n:])
		quote, slash := x^'"'*ones, x^'\\'*ones
		odd := (x-' '*ones)&^x | (quote-ones)&^quote | (slash-ones)&^slash
		if odd&tops|x&others != 0 { // or a byte behind one that is odd
			break
		}
	}
	for ; n < len(b); n++ {
		if c := b[n]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf && !wide {
			break
		}
	}
	return n
}

// unescape returns the character at the start of b, which is escaped or no ASCII, and how many bytes it takes: 0 if it
// may not stand in a JSON string.
func unescape(b []byte) (r rune, size int) {
	switch {
	case b[0] >= utf8.RuneSelf:
		return utf8.DecodeRune(b)
	case b[0] != '\\' || len(b) < 2:
		return 0, 0
	case escaped[b[1]] != 0:
		return rune(escaped[b[1]]), 2
	}
	r = unitAt(b)
	switch {
	case r < 0:
		return 0, 0
	case !utf16.IsSurrogate(r):
		return r, 6
	}
	if pair := utf16.DecodeRune(r, unitAt(b[6:])); pair != utf8.RuneError {
		return pair, 12
	}
	return utf8.RuneError, 6
}

// unitAt returns what four digits stand for behind a backslash and a u at the start of b; -1 if none stand there.
func unitAt(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	var unit rune
	for _, c := range b[2:6] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return -1
		}
		unit = unit<<4 | rune(c)
	}
	return unit
}

// escaped is what a character stands for behind a backslash; 0 if nothing, or if more belongs to it.
var escaped = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// AppendQuoted writes s as a JSON string: escaped where JSON asks for it and nowhere else, so that the same text is
// always the same bytes. A byte that is no UTF-8 becomes U+FFFD.
func AppendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0 // what stands before it is in dst
	b := unsafe.Slice(unsafe.StringData(s), len(s))
	valid := utf8.Valid(b)
	for i := plain(b, valid); i < len(s); i += plain(b[i:], valid) {
		c, n := s[i], 1
		if c >= utf8.RuneSelf {
			var r rune
			if r, n = utf8.DecodeRuneInString(s[i:]); r != utf8.RuneError {
				i += n
				continue
			}
		}
		dst = appendEscape(append(dst, s[from:i]...), c)
		i += n
		from = i
	}
	return append(append(dst, s[from:]...), '"')
}

// appendEscape writes a byte that may not stand in a JSON string as it is. Of one that is no ASCII, U+FFFD is written.
func appendEscape(dst []byte, c byte) []byte {
	const digits = "0123456789abcdef"
	switch {
	case c == '"' || c == '\\':
		return append(dst, '\\', c)
	case c == '\n':
		return append(dst, '\\', 'n')
	case c == '\t':
		return append(dst, '\\', 't')
	case c == '\r':
		return append(dst, '\\', 'r')
	case c == '\b':
		return append(dst, '\\', 'b')
	case c == '\f':
		return append(dst, '\\', 'f')
	case c < ' ':
		return append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
	}
	return utf8.AppendRune(dst, utf8.RuneError)
}

// HoldsJSON reports whether a string, with its quotes, holds JSON or nothing. What is no string does.
func HoldsJSON(quoted []byte) bool {
	if len(quoted) == 0 || quoted[0] != '"' {
		return true
	}
	s, err := Unquote(quoted)
	return err == nil && (s == "" || Valid(unsafe.Slice(unsafe.StringData(s), len(s))))
}
