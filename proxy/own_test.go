package proxy

import (
	"os"
	"testing"
	"time"
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

func TestOwnPageEndsWhenItsClientLeaves(t *testing.T) {
	noLeaks(t)
	r := newRig(t, "-- GET /a --\nstatus 204 No Content\n")
	c := r.dial().send(get("/-/wait")).expect("HTTP/1.1 200 OK\r\n")
	c.vanish("FIN")
	underWay := func() int {
		r.proxy.mu.Lock()
		defer r.proxy.mu.Unlock()
		return len(r.proxy.open)
	}
	for underWay() > 0 { // go test's own limit ends this
		time.Sleep(time.Millisecond)
	}
}
