package proxy

import (
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"epitome/event"
	"epitome/internal/unit"
)

// Promise 9: a cut stream stays cut, wherever it is cut and however.
func TestCutAnswerIsNeverCompleted(t *testing.T) {
	const head, body = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "3\r\nabc\r\n4;x=1\r\ndefg\r\n0\r\nT: 1\r\n\r\n"
	whole := head + body
	var script strings.Builder
	for _, how := range []string{"hangup", "reset"} {
		for i := range len(whole) {
			fmt.Fprintf(&script, "-- GET /%s/%d --\n", how, i)
			if i > 0 {
				fmt.Fprintf(&script, "raw %s\n", strconv.Quote(whole[:i]))
			}
			script.WriteString(how + "\n")
		}
	}
	r := newRig(t, script.String())
	for _, how := range []string{"hangup", "reset"} {
		for i := range len(whole) {
			r.checkCut(fmt.Sprintf("/%s/%d", how, i), whole[:i], len(head))
		}
	}
}

// checkCut asks for target and expects what the upstream sent of its answer, and then an end that is no end.
func (r *rig) checkCut(target, sent string, headSize int) {
	r.tb.Helper()
	c := r.dial().send(get(target, "Connection: close"))
	all, _ := io.ReadAll(c.br)
	got := strings.Replace(string(all), "Connection: close\r\n", "", 1)
	e := r.event()
	if len(sent) < headSize {
		if !strings.HasPrefix(got, "HTTP/1.1 502 Bad Gateway\r\n") || e.Fault != event.Broken {
			r.tb.Errorf("%s: cut within the head: client got %q, event %+v; want a 502", target, got, e)
		}
		return
	}
	// A reset may take bytes with it that had been sent before.
	reset := strings.HasPrefix(target, "/reset")
	if got != sent && (!reset || !strings.HasPrefix(sent, got) && !strings.HasPrefix(got, "HTTP/1.1 502")) {
		r.tb.Errorf("%s: client got %q, want %q", target, got, sent)
	}
	if e.Fault != event.Truncated && (!reset || e.Fault != event.Broken) {
		r.tb.Errorf("%s: event %+v, want fault truncated", target, e)
	}
}

func TestCutAnswersOfOtherFramingsStayCut(t *testing.T) {
	t.Parallel()
	f := func(script, want string) {
		t.Helper()
		r := newRig(t, script)
		c := r.dial().send(get("/a")).expect(want)
		r.upstream.Release("read") // not before, so that what was sent stands alone
		rest, err := io.ReadAll(c.br)
		if len(rest) > 0 || strings.Contains(want, "close") && err == nil { // there, only an error shows the cut
			t.Errorf("after %q the client got %q and the end %v", want, rest, err)
		}
		if e := r.event(); e.Fault != event.Truncated {
			t.Errorf("event %+v, want fault truncated", e)
		}
	}
	f("-- GET /a --\nstatus 200 OK\nheader Content-Length: 9\nbody abc\nhangup\n", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc")
	f("-- GET /a --\nno-length\nstatus 200 OK\nbody abc\nawait read\nreset\n", "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabc")
	f("-- GET /a --\nraw \"HTTP/1.1 200 OK\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n1\\r\\na\\r\\n\"\nawait read\nraw \"oops\\r\\n\"\nawait-close\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n")
}

// Promise 9: a client that leaves ends its upstream call at once, in whatever phase it is.
func TestClientGoneClosesTheUpstream(t *testing.T) {
	phases := []struct {
		name, script, reached string
		body                  int
	}{
		{"before the first byte", "-- POST /a --\nawait-close\n", "waiting 1 close", 10},
		{"in mid-stream, idle", "-- POST /a --\nstatus 200 OK\nheader Transfer-Encoding: chunked\nraw \"1\\r\\na\\r\\n\"\nawait-close\n", "waiting 1 close", 10},
		{"in mid-stream, flowing", "-- POST /a --\nstatus 200 OK\nheader Transfer-Encoding: chunked\n" +
			strings.Repeat("raw \"1\\r\\na\\r\\n\"\npause 1ms\n", 8000) + "await-close\n", "sent 1 raw 3", 10},
		{"in a body that the upstream does not read", "-- POST /a --\nstop-reading\nawait-close\n", "request 1", 32 << 20},
	}
	for _, phase := range phases {
		for _, how := range []string{"FIN", "RST"} {
			t.Run(phase.name+" "+how, func(t *testing.T) {
				noLeaks(t)
				r := newRig(t, phase.script)
				c := r.dial().send(post("/a", strings.Repeat("x", phase.body)))
				r.await(phase.reached)
				c.vanish(how)
				r.await("gone 1")
				if e := r.event(); e.Fault != event.ClientGone {
					t.Errorf("event %+v, want fault client_gone", e)
				}
				if trace := r.trace(); slices.Contains(trace, "sent 1 raw 8000") || slices.Contains(trace, "accept 2") {
					t.Errorf("the upstream was called to the end, or again: %q", trace[len(trace)-3:])
				}
			})
		}
	}
}

func TestClientGoneEndsADial(t *testing.T) {
	noLeaks(t)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	r := startRig(t, "https://"+ln.Addr().String())
	c := r.dial().send(get("/a"))
	up, err := ln.Accept() // and never shake hands
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = up.Close() }()
	_, _ = up.Read(make([]byte, 1)) // the client hello has begun to arrive
	c.vanish("FIN")
	_ = up.SetReadDeadline(time.Now().Add(patience))
	if _, err := io.Copy(io.Discard, up); err != nil && strings.Contains(err.Error(), "timeout") {
		t.Fatalf("the dial was not ended: %v", err)
	}
	if e := r.event(); e.Fault != event.ClientGone {
		t.Errorf("event %+v, want fault client_gone", e)
	}
}

