package proxy

import (
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
)

func writeFile(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestOwnPathsAreNotForwarded(t *testing.T) {
	r := newRig(t, "-- GET /- --\nstatus 200 OK\nbody up\n")
	c := r.dial()
	f := func(request, body string) {
		t.Helper()
		if _, got := c.send(request).answer("GET"); got != body {
			t.Errorf("%q got %q, want %q", request, got, body)
		}
	}
	f(get("/-/a?b=c"), "own GET /-/a?b=c")
	f(get("/-/stream"), "onetwo")
	f(get("http://x/-/a"), "own GET /-/a")
	f(get("/-"), "up")
	if resp, _ := c.send(get("/-/panic")).answer("GET"); resp.StatusCode != 500 {
		t.Errorf("a panic under /-/ gave %s", resp.Status)
	}
}

func TestOwnPageThatBreaksOffStaysCut(t *testing.T) {
	t.Parallel()
	r := newRig(t, "-- GET /a --\nstatus 204 No Content\n")
	if resp, body := r.dial().send(get("/-/abort")).answer("GET"); resp.StatusCode != 500 || !strings.Contains(body, "could not be completed") {
		t.Errorf("before its first byte: got %s %q", resp.Status, body)
	}
	c := r.dial().send(get("/-/abort-later"))
	if resp, err := http.ReadResponse(c.br, nil); err != nil {
		t.Error(err)
	} else if body, err := io.ReadAll(resp.Body); err == nil {
		t.Errorf("an answer that broke off ended well, as %q", body)
	}
}
