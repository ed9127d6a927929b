// Package inert writes texts so that no terminal obeys them.
//
// It promises that who reads a text as what it is reads the same.
package inert

import (
	"encoding/json"
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
		if text[i] < 0x7f {
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		if isObeyed(r) {
			if into == nil {
				into = make([]byte, 0, len(text)+len(text)/4)
			}
			into = append(into, text[done:i]...)
			if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
				into = appendEscape(appendEscape(into, high), low)
			} else {
				into = appendEscape(into, r)
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

// isObeyed reports whether a character from 0x7f on is written as an escape. Most of a text in any language is told
// by where it lies.
func isObeyed(r rune) bool {
	switch {
	case r < 0xa0:
		return true
	case r > 0xad && r < 0x600, r > 0x206f && r < 0xe000: // letters, and all of Chinese, Japanese and Korean
		return false
	}
	return unicode.In(r, unicode.Cf, unicode.Co)
}

// appendEscape appends one unit of UTF-16 as JSON escapes it.
func appendEscape(into []byte, unit rune) []byte {
	const digits = "0123456789abcdef"
	return append(into, '\\', 'u', digits[unit>>12&15], digits[unit>>8&15], digits[unit>>4&15], digits[unit&15])
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