func TestStaleConnectionIsNoticedBeforeUse(t *testing.T) {
	t.Parallel()
	r := newRig(t, "-- POST /a --\nstatus 200 OK\nbody a\nhangup\n-- POST /a --\nstatus 200 OK\nbody b\n")
	c := r.dial()
	c.send(post("/a", "1")).answer("POST")
	r.await("closed 1")
	if _, body := c.send(post("/a", "2")).answer("POST"); body != "b" {
		t.Errorf("got %q", body)
	}
	if n := len(r.upstream.Requests()); n != 2 {
		t.Errorf("the upstream got %d requests, want 2", n)
	}
}

func TestRequestThatMayHaveArrivedIsNotSentAgain(t *testing.T) {
	t.Parallel()
	f := func(ending, status string, fault event.Fault) {
		t.Helper()
		r := newRig(t, "-- POST /a --\nstatus 200 OK\nbody a\n-- POST /a --\n"+ending+"\n-- POST /a --\nstatus 200 OK\nbody twice\n")
		c := r.dial()
		c.send(post("/a", "1")).answer("POST")
		resp, body := c.send(post("/a", "2")).answer("POST")
		if resp.Status != status || !strings.Contains(body, `"type":"epitome_error"`) || len(r.upstream.Requests()) != 2 {
			t.Errorf("%s: got %s %q after %d requests", ending, resp.Status, body, len(r.upstream.Requests()))
		}
		if r.event(); r.event().Fault != fault {
			t.Errorf("%s: the event has another fault than %s", ending, fault)
		}
	}
	f("hangup", "502 Bad Gateway", event.Broken)
	f("reset", "502 Bad Gateway", event.Broken)
	f("raw \"HTTP/1.1 200\"\nhangup", "502 Bad Gateway", event.Broken)
	f("raw \"nonsense\\r\\n\\r\\n\"\nhangup", "502 Bad Gateway", event.Broken)
}

func TestUnreachableUpstream(t *testing.T) {
	r := startRig(t, "http://127.0.0.1:1") // where nothing listens
	resp, body := r.dial().send(get("/a")).answer("GET")
	if resp.StatusCode != 502 || !strings.Contains(body, "check its url and your network") {
		t.Errorf("got %s %s", resp.Status, body)
	}
	if e := r.event(); e.Fault != event.Unreachable || e.Status != 502 {
		t.Errorf("event %+v", e)
	}
}

func TestSilenceIsBounded(t *testing.T) {
	t.Parallel()
	brief := unit.Duration(brief)
	t.Run("before the first byte", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, "-- GET /a --\nawait-close\n", func(s *Settings) { s.FirstByteTimeout = brief })
		if resp, _ := r.dial().send(get("/a")).answer("GET"); resp.StatusCode != 504 {
			t.Errorf("got %s, want 504", resp.Status)
		}
		r.await("gone 1")
	})
	t.Run("within the answer", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, "-- GET /a --\nstatus 200 OK\nheader Transfer-Encoding: chunked\nraw \"1\\r\\na\\r\\n\"\nawait-close\n",
			func(s *Settings) { s.ReadIdle = brief })
		c := r.dial().send(get("/a"))
		got, err := io.ReadAll(c.br)
		if !strings.HasSuffix(string(got), "\r\n\r\n1\r\na\r\n") {
			t.Errorf("client got %q (%v)", got, err)
		}
		r.await("gone 1")
	})
	t.Run("of a client that takes nothing", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, "-- GET /a --\nstatus 200 OK\nbody-size 50000000 x\n", func(s *Settings) { s.limits.writeIdle = brief.D() })
		r.dial().send(get("/a"))
		r.await("gone 1")
		if e := r.event(); e.Fault != event.ClientSlow {
			t.Errorf("event %+v, want fault client_slow", e)
		}
	})
	t.Run("of a flowing stream is none", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, "-- GET /a --\nstatus 200 OK\n"+strings.Repeat("chunk a\npause 300ms\n", 20)+"end\n",
			func(s *Settings) { s.ReadIdle = brief })
		if _, body := r.dial().send(get("/a")).answer("GET"); len(body) != 20 {
			t.Errorf("got %q", body)
		}
	})
}

func TestSlowClientHoldsTheUpstreamBack(t *testing.T) {
	r := newRig(t, "-- GET /a --\nstatus 200 OK\nbody-size 64000000 x\n")
	c := r.dial().send(get("/a"))
	r.await("sent 1 head")
	time.Sleep(100 * time.Millisecond)
	if slices.Contains(r.trace(), "sent 1 body 1") {
		t.Fatal("the upstream could send 64 MB to a client that reads nothing")
	}
	if _, body := c.answer("GET"); len(body) != 64000000 {
		t.Errorf("got %d bytes", len(body))
	}
}

func TestPanicFailsOneExchange(t *testing.T) {
	t.Parallel()
	r := newRig(t, "-- GET /a --\nstatus 200 OK\nbody a\n")
	good := r.proxy.settings.Load()
	r.proxy.settings.Store(&settings{conf: good.conf}) // no table: choosing an upstream panics
	if resp, body := r.dial().send(get("/a")).answer("GET"); resp.StatusCode != 500 || !strings.Contains(body, "bug") {
		t.Errorf("got %s %s", resp.Status, body)
	}
	if e := r.event(); e.Fault != event.Panic {
		t.Errorf("event %+v", e)
	}
	r.proxy.settings.Store(good)
	if _, body := r.dial().send(get("/a")).answer("GET"); body != "a" {
		t.Errorf("afterwards got %q", body)
	}
	r.event()
	if n := r.proxy.InFlight(); n != 0 {
		t.Errorf("%d exchanges are still counted", n)
	}
}
