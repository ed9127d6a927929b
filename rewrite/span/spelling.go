package span

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// Spelling is how a text was written as a JSON string. One text can be written in many ways, and the original is made
// again to the byte.
type Spelling uint8

const (
	AsJSON    Spelling = iota // the artifact is the value itself as it stood in the body
	canonical                 // as appendQuoted writes
	asciiOnly                 // \u00e9 for whatever is not ASCII, as Python writes it
	htmlSafe                  // \u003c for <, > and &, as Go writes it
)

// spellingOf returns the rule by which v was written, a JSON string with this text; AsJSON if by none of the known
// ones.
func spellingOf(v []byte, text string) Spelling {
	if isCanonical(v) {
		return canonical
	}
	for s := asciiOnly; s <= htmlSafe; s++ {
		if s.spells(v, text) {
			return s
		}
	}
	return AsJSON
}

// isCanonical reports whether a JSON string is written as AppendQuoted writes: whatever stands in it without a
// backslash is so, unless it is no UTF-8.
func isCanonical(v []byte) bool {
	if !utf8.Valid(v) {
		return false
	}
	for {
		at := bytes.IndexByte(v, '\\')
		if at < 0 {
			return true
		}
		if v = v[at:]; len(v) > 1 && strings.IndexByte(`"\ntrbf`, v[1]) >= 0 {
			v = v[2:]
			continue
		}
		var room [6]byte
		r, n := unescape(v)
		if n == 0 || r >= utf8.RuneSelf || string(appendEscape(room[:0], byte(r))) != string(v[:n]) {
			return false
		}
		v = v[n:]
	}
}

// spells reports whether v is the text, written by the rule. It looks no further than where it is not.
func (s Spelling) spells(v []byte, text string) bool {
	const piece = 16 << 10 // bytes
	var room []byte
	for v = v[1:]; len(text) > piece; {
		n := piece
		for n > piece-utf8.UTFMax && !utf8.RuneStart(text[n]) {
			n--
		}
		room = s.Spell(room[:0], text[:n])
		said := room[1 : len(room)-1]
		if !bytes.HasPrefix(v, said) {
			return false
		}
		v, text = v[len(said):], text[n:]
	}
	room = s.Spell(room[:0], text)
	return string(room[1:]) == string(v)
}

// Spell writes text as a JSON string by the rule.
func (s Spelling) Spell(dst []byte, text string) []byte {
	if s == canonical {
		return AppendQuoted(dst, text)
	}
	quoted := AppendQuoted(nil, text)
	for len(quoted) > 0 {
		r, n := utf8.DecodeRune(quoted)
		switch {
		case s == asciiOnly && (r >= utf8.RuneSelf || r == 0x7f):
			dst = appendEscaped(dst, r)
		case s == htmlSafe && (r == '<' || r == '>' || r == '&' || r == '\u2028' || r == '\u2029'):
			dst = appendEscaped(dst, r)
		default:
			dst = append(dst, quoted[:n]...)
		}
		quoted = quoted[n:]
	}
	return dst
}

// appendEscaped writes a character as one or two \u escapes.
func appendEscaped(dst []byte, r rune) []byte {
	if r < 0x10000 {
		return fmt.Appendf(dst, `\u%04x`, r)
	}
	r -= 0x10000
	return fmt.Appendf(dst, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
}

// Unspell returns the content that the artifact of the JSON value v must hold, and the rule that makes v of it again.
func Unspell(v []byte) (content []byte, s Spelling) {
	if len(v) < 2 || v[0] != '"' {
		return v, AsJSON
	}
	text, err := Unquote(v)
	if err != nil {
		return v, AsJSON
	}
	return UnspellText(v, text)
}

// UnspellText is Unspell of a JSON string whose text is known. The content is not to be changed.
func UnspellText(v []byte, text string) (content []byte, s Spelling) {
	if s = spellingOf(v, text); s == AsJSON {
		return v, AsJSON
	}
	return unsafe.Slice(unsafe.StringData(text), len(text)), s
}
