package console

import (
	"encoding/json"
	"net/http"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// writeJSON answers with v as JSON.
func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	text, _ := json.Marshal(v)                 // values that cannot be encoded are a bug that tests find
	_, _ = w.Write(append(escape(text), '\n')) // an error means that the client has left
}

// refuse answers with an error in the shape of the proxy's own errors.
func refuse(w http.ResponseWriter, status int, message string) {
	writeJSON(w, status, map[string]any{"type": "error", "error": map[string]any{
		"message": message, "type": "epitome_error", "param": nil, "code": "console",
	}})
}

// escape returns equivalent JSON in which all characters are escaped that a terminal might obey or not show:
// encoding/json escapes only those below a space.
func escape(text []byte) []byte {
	const digits = "0123456789abcdef"
	escaped := make([]byte, 0, len(text)+len(text)/8)
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if r < 0x7f || unicode.IsPrint(r) {
			escaped = append(escaped, text[:size]...)
		} else {
			for _, unit := range utf16.Encode([]rune{r}) {
				escaped = append(escaped, '\\', 'u', digits[unit>>12], digits[unit>>8&15], digits[unit>>4&15], digits[unit&15])
			}
		}
		text = text[size:]
	}
	return escaped
}
