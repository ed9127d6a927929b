package console

import (
	"net/http"
	"strings"
	"testing"

	"epitome/rewrite"
)

// compacter compacts every conversation to one text, and notes how it was asked.
type compacter struct {
	source
	text, asked string
}

func (c *compacter) Compact(r *http.Request, body []byte) (rewrite.Output, error) {
	c.asked = r.URL.RawQuery + "|" + r.Header.Get("x-epitome-set") + "|" + string(body)
	done := rewrite.Output{Body: []byte(c.text), Report: rewrite.Report{Action: "compact"}}
	done.Report.TokensBefore.User, done.Report.TokensAfter.User = 1000, 300
	return done, nil
}

func TestCompactedConversationIsTheAnswer(t *testing.T) {
	service := &compacter{text: `{"messages":["` + strings.Repeat("x", 200_000) + `"]}`}
	p := listening("127.0.0.1:7070")
	p.Service = service
	o := show(Config{}, p)
	w := send(o, "/-/compact?upstream=up", "{}", "x-epitome-set: 3")
	if w.Code != 200 || w.Body.String() != service.text || service.asked != "upstream=up|3|{}" {
		t.Errorf("got %d and %d bytes, asked was %q", w.Code, w.Body.Len(), service.asked)
	}
	for name, want := range map[string]string{"Content-Type": "application/json", "X-Epitome-Action": "compact",
		"X-Epitome-Tokens": "1000>300", "X-Epitome-Reason": ""} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	// A page of another site may send a POST that looks like a form without asking whether it may.
	wantRefusal(t, send(o, "/-/compact", "{}", "Content-Type: text/plain"), http.StatusUnsupportedMediaType)
	wantRefusal(t, send(o, "/-/compact", "{}", "Origin: http://evil.example"), http.StatusForbidden)
}
