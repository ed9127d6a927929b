package proxy

import (
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"epitome/internal/fakeapi/scriptedtest"
)

// A client that leaves just as its answer has been read may cut nobody else's connection, which is where its own
// upstream connection has gone.
func TestClientThatLeavesCutsNobodyElse(t *testing.T) {
	t.Parallel()
	up := plainUpstream(t, []byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"))
	slow := scriptedtest.Start(t, "-- GET /slow --\nrepeat\npause 8ms\nstatus 200 OK\nbody ok\n")
	r := startRig(t, up, func(s *Settings) { s.Upstreams["slow"] = UpstreamConfig{URL: slow.URL()} })
	stop := time.Now().Add(2 * time.Second)
	if testing.Short() {
		stop = time.Now().Add(200 * time.Millisecond)
	}
	var failed atomic.Int64
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() { leaveAgainAndAgain(r.addr, stop) })
		wg.Go(func() {
			c := dialTo(t, r.addr)
			for time.Now().Before(stop) {
				c.send(get("/u/slow/slow"))
				if resp, _ := c.answer("GET"); resp.StatusCode != 200 {
					failed.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if failed.Load() > 0 {
		t.Errorf("%d exchanges of others were cut", failed.Load())
	}
}

// leaveAgainAndAgain asks on one connection after the other, and closes each as soon as it has an answer.
func leaveAgainAndAgain(addr string, stop time.Time) {
	for time.Now().Before(stop) {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			return
		}
		_, _ = io.WriteString(c, get("/u/slow/slow"))
		_, _ = c.Read(make([]byte, 4096))
		_ = c.Close()
	}
}

// Bytes behind an answer belong to no later exchange.
func TestBytesNobodyAskedForAreNoAnswer(t *testing.T) {
	t.Parallel()
	const one, two = "HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nSECRET"
	r := startRig(t, plainUpstream(t, []byte(one+two)))
	for range 5 {
		if resp, body := r.dial().send(get("/a")).answer("GET"); resp.StatusCode != 204 {
			t.Fatalf("got %s %q, which belongs to the exchange before", resp.Status, body)
		}
	}
}

func TestCredentialInATargetIsNoPath(t *testing.T) {
	t.Parallel()
	r := newRig(t, "-- GET /x?key=SECRET --\nstatus 204 No Content\n")
	r.dial().send("GET http://user:SECRET@h/x?key=SECRET HTTP/1.1\r\nHost: x\r\n\r\n").answer("GET")
	// Ids of exchanges are random and of small letters: a short secret in small letters would be found in some.
	if e := r.event(); e.Path != "/x" || strings.Contains(fmt.Sprint(e), "SECRET") {
		t.Errorf("event %+v", e)
	}
}

func TestWebPagesSpendNoConfiguredCredential(t *testing.T) {
	t.Parallel()
	r := newRig(t, "-- POST /a --\nrepeat\nstatus 200 OK\nbody a\n", func(s *Settings) {
		ours := map[string]string{"Authorization": "Bearer ours"}
		s.Upstreams["keyed"] = UpstreamConfig{URL: s.Upstreams["test"].URL, Headers: ours}
	})
	f := func(status int, target string, lines ...string) {
		t.Helper()
		if resp, _ := r.dial().send(post(target, "{}", lines...)).answer("POST"); resp.StatusCode != status {
			t.Errorf("%s with %q: got %s, want %d", target, lines, resp.Status, status)
		}
	}
	f(200, "/u/keyed/a")
	f(403, "/u/keyed/a", "Origin: http://evil.example")
	f(403, "/u/keyed/a", "origin: null")
	f(403, "/u/keyed/a", "Sec-Fetch-Site: cross-site")
	f(200, "/u/keyed/a", "Origin: http://localhost:3000", "Sec-Fetch-Site: same-origin")
	f(200, "/u/keyed/a", "Origin: app://desktop")
	f(200, "/a", "Origin: http://evil.example") // with its own credential, or none
}
