// Package inert writes texts so that no terminal obeys them.
//
// It promises that who reads a text as what it is reads the same.
package inert

import (
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON is JSON with all characters written as escapes that a terminal may obey, turn the direction of writing, or are
// not seen: encoding/json leaves all from 0x7f on as they are. They stand in texts alone, and mean the same.
func JSON(text []byte) []byte {
	var into []byte
	done := 0
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf && text[i] != 0x7f {
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co) {
			into = append(into, text[done:i]...)
			for _, unit := range utf16.Encode([]rune{r}) {
				into = fmt.Appendf(into, `\u%04x`, unit)
			}
			done = i + size
		}
		i += size
	}
	if done == 0 {
		return text
	}
	return append(into, text[done:]...)
}

// Print writes a value as JSON for people and programs, in lines.
func Print(w io.Writer, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(JSON(text), '\n'))
	return err
}
