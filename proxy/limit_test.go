package proxy

import (
	"io"
	"strings"
	"testing"
	"time"

	"epitome/event"
)

func TestLimitsAnswerInTheDialectsShape(t *testing.T) {
	t.Parallel()
	f := func(name string, change func(*Settings), request string, status int, code string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, "-- * /* --\nstatus 200 OK\nbody a\nrepeat\n", change)
			c := r.dial()
			go func() { _, _ = io.WriteString(c, request) }() // of what is refused not all is taken for ever
			resp, body := c.answer("POST")
			if resp.StatusCode != status || !strings.Contains(body, `"code":"`+code+`"`) || !strings.Contains(body, `"type":"epitome_error"`) {
				t.Errorf("got %s %s, want %d %s", resp.Status, body, status, code)
			}
			e := r.event()
			if strings.Contains(name, "body") && (e.Method != "POST" || e.Path != "/a") {
				t.Errorf("the event does not say which request it was: %+v", e)
			}
			if e.Fault != event.Refused || e.Status != status || e.Err == "" {
				t.Errorf("event %+v", e)
			}
			if n := len(r.upstream.Requests()); n != 0 {
				t.Errorf("the upstream got %d requests", n)
			}
		})
	}
	small := func(s *Settings) { s.MaxBody = 10 }
	f("body with a length", small, post("/a", "0123456789a"), 413, "request_too_large")
	f("chunked body", small, "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nb\r\n0123456789a\r\n0\r\n\r\n", 413, "request_too_large")
	f("large body that is still being sent", small, post("/a", strings.Repeat("x", 8<<20)), 413, "request_too_large")
	f("header", small, get("/a", "X: "+strings.Repeat("x", 40_000)), 431, "header_too_large")
	f("not HTTP", small, "HELO there\r\n\r\n", 400, "bad_request")
	f("two lengths", small, "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400, "bad_request")
	f("length and chunks", small, "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400, "bad_request")
	f("folded header", small, get("/a", "X: a\r\n b"), 400, "bad_request")
	f("CONNECT", small, "CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\n\r\n", 405, "method_not_allowed")
	f("unknown mode", small, get("/a", "X-Epitome-Mode: sideways"), 400, "bad_request")
	f("unknown upstream", small, get("/u/nobody/v1"), 404, "unknown_upstream")
	briefly := func(s *Settings) { s.limits.header, s.limits.bodyIdle = brief, brief }
	f("slow header", briefly, "GET /a HTTP/1.1\r\nHost", 408, "request_timeout")
	f("slow body", briefly,
		"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab", 408, "request_timeout")
}

func TestConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	r := newRig(t, "-- GET /a --\nrepeat\nstatus 200 OK\nbody a\n", func(s *Settings) { s.MaxConnections = 2 })
	first, second := r.dial(), r.dial()
	first.send(get("/a")).answer("GET")
	second.send(get("/a")).answer("GET")
	third := r.dial().send(get("/a")) // waits for another connection to end
	first.vanish("FIN")
	if _, body := third.answer("GET"); body != "a" {
		t.Errorf("got %q", body)
	}
	if n := len(r.upstream.Requests()); n != 3 {
		t.Errorf("the upstream got %d requests", n)
	}
}

func TestIdleUpstreamConnectionsAreClosed(t *testing.T) {
	r := newRig(t, "-- GET /a --\nstatus 200 OK\nbody a\nrepeat\n", func(s *Settings) { s.limits.upstreamIdle = 30 * time.Millisecond })
	r.dial().send(get("/a")).answer("GET")
	r.await("gone 1 EOF")
}
