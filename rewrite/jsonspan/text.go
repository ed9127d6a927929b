package jsonspan

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// TextOf returns the text of a JSON string, which shares nothing with it. Of a broken one it returns the bytes as they
// stand.
func TextOf(quoted []byte) []byte {
	if text, ok := unquote(quoted); ok {
		return text
	}
	return quoted
}

// ShortText returns the text of a string; empty for a value that is null or of another kind.
func ShortText(v []byte) (string, error) {
	if len(v) == 0 || v[0] != '"' {
		return "", nil
	}
	text, ok := unquote(v)
	if !ok {
		return "", ErrNoJSON
	}
	return string(text), nil
}

// ContentOfText returns what is kept of a JSON string with that text: the text, or the string as it is written where its
// text would not show it whole, as half a pair or what is no UTF-8 stands in it. The content is not to be changed.
func ContentOfText(v []byte, text string) []byte {
	if n := strings.Count(text, "\uFFFD"); n > 0 &&
		n != bytes.Count(v, []byte("\uFFFD"))+bytes.Count(bytes.ToLower(v), []byte(`\ufffd`)) {
		return v
	}
	return unsafe.Slice(unsafe.StringData(text), len(text))
}

// HoldsJSON reports whether a string, with its quotes, holds JSON or nothing. What is no string does.
func HoldsJSON(quoted []byte) bool {
	text, ok := unquote(quoted)
	return len(quoted) == 0 || quoted[0] != '"' || ok && (len(text) == 0 || Valid(text))
}

// unquote reads a JSON string as encoding/json does, several times as fast, since texts are read many times while a
// request is shaped: what is no UTF-8, and half a pair, becomes U+FFFD. ok is false if b is no JSON string.
func unquote(b []byte) (text []byte, ok bool) {
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
	for n < len(b) && b[n] >= ' ' && b[n] != '"' && b[n] != '\\' && (wide || b[n] < utf8.RuneSelf) {
		n++
	}
	return n
}

// What stands behind a backslash, and what it means.
const (
	letters = `"\/bfnrt`
	meaning = "\"\\/\b\f\n\r\t"
)

// unescape returns the character at the start of b, which is escaped or no ASCII, and how many bytes it takes: 0 if it
// may not stand in a JSON string.
func unescape(b []byte) (r rune, size int) {
	switch {
	case b[0] >= utf8.RuneSelf:
		return utf8.DecodeRune(b)
	case b[0] != '\\' || len(b) < 2:
		return 0, 0
	}
	if k := strings.IndexByte(letters, b[1]); k >= 0 {
		return rune(meaning[k]), 2
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
	unit, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(unit)
}

// Quoted is AppendQuoted as a string.
func Quoted(s string) string { return string(AppendQuoted(nil, s)) }

// AppendQuoted writes s as a JSON string: escaped where JSON asks for it and nowhere else, so that the same text is
// always the same bytes. A byte that is no UTF-8 becomes U+FFFD.
func AppendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0 // what stands before it is in dst
	b := unsafe.Slice(unsafe.StringData(s), len(s))
	valid := utf8.Valid(b)
	for i := plain(b, valid); i < len(s); i += plain(b[i:], valid) {
		r, n := utf8.DecodeRune(b[i:])
		if r >= utf8.RuneSelf && r != utf8.RuneError {
			i += n
			continue
		}
		dst = append(dst, s[from:i]...)
		switch k := strings.IndexByte(meaning, b[i]); {
		case k >= 0:
			dst = append(dst, '\\', letters[k])
		case r == utf8.RuneError:
			dst = utf8.AppendRune(dst, r)
		default:
			dst = fmt.Appendf(dst, `\u%04x`, r)
		}
		i += n
		from = i
	}
	return append(append(dst, s[from:]...), '"')
}
