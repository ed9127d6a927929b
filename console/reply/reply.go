// Package reply is how answers under /-/ look: JSON, and refusals that clients can show.
//
// It promises that what it sends is JSON and nothing else, whatever texts it holds: no browser takes it for a page, and
// no terminal obeys it.
package reply

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON answers with v.
func JSON(w http.ResponseWriter, status int, v any) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	var text bytes.Buffer
	_ = json.NewEncoder(&text).Encode(v)  // what is answered can be JSON
	_, _ = w.Write(escaped(text.Bytes())) // a client that has left is no error of ours
}

// escaped is JSON with all characters written as escapes that a terminal may obey, turn the direction of writing, or
// are not seen: encoding/json leaves all from 0x7f on as they are. They stand in texts alone, and mean the same.
func escaped(text []byte) []byte {
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

// Refuse answers as the proxy's own errors do, so that clients can show it.
func Refuse(w http.ResponseWriter, status int, message string) {
	JSON(w, status, map[string]any{"type": "error", "error": map[string]any{
		"message": message, "type": "epitome_error", "param": nil, "code": "console",
	}})
}
