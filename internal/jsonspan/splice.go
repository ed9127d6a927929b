package jsonspan

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// Edit replaces the bytes of a span by With. An empty span makes it an insertion, an empty With a deletion.
type Edit struct {
	Span
	With []byte
}

// Splice returns a copy of body with all edits made. Bytes outside of the edits stay the same. Edits must not overlap;
// Splice sorts the slice given. Of edits with the same start, insertions come first, in the order given. memory returns
// empty memory for the copy; nil: Go's own.
func Splice(body []byte, edits []Edit, memory func(bytes int) []byte) ([]byte, error) {
	slices.SortStableFunc(edits, func(a, b Edit) int { return cmp.Or(a.Start-b.Start, a.End-b.End) })
	size := len(body)
	at := 0 // behind the last edit
	for _, e := range edits {
		if e.Start < at || e.End < e.Start || e.End > len(body) {
			return nil, fmt.Errorf("cannot splice bytes %d to %d: edits overlap, or lie outside of the body", e.Start, e.End)
		}
		size += len(e.With) - e.Len()
		at = e.End
	}
	var out []byte
	if memory == nil {
		out = make([]byte, 0, size)
	} else {
		out = memory(size)
	}
	at = 0
	for _, e := range edits {
		out = append(append(out, body[at:e.Start]...), e.With...)
		at = e.End
	}
	return append(out, body[at:]...), nil
}

// Set returns object with value, which is JSON, at a path in sjson's syntax. All else stays as it is, except white
// space next to the value.
func Set(object []byte, path, value string) []byte {
	changed, err := sjson.SetRawBytes(object, path, []byte(value))
	if err != nil {
		return object // unchanged: the path leads through an array or is invalid
	}
	return changed
}

// Delete returns object without the values at paths in sjson's syntax. Paths that do not exist are ignored.
func Delete(object []byte, paths ...string) []byte {
	for _, path := range paths {
		if changed, err := sjson.DeleteBytes(object, path); err == nil {
			object = changed
		}
	}
	return object
}

// TakeOut returns the edits that remove array elements or object members, with one comma each. spans are in order. Of
// "[a, b, c]" without b and c, b takes the comma behind it along; c joins that edit, and the comma before both goes.
func TakeOut(body []byte, spans ...Span) (edits []Edit) {
	for _, s := range spans {
		n := len(edits)
		if n > 0 && edits[n-1].End == s.Start {
			s.Start = edits[n-1].Start
			edits = edits[:n-1]
		}
		next := skipSpace(body, s.End)
		if body[next] == ',' { // else it is the closing bracket
			s.End = skipSpace(body, next+1)
		} else { // the last element or member: the comma before it must go
			s.Start = len(bytes.TrimRight(body[:s.Start], " \t\r\n,"))
		}
		edits = append(edits, Edit{Span: s})
	}
	return edits
}

func Insert(at int, text string) Edit {
	return Edit{Span: Span{Start: at, End: at}, With: []byte(text)}
}

func init() { gjson.SetEscapeHTML(false) } // escapes of <, > and & would cost the model tokens for nothing

// TextOf returns the text of a JSON string, as a copy. For an invalid string, and any other value, it returns v itself.
// Invalid UTF-8 becomes U+FFFD. So does an escaped half of a surrogate pair (see ContentOfText).
func TextOf(v []byte) []byte {
	if len(v) == 0 || v[0] != '"' || !gjson.ValidBytes(v) {
		return v
	}
	end, _ := EndOfString(v, 0)
	text := unescape(make([]byte, 0, end), v[1:end-1], true)
	if !utf8.Valid(text) {
		text = bytes.ToValidUTF8(text, []byte("\uFFFD"))
	}
	return text
}

// Unescaped returns JSON with letters in place of their \u escapes, where JSON allows them: as providers read it, however
// the client has written it. It returns v itself if that has no such escape, or is not valid.
func Unescaped(v []byte) []byte {
	if !bytes.Contains(v, []byte(`\u`)) || !gjson.ValidBytes(v) {
		return v
	}
	return unescape(nil, v, false)
}

// unescape appends v, which is valid JSON, to dst, with letters in place of all escapes, or else of those that Unescaped
// replaces.
func unescape(dst, v []byte, all bool) []byte {
	for {
		at := bytes.IndexByte(v, '\\')
		if at < 0 {
			return append(dst, v...)
		}
		dst, v = append(dst, v[:at]...), v[at:]
		letter, length := letterAt(v)
		mayStand := length > 2 && letter >= ' ' && letter != '"' && letter != '\\'
		if all || mayStand {
			dst = utf8.AppendRune(dst, letter)
		} else {
			dst = append(dst, v[:length]...)
		}
		v = v[length:]
	}
}

// letterAt returns the letter of the escape with which v begins, and how many bytes that has. Letters beyond 16 bits are
// two escapes of four digits.
func letterAt(v []byte) (letter rune, length int) {
	escape := strings.IndexByte(`"\/bfnrt`, v[1])
	if escape >= 0 {
		return rune("\"\\/\b\f\n\r\t"[escape]), 2
	}
	letter = codeUnit(v[2:])
	if bytes.HasPrefix(v[6:], []byte(`\u`)) {
		pair := utf16.DecodeRune(letter, codeUnit(v[8:]))
		if pair != utf8.RuneError {
			return pair, 12
		}
	}
	return letter, 6
}

