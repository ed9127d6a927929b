// Package reply is how answers under /-/ look: JSON, and refusals that clients can show.
//
// It promises that what it sends is JSON and nothing else, whatever texts it holds: no browser takes it for a page, and
// no terminal obeys it.
package reply

import (
	"encoding/json"
	"net/http"

	"epitome/console/inert"
)

// JSON answers with v.
func JSON(w http.ResponseWriter, status int, v any) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	text, _ := json.Marshal(v)                     // what is answered can be JSON
	_, _ = w.Write(append(inert.JSON(text), '\n')) // a client that has left is no error of ours
}

// Refuse answers as the proxy's own errors do, so that clients can show it.
func Refuse(w http.ResponseWriter, status int, message string) {
	JSON(w, status, map[string]any{"type": "error", "error": map[string]any{
		"message": message, "type": "epitome_error", "param": nil, "code": "console",
	}})
}
