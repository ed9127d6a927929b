package figure

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Plain returns a text with each control character, and each character that is invisible or turns the direction of
// writing, replaced by a visible one. The result is valid UTF-8.
func Plain(text string) string { return strings.Map(Visible, text) }

// Visible returns r, or what Plain puts in its place.
func Visible(r rune) rune {
	switch {
	case r >= ' ' && r < 0x7f:
		return r
	case r < ' ':
		return '\u2400' + r // the picture of the control character
	case r == 0x7f:
		return '\u2421'
	case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Noncharacter_Code_Point):
		return unicode.ReplacementChar
	}
	return r
}

// Shorten returns the text, or its beginning with an ellipsis, in at most most characters.
func Shorten(text string, most int) string {
	if runes := []rune(text[:min(len(text), utf8.UTFMax*(most+1))]); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}
