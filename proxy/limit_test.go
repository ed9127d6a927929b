package proxy

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"epitome/event"
	"epitome/internal/unit"
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
	briefly := func(s *Settings) { s.limits.header = brief }
	f("slow header", briefly, "GET /a HTTP/1.1\r\nHost", 408, "request_timeout")
	f("slow body", briefly,
		"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab", 408, "request_timeout")
}

func TestBytesInFlightAreBounded(t *testing.T) {
	body := strings.Repeat("x", 800)
	r := newRig(t, "-- POST /held --\nearly\nawait go\nread-body\nstatus 200 OK\nbody a\n-- POST /b --\nstatus 200 OK\nbody b\nrepeat\n", hurried, func(s *Settings) {
		s.MaxBody, s.MaxInFlight = unit.KB, unit.KB
	})
	held := r.dial().send(post("/held", body))
	r.await("waiting 1 go")
	resp, text := r.dial().send(post("/b", body)).answer("POST")
	if resp.StatusCode != 503 || resp.Header.Get("Retry-After") == "" || !strings.Contains(text, "max_in_flight") {
		t.Errorf("got %s %v %s", resp.Status, resp.Header, text)
	}
	if _, text := r.dial().send(post("/b", "small")).answer("POST"); text != "b" {
		t.Errorf("a small request got %q", text)
	}
	r.upstream.Release("go")
	held.answer("POST")
	r.allGivenBack()
	// What was held is given back, also by requests whose body never came whole.
	half := r.dial().send("POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nab")
	r.eventually("the head of the half has been read", func() bool { n, _ := r.proxy.admission.Load(); return n == 1 })
	half.vanish("RST")
	for range 3 {
		r.allGivenBack()
		if _, text := r.dial().send(post("/b", body)).answer("POST"); text != "b" {
			t.Errorf("afterwards got %q", text)
		}
	}
}

func TestStreamsHoldNoBodyInFlight(t *testing.T) {
	t.Parallel()
	body := strings.Repeat("x", 800)
	r := newRig(t, "-- POST /s --\nrepeat\nstatus 200 OK\nchunk a\nawait go\nend\n", func(s *Settings) {
		s.MaxBody, s.MaxInFlight = unit.KB, unit.KB
	})
	clients := make([]*client, 4)
	for i := range clients {
		clients[i] = r.dial().send(post("/s", body))
		r.await(fmt.Sprintf("waiting %d go", i+1))
	}
	r.upstream.Release("go")
	for _, c := range clients {
		if resp, _ := c.answer("POST"); resp.StatusCode != 200 {
			t.Errorf("got %s", resp.Status)
		}
	}
}

func TestConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	r := newRig(t, "-- GET /a --\nrepeat\nstatus 200 OK\nbody a\n", func(s *Settings) { s.MaxConnections = 2 })
	first, second := r.dial(), r.dial()
	first.send(get("/a")).answer("GET")
	second.send(get("/a")).answer("GET")
	third := r.dial()
	if resp, body := third.answer("GET"); resp.StatusCode != 503 || !strings.Contains(body, "max_connections") {
		t.Errorf("got %s %s", resp.Status, body)
	}
	third.expectEOF()
	first.vanish("FIN")
	r.eventually("a closed connection is not counted", func() bool {
		next := r.dial()
		defer next.vanish("FIN")
		_, _ = io.WriteString(next, get("/a")) // who is turned away is not waited for
		_, body := next.answer("GET")
		return body == "a"
	})
}

func TestIdleUpstreamConnectionsAreClosed(t *testing.T) {
	r := newRig(t, "-- GET /a --\nstatus 200 OK\nbody a\nrepeat\n", func(s *Settings) { s.limits.upstreamIdle = 30 * time.Millisecond })
	r.dial().send(get("/a")).answer("GET")
	r.await("gone 1 EOF")
}
