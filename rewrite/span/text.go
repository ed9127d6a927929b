package span

import (
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

// Unquote returns the text of the JSON string b, which has its quotes.
func Unquote(b []byte) (string, error) {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return "", ErrNoJSON
	}
	return s, nil
}

// AppendQuoted writes s as a JSON string: escaped where JSON asks for it and nowhere else, so that the same text is
// always the same bytes. A byte that is no UTF-8 becomes U+FFFD.
func AppendQuoted(dst []byte, s string) []byte {
	const digits = "0123456789abcdef"
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c == '\t':
			dst = append(dst, '\\', 't')
		case c == '\r':
			dst = append(dst, '\\', 'r')
		case c == '\b':
			dst = append(dst, '\\', 'b')
		case c == '\f':
			dst = append(dst, '\\', 'f')
		case c < ' ':
			dst = append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(s[i:])
			dst = utf8.AppendRune(dst, r)
			i += n
			continue
		default:
			dst = append(dst, c)
		}
		i++
	}
	return append(dst, '"')
}
