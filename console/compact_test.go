package console

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"epitome/rewrite"
)

// compactor notes what it is asked, and gives done and err.
type compactor struct {
	asked []string
	done  rewrite.Output
	err   error
}

func (c *compactor) compact(r *http.Request, body []byte) (rewrite.Output, error) {
	c.asked = append(c.asked, r.URL.RawQuery+"|"+r.Header.Get("x-epitome-set")+"|"+string(body))
	return c.done, c.err
}

// compacting sends a request for /-/compact to a console that listens on the address; each line is a header's.
func compacting(c *compactor, listen, token, method, body string, lines ...string) *httptest.ResponseRecorder {
	p := listening(listen)
	p.Compact = c.compact
	r := httptest.NewRequest(method, "/-/compact?upstream=up", strings.NewReader(body))
	r.Host = "localhost:7070"
	for _, l := range append([]string{"Content-Type: application/json"}, lines...) {
		name, value, _ := strings.Cut(l, ": ")
		if r.Header.Set(name, value); name == "Host" {
			r.Host = value
		}
	}
	w := httptest.NewRecorder()
	New(Config{Token: token}, p).ServeHTTP(w, r)
	return w
}

func TestCompactedConversationIsTheAnswer(t *testing.T) {
	long := `{"messages":["` + strings.Repeat("x", 200_000) + `"]}`
	c := &compactor{done: rewrite.Output{Body: []byte(long), Report: rewrite.Report{Action: "compact"}}}
	c.done.Report.TokensBefore.User, c.done.Report.TokensAfter.User = 1000, 300
	w := compacting(c, "127.0.0.1:7070", "", "POST", "{}", "x-epitome-set: 3",
		"Content-Type: application/json; charset=utf-8")
	if w.Code != 200 || w.Body.String() != long || len(c.asked) != 1 || c.asked[0] != "upstream=up|3|{}" {
		t.Errorf("got %d and %d bytes, asked was %q", w.Code, w.Body.Len(), c.asked)
	}
	for name, want := range map[string]string{"Content-Type": "application/json", "X-Epitome-Action": "compact",
		"X-Epitome-Tokens": "1000>300", "X-Epitome-Reason": ""} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// A page may send a POST of another site's without asking whether it may, as long as it looks like a form.
func TestOnlyWhoMayCompacts(t *testing.T) {
	f := func(listen, token string, status int, lines ...string) {
		t.Helper()
		c := &compactor{done: rewrite.Output{Body: []byte("{}")}}
		if w := compacting(c, listen, token, "POST", "{}", lines...); w.Code != status ||
			len(c.asked) > 0 != (status == 200) {
			t.Errorf("on %s with %q: got %d, asked %q", listen, lines, w.Code, c.asked)
		}
	}
	f("127.0.0.1:7070", "", 200)
	f("127.0.0.1:7070", "", 200, "Origin: http://localhost:7070")
	f("127.0.0.1:7070", "", 403, "Origin: http://evil.example")
	f("127.0.0.1:7070", "", 403, "Origin: null")
	f("127.0.0.1:7070", "", 403, "Sec-Fetch-Site: cross-site")
	f("127.0.0.1:7070", "", 403, "Host: evil.example")
	f("127.0.0.1:7070", "", 415, "Content-Type: text/plain;charset=UTF-8")
	f("127.0.0.1:7070", "secret", 401)
	f("127.0.0.1:7070", "secret", 200, "Authorization: Bearer secret")
	f("0.0.0.0:7070", "", 403)
	f("0.0.0.0:7070", "secret", 401, "Authorization: Bearer other")
	f("0.0.0.0:7070", "secret", 200, "Authorization: Bearer secret")
}