// codeUnit returns the number that begins v, of four hexadecimal digits.
func codeUnit(v []byte) rune {
	var number [2]byte
	_, _ = hex.Decode(number[:], v[:4])
	return rune(number[0])<<8 | rune(number[1])
}

// StringOf returns TextOf v as a string.
func StringOf(v []byte) string {
	text := TextOf(v)
	if len(text) == len(v) { // it may be v itself
		return string(text)
	}
	return unsafe.String(unsafe.SliceData(text), len(text))
}

// ContentOfText returns the content to keep in an artifact of a JSON string v, of which text is TextOf(v): text, or v
// itself if TextOf put a U+FFFD into it, because then only v has all. The result must not be changed.
func ContentOfText(v []byte, text string) []byte {
	inText := strings.Count(text, "\uFFFD")
	if inText == 0 {
		return bytesOf(text)
	}
	inJSON := bytes.Count(v, []byte("\uFFFD")) + bytes.Count(bytes.ToLower(v), []byte(`\ufffd`))
	if inText != inJSON { // some are TextOf's
		return v
	}
	return bytesOf(text)
}

// bytesOf returns the bytes of a text, which must not be changed: without a copy, as texts may be large.
func bytesOf(text string) []byte { return unsafe.Slice(unsafe.StringData(text), len(text)) }

// Wrapped finds the one long string with line breaks in a small array or object, such as the output of a command beside
// its exit code, or text that is all one JSON string. It returns the span of the string with its quotes; an empty one
// if text is something else.
func Wrapped(s string) (long Span) {
	const maxAround = 400 // bytes beside the string
	around := func(end int) int { return end - long.Len() }
	text := bytesOf(s)
	first := skipSpace(text, 0)
	if first == len(text) || !strings.ContainsRune(`{["`, rune(text[first])) {
		return Span{}
	}
	for i := 0; around(i) <= maxAround; {
		quote := bytes.IndexByte(text[i:], '"')
		if quote < 0 {
			break
		}
		end, err := EndOfString(text, i+quote)
		if err != nil {
			return Span{}
		}
		if end-i-quote > long.Len() {
			long = Span{Start: i + quote, End: end}
		}
		i = end
	}
	isKey := bytes.HasPrefix(text[skipSpace(text, long.End):], []byte(":"))
	if long.Empty() || isKey || around(len(text)) > maxAround || !Valid(text) {
		return Span{}
	}
	if text[first] == '"' || bytes.Contains(TextOf(long.Of(text)), []byte("\n")) {
		return long
	}
	return Span{}
}

// Unwrapped returns text with the string that Wrapped finds in it unquoted, on lines of its own.
func Unwrapped(text string) string {
	long := Wrapped(text)
	if long.Empty() {
		return text
	}
	return fmt.Sprintf("%s\n%s\n%s", text[:long.Start+1], TextOf([]byte(text[long.Start:long.End])), text[long.End-1:])
}

func Quoted(s string) string { return string(AppendQuoted(nil, s)) }

// AppendQuoted appends s to dst as a JSON string. Equal texts become equal bytes; invalid UTF-8 becomes U+FFFD.
func AppendQuoted(dst []byte, s string) []byte {
	dst = append(slices.Grow(dst, len(s)+len(s)/8+2), '"')
	for {
		plain := plainLength(s)
		dst, s = append(dst, s[:plain]...), s[plain:]
		if s == "" {
			return append(dst, '"')
		}
		if escape := strings.IndexByte("\"\\\n\t", s[0]); escape >= 0 {
			dst, s = append(dst, '\\', `"\nt`[escape]), s[1:]
			continue
		}
		other := 1
		for other < len(s) && !isPlain(s[other]) {
			other++
		}
		begin := len(dst)
		dst = gjson.AppendJSONString(dst, s[:other])
		dst = append(dst[:begin], dst[begin+1:len(dst)-1]...) // without the quotes
		s = s[other:]
	}
}

// isPlain reports whether a JSON string has a byte as it is. For all others gjson takes ten times as long.
func isPlain(c byte) bool { return c >= ' ' && c < 0x7f && c != '"' && c != '\\' }

// plainLength returns how many bytes at the beginning of s are plain. It looks at eight at once.
func plainLength(s string) (n int) {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	isZero := func(x uint64) uint64 { return (x - ones) &^ x & highs } // the high bit of the first byte that is 0
	for b := bytesOf(s); n+8 <= len(b); n += 8 {
		x := binary.LittleEndian.Uint64(b[n:])
		other := x&highs | (x-ones*' ')&^x&highs | isZero(x^ones*'"') | isZero(x^ones*'\\') | isZero(x^ones*0x7f)
		if other != 0 {
			return n + bits.TrailingZeros64(other)/8
		}
	}
	for n < len(s) && isPlain(s[n]) {
		n++
	}
	return n
}
