package chart

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Plain returns a text that every reader of HTML and XML takes: in sound UTF-8, with a sign of its own in the place of
// each control character, and of each that turns the direction of writing or is not seen at all.
func Plain(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r < ' ':
			return '\u2400' + r // the picture of the control character
		case r == 0x7f:
			return '\u2421'
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Noncharacter_Code_Point):
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// Shortened returns the text, or its beginning with an ellipsis, in at most most characters.
func Shortened(text string, most int) string {
	if runes := []rune(text[:min(len(text), utf8.UTFMax*(most+1))]); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}
