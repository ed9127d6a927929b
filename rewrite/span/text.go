package span

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// TextOf returns the text of a JSON string. Of a broken one it returns the bytes as they stand.
func TextOf(quoted []byte) []byte {
	text, err := Unquote(quoted)
	if err != nil {
		return quoted
	}
	return []byte(text)
}

// Unquote returns the text of the JSON string b, which has its quotes. Texts are read many times while a request is
// shaped, so what most of them are made of is read here, three times as fast; the rest is left to encoding/json.
func Unquote(b []byte) (string, error) {
	if s, ok := unquotePlain(b); ok {
		return s, nil
	}
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return "", ErrNoJSON
	}
	return s, nil
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

// unquotePlain reads a JSON string of valid UTF-8 whose escapes are of two characters. ok is false if b is anything
// else, or no JSON string at all.
func unquotePlain(b []byte) (s string, ok bool) {
	if len(b) < 2 || b[0] != '"' || b[len(b)-1] != '"' {
		return "", false
	}
	b = b[1 : len(b)-1]
	if !utf8.Valid(b) {
		return "", false
	}
	var text []byte
	from := 0 // what stands before it is in text
	for i := 0; i < len(b); i++ {
		c := b[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		if c != '\\' || i+1 == len(b) || escaped[b[i+1]] == 0 {
			return "", false
		}
		if text == nil {
			text = make([]byte, 0, len(b))
		}
		text = append(append(text, b[from:i]...), escaped[b[i+1]])
		i++
		from = i + 1
	}
	return string(append(text, b[from:]...)), true
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
	for i := 0; i < len(s); {
		c, n := s[i], 1
		if c >= utf8.RuneSelf {
			var r rune
			if r, n = utf8.DecodeRuneInString(s[i:]); r != utf8.RuneError {
				i += n
				continue
			}
		} else if c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
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
	return err == nil && (s == "" || Valid([]byte(s)))
}
