package jsonspan

import (
	"bytes"
	"strings"
	"unsafe"

	"github.com/tidwall/gjson"
)

func init() { gjson.SetEscapeHTML(false) } // escapes of <, > and & would cost the model tokens for nothing

// TextOf returns the text of a JSON string, as a copy. For an invalid string, and any other value, it returns v itself.
// Invalid UTF-8 becomes U+FFFD. So does an escaped half of a surrogate pair, together with an escape \uXXXX right
// behind it, whose letter is lost then (see ContentOfText).
func TextOf(v []byte) []byte {
	if len(v) == 0 || v[0] != '"' || !gjson.ValidBytes(v) {
		return v
	}
	return []byte(strings.ToValidUTF8(gjson.ParseBytes(v).Str, "\uFFFD"))
}

// ContentOfText returns the content to keep in an artifact of a JSON string v, of which text is TextOf(v): text, or v
// itself if TextOf put a U+FFFD into it, because then only v has all. The result must not be changed.
func ContentOfText(v []byte, text string) []byte {
	if n := strings.Count(text, "\uFFFD"); n > 0 && // not all are TextOf's: v may have some as letters or escapes
		n != bytes.Count(v, []byte("\uFFFD"))+bytes.Count(bytes.ToLower(v), []byte(`\ufffd`)) {
		return v
	}
	return unsafe.Slice(unsafe.StringData(text), len(text)) // without a copy, as texts may be large
}

func Quoted(s string) string { return string(AppendQuoted(nil, s)) }

// AppendQuoted appends s to dst as a JSON string. Equal texts become equal bytes; invalid UTF-8 becomes U+FFFD.
func AppendQuoted(dst []byte, s string) []byte { return gjson.AppendJSONString(dst, s) }
