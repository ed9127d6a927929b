package jsonspan

import (
	"bytes"
	"strings"
	"unsafe"

	"github.com/tidwall/gjson"
)

func init() { gjson.SetEscapeHTML(false) } // which would cost the model tokens for nothing

// TextOf returns the text of a JSON string, which shares nothing with it. Of a broken string, and of any other value,
// it returns the bytes as they stand. What is no UTF-8 becomes U+FFFD, and so does half a surrogate pair with an escape
// behind it.
func TextOf(v []byte) []byte {
	if len(v) == 0 || v[0] != '"' || !gjson.ValidBytes(v) {
		return v
	}
	return []byte(strings.ToValidUTF8(gjson.ParseBytes(v).Str, "\uFFFD"))
}

// ContentOfText returns what is kept of a JSON string with that text: the text, or the string as it is written where
// its text has a U+FFFD that does not stand in it. The content is not to be changed.
func ContentOfText(v []byte, text string) []byte {
	if n := strings.Count(text, "\uFFFD"); n > 0 &&
		n != bytes.Count(v, []byte("\uFFFD"))+bytes.Count(bytes.ToLower(v), []byte(`\ufffd`)) {
		return v
	}
	return unsafe.Slice(unsafe.StringData(text), len(text))
}

// Quoted is AppendQuoted as a string.
func Quoted(s string) string { return string(AppendQuoted(nil, s)) }

// AppendQuoted writes s as a JSON string: the same text is always the same bytes. What is no UTF-8 becomes U+FFFD.
func AppendQuoted(dst []byte, s string) []byte { return gjson.AppendJSONString(dst, s) }
