package proxy

import (
	"errors"
	"io"
	"os"
	"testing"

	"epitome/event"
)

// Whatever a client sends, it gets an answer or the end of its connection once it has ended its side, no exchange
// panics, and what goes on upstream is sound.
func FuzzRawRequestNeverBreaksTheProxy(f *testing.F) {
	for _, s := range []string{
		get("/a"), post("/a", "hi"), get("/-/x"), get("/u/none/x"), get("/a") + get("/b"),
		"", "\r\n\r\n", "GET", "GET / HTTP/1.1\r\n", "GET / HTTP/1.1\nHost: x\n\n",
		"POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2;e\r\nab\r\n0\r\nx: 1\r\n\r\n", "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\nab",
		"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "GET //x://y HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET http://h?q HTTP/1.0\r\n\r\n", "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", "CONNECT h:1 HTTP/1.1\r\nHost: x\r\n\r\n",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		post(chatTarget, "{}"), post(chatTarget, "\x1f\x8b{}", "Content-Encoding: gzip"),
		post(chatTarget, "{}", "x-epitome-set: rent=1"), post(chatTarget, "{}", "x-epitome-set: rent=x"),
		post(chatTarget, "{}", "Content-Encoding: ,", "Content-Encoding:", "Authorization:", "x-epitome-: 1"),
		"POST " + chatTarget + " HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
		get("/a", "Connection: upgrade", "Upgrade: websocket"), get("/a", "Expect: 100-continue"), get("/a", "A: b", " c"),
		get("/a", "A b: c"), get("/a", "TE:, ,trailers"),
	} {
		f.Add([]byte(s))
	}
	r := startRig(f, "http://127.0.0.1:1")
	answer := &trial{heads: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"}
	up, n := answer.upstream(f), 0
	f.Cleanup(func() { up.Close() })
	f.Fuzz(func(t *testing.T, request []byte) {
		if n++; n%1000 == 1 || len(up.Problems()) > 0 { // an upstream keeps all that it gets
			up.Close()
			up = answer.upstream(t)
		}
		s := testSettings(up.URL())
		s.Mode, s.Scope = event.ModeOn, "credential"
		if err := r.proxy.Reload(s); err != nil {
			t.Fatal(err)
		}
		c := dialTo(t, r.addr)
		_, _ = c.Write(request) // the proxy may have refused it by now
		_ = c.CloseWrite()
		if answer, err := io.ReadAll(c); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("%q: the connection stays open behind %q", request, answer)
		}
		if problems := up.Problems(); len(problems) > 0 {
			t.Fatalf("%q: %q", request, problems)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, e := range r.events {
			if e.Fault == event.Panic {
				t.Fatalf("%q: %s", request, e.Err)
			}
		}
		r.events = nil
	})
}
