package reply

import (
	"net/http/httptest"
	"testing"
)

func TestNoTerminalObeysAnAnswer(t *testing.T) {
	w := httptest.NewRecorder()
	JSON(w, 200, []string{"a\u009b31mb\u202e", "grüße"})
	if body := w.Body.String(); body != `["a\u009b31mb\u202e","grüße"]`+"\n" {
		t.Error(body)
	}
}
