package console

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// compactor notes what it is asked, and gives done and err.
type compactor struct {
	asked []string
	done  Compacted
	err   error
}

func (c *compactor) compact(r *http.Request, body []byte) (Compacted, error) {
	c.asked = append(c.asked, r.URL.RawQuery+"|"+r.Header.Get("x-epitome-rent")+"|"+string(body))
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
	long := `{"messages":["` + strings.Repeat("x", 3*pieceSize) + `"]}`
	c := &compactor{done: Compacted{Body: []byte(long), Action: "compact", Before: 1000, After: 300}}
	w := compacting(c, "127.0.0.1:7070", "", "POST", "{}", "x-epitome-rent: 3",
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

func TestWhyAConversationIsNotCompactedStandsBesideIt(t *testing.T) {
	c := &compactor{done: Compacted{Body: []byte("{}"), Action: "none",
		Before: 10, After: 10, Reason: "there is\r\nX-Forged: nothing"}}
	w := compacting(c, "127.0.0.1:7070", "", "POST", "{}")
	if got := w.Header().Get("X-Epitome-Reason"); w.Code != 200 || w.Body.String() != "{}" ||
		got != "there is X-Forged: nothing" || w.Header().Get("X-Epitome-Action") != "none" {
		t.Errorf("got %d %q %v", w.Code, w.Body, w.Header())
	}
}

func TestWhatCannotBeCompactedIsRefused(t *testing.T) {
	f := func(c compactor, status int, says, method string, lines ...string) {
		t.Helper()
		w := compacting(&c, "127.0.0.1:7070", "", method, "{}", lines...)
		if wantRefusal(t, w, status); !strings.Contains(w.Body.String(), says) {
			t.Errorf("says %s, want %q", w.Body, says)
		}
		if status != 400 && status != 500 && len(c.asked) > 0 {
			t.Errorf("it was compacted: %q", c.asked)
		}
	}
	f(compactor{err: errors.New("the body has no messages")}, 400, "the body has no messages", "POST")
	f(compactor{done: Compacted{Failed: errors.New("secret of the disk")}}, 500, "whose log says what", "POST")
	f(compactor{}, 405, "/-/compact is for POST only", "GET")
	f(compactor{}, 405, "/-/compact is for POST only", "HEAD")
	f(compactor{}, 405, "/-/compact is for POST only", "OPTIONS", "Access-Control-Request-Method: POST")
	f(compactor{}, 415, "application/json", "POST", "Content-Type: text/plain")
	f(compactor{}, 415, "application/json", "POST", "Content-Type: ")
	f(compactor{}, 415, "application/json", "POST", "Content-Type: application/x-www-form-urlencoded")
	f(compactor{}, 415, "Content-Encoding", "POST", "Content-Encoding: gzip")
}

func TestFailureOfCompactingIsForTheLogAlone(t *testing.T) {
	var log bytes.Buffer
	p := listening("127.0.0.1:7070")
	p.Log = slog.New(slog.NewTextHandler(&log, nil))
	p.Compact = func(*http.Request, []byte) (Compacted, error) {
		return Compacted{Failed: errors.New("the disk is full")}, nil
	}
	r := httptest.NewRequest("POST", "http://localhost/-/compact", strings.NewReader("{}"))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	New(Config{}, p).ServeHTTP(w, r)
	if strings.Contains(w.Body.String(), "disk") || !strings.Contains(log.String(), "the disk is full") {
		t.Errorf("the answer is %q, the log %q", w.Body, &log)
	}
}

// A page may send a POST of another site's without asking whether it may, as long as it looks like a form.
func TestOnlyWhoMayCompacts(t *testing.T) {
	f := func(listen, token string, status int, lines ...string) {
		t.Helper()
		c := &compactor{done: Compacted{Body: []byte("{}")}}
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
