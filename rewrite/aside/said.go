package aside

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// SaidIn is all text that the client was given in rounds, without blanks: some clients trim texts, or join them.
func SaidIn(rounds []Round) string {
	var b strings.Builder
	for i := range rounds {
		b.WriteString(Unblanked(rounds[i].Given))
	}
	return b.String()
}

// Unblanked is a text without its blanks.
func Unblanked(text string) string { return strings.Join(strings.Fields(text), "") }

// CutSaid takes what was said, which has no blanks, off the beginning of a text. left is what of it the text does not
// have, as it is at its end; rest begins without blanks. ok is false if the text says something else.
func CutSaid(text, said string) (rest, left string, ok bool) {
	for said != "" {
		text = strings.TrimLeftFunc(text, unicode.IsSpace)
		if text == "" {
			return "", said, true
		}
		_, n := utf8.DecodeRuneInString(text)
		if !strings.HasPrefix(said, text[:n]) {
			return "", "", false
		}
		text, said = text[n:], said[n:]
	}
	return strings.TrimLeftFunc(text, unicode.IsSpace), "", true
}
