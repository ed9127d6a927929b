package proxy

import (
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"epitome/event"
)

func TestLimitsAnswerInTheDialectsShape(t *testing.T) {
	t.Parallel()
	f := func(name string, change func(*Settings), request string, status int, code string, says ...string) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, answers(ok("a")), change)
			c := r.dial()
			go func() { _, _ = io.WriteString(c, request) }() // of what is refused not all is taken for ever
			resp, body := c.answer("POST")
			if resp.StatusCode != status || !strings.Contains(body, `"code":"`+code+`"`) ||
				!strings.Contains(body, `"type":"epitome_error"`) {
				t.Errorf("got %s %s, want %d %s", resp.Status, body, status, code)
			}
			if e := r.event(); e.Fault != event.Refused || e.Status != status || e.Err == "" ||
				!strings.Contains(e.Err, strings.Join(says, "")) {
				t.Errorf("event %+v", e)
			}
			r.wantRequests(0)
		})
	}
	small := func(s *Settings) { s.MaxBody = 10 }
	const start = "POST /a HTTP/1.1\r\nHost: x\r\n"
	f("max_body, with a length", small, post("/a", "0123456789a"), 413, "request_too_large")
	f("max_body, in chunks", small, start+"Transfer-Encoding: chunked\r\n\r\nb\r\n0123456789a\r\n0\r\n\r\n", 413,
		"request_too_large")
	f("max_body, still being sent", small, post("/a", strings.Repeat("x", 8<<20)), 413, "request_too_large")
	f("header", small, get("/a", "X: "+strings.Repeat("x", 40_000)), 431, "header_too_large")
	f("not HTTP", small, "HELO there\r\n\r\n", 400, "bad_request")
	f("TLS", small, "\x16\x03\x01\x00\x05\x01\x00\n\x00\x01", 400, "bad_request", "http://")
	f("HTTP/2", small, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, "bad_request", "speaks HTTP/2")
	f("two lengths", small, start+"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400, "bad_request")
	f("length and chunks", small, start+"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400,
		"bad_request")
	f("folded header", small, get("/a", "X: a\r\n b"), 400, "bad_request")
	f("CONNECT", small, "CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\n\r\n", 405, "method_not_allowed")
	f("for another host", small, "GET http://h/a HTTP/1.1\r\nHost: h\r\n\r\n", 405, "method_not_allowed")
	f("unknown mode", small, get("/a", "X-Epitome-Mode: sideways"), 400, "bad_request")
	f("unknown upstream", small, get("/u/nobody/v1"), 404, "unknown_upstream")
	briefly := func(s *Settings) { s.limits.arrive = brief }
	f("slow header", briefly, "GET /a HTTP/1.1\r\nHost", 408, "request_timeout")
	f("slow body", briefly, start+"Content-Length: 5\r\n\r\nab", 408, "request_timeout")
}

// Promise 10.
func TestMaxConnectionsBoundsClients(t *testing.T) {
	t.Parallel()
	r := newRig(t, answers(ok("a")), func(s *Settings) { s.MaxConnections = 2 })
	first, second := r.dial(), r.dial()
	first.send(get("/a")).answer("GET")
	second.send(get("/a")).answer("GET")
	third := r.dial().send(get("/a")) // waits for another connection to end
	first.vanish("FIN")
	if _, body := third.answer("GET"); body != "a" {
		t.Errorf("got %q", body)
	}
	r.wantRequests(3)
}

// brokenOnce fails its second Accept as the system does when too many files are open.
type brokenOnce struct {
	net.Listener
	calls atomic.Int32
}

func (l *brokenOnce) Accept() (net.Conn, error) {
	if l.calls.Add(1) == 2 {
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: syscall.EMFILE}
	}
	return l.Listener.Accept()
}

// Promise 10: the process outlives a moment without a free file.
func TestServingGoesOnAfterTooManyOpenFiles(t *testing.T) {
	t.Parallel()
	up := startProvider(t, answers(ok("a")))
	r := startRigOn(t, &brokenOnce{Listener: listen(t, "127.0.0.1:0")}, up.url())
	for range 2 {
		r.wantBody(get("/a"), "a")
	}
}

func TestIdleUpstreamConnectionsAreClosed(t *testing.T) {
	t.Parallel()
	r := newRig(t, answers(ok("a")), func(s *Settings) { s.limits.upstreamIdle = 30 * time.Millisecond })
	r.ask(get("/a"))
	r.awaitGone()
}

// isFree reports whether no body has room.
func (r *rig) isFree() bool {
	conf := r.proxy.settings.Load().conf
	return r.proxy.rooms.isFree(int64(conf.MaxInFlight/2 - conf.MaxBody))
}

// isFree reports whether all bytes are free.
func (r *rooms) isFree(all int64) bool {
	if len(r.extra) > 0 || !r.free.TryAcquire(all) {
		return false
	}
	r.free.Release(all)
	return true
}

// allGivenBack waits until all room is free.
func (r *rig) allGivenBack() {
	r.tb.Helper()
	r.eventually("all room is given back", r.isFree)
}

// roomy has room for two bodies of 500 KB, beside the one that goes on without.
func roomy(s *Settings) { s.MaxBody, s.MaxInFlight = 1<<20, 4<<20 }

var half = strings.Repeat("x", 500_000)

// fillRoom has bodies hold all room until release, which waits for their answers.
func (r *rig) fillRoom() (release func()) {
	r.tb.Helper()
	held, released := make(chan struct{}), make(chan struct{})
	r.up.onHead(func(c *call) {
		if c.target == "/held" {
			held <- struct{}{}
			<-released
		}
	})
	var holding []*testClient
	for range 3 {
		holding = append(holding, r.dial().send(post("/held", half)))
		<-held
	}
	return func() {
		close(released)
		for _, c := range holding {
			c.answer("POST")
		}
	}
}

// Promise 10.
func TestMaxInFlightBoundsBodies(t *testing.T) {
	t.Parallel()
	r := newRig(t, answers(ok("b")), roomy, func(s *Settings) { s.limits.room = 50 * time.Millisecond })
	release := r.fillRoom()
	resp, text := r.ask(post("/b", half))
	if resp.StatusCode != 503 || resp.Header.Get("Retry-After") == "" || !strings.Contains(text, "max_in_flight") {
		t.Errorf("got %s %v %s", resp.Status, resp.Header, text)
	}
	r.wantBody(post("/b", "small"), "b")
	release()
	r.allGivenBack()
	// Requests whose body never comes whole give their room back, too.
	r.dial().send("POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 500000\r\n\r\nab").vanish("RST")
	r.allGivenBack()
	r.wantBody(post("/b", half), "b")
}

// Bodies of a client get room in the order in which they came, so no large one waits for ever behind small ones; clients
// get it in turn. Where bodies that are half there hold all room together, one goes on without it, so that all of them
// end.
func TestBodiesWaitForRoomInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newRooms(4<<20, 1<<20, time.Hour) // for a megabyte
		taking := func(kilobytes int64, client ...string) (r *room, taken chan error) {
			r, taken = &room{all: all, turn: strings.Join(client, "")}, make(chan error, 1)
			go func() { taken <- r.take(t.Context(), freeBody+kilobytes<<10) }()
			synctest.Wait()
			return r, taken
		}
		want := func(what string, is bool, taken ...chan error) {
			t.Helper()
			synctest.Wait()
			for i, c := range taken {
				if (len(c) == 1) != is {
					t.Errorf("%s: the body %d has room: %v, want %v", what, i, !is, is)
				}
			}
		}
		first, a := taking(500)
		second, b := taking(400)
		extra, c := taking(500)
		want("at first", true, a, b, c)
		large, d := taking(900)
		small, e := taking(100)
		want("small ones pass a large one", false, d, e)
		first.release()
		want("half of the room", false, d, e)
		second.release()
		want("all of it", true, d, e)
		large.release()
		small.release()

		first, a = taking(900)
		second, b = taking(900)
		third, d := taking(900)
		other, e := taking(900, "another client")
		first.release()
		want("the next of the client", true, a, b)
		want("behind it", false, d, e)
		second.release()
		want("another client's turn", true, e)
		want("one client twice", false, d)
		other.release()
		want("the rest", true, d)
		third.release()
		extra.release()
		if !all.isFree(1 << 20) {
			t.Error("not all room is given back")
		}

		first, a = taking(512)
		second, b = taking(512)
		want("two halves", true, a, b)
		var ends sync.WaitGroup
		for _, r := range []*room{first, second} {
			ends.Go(func() {
				if err := r.take(t.Context(), 512<<10); err != nil {
					t.Errorf("bodies wait for each other: %v", err)
				}
				r.release()
			})
		}
		ends.Wait()
		if !all.isFree(1 << 20) {
			t.Error("not all room is given back")
		}
	})
}

// Uploads that declare much and send little are in nobody's way.
func TestSlowUploadsStopNobody(t *testing.T) {
	t.Parallel()
	r := newRig(t, answers(ok("b")))
	for range 60 {
		r.dial().send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 60000000\r\n\r\n" + strings.Repeat("x", 20_000))
	}
	for _, size := range []int{3_000, 2_000_000} {
		c := r.dial()
		go func() { _, _ = c.Write([]byte(post("/b", strings.Repeat("x", size)))) }()
		if resp, _ := c.answer("POST"); resp.StatusCode != 200 {
			t.Errorf("a request of %d bytes got %s", size, resp.Status)
		}
	}
}

func TestStreamsHoldNoBodyInFlight(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	r := newRig(t, func(c *call) {
		c.send(chunkedHead + chunks("a"))
		<-release
		c.send(lastChunk)
	}, roomy)
	for range 4 {
		r.dial().send(post("/s", half)).expect("HTTP/1.1 200 OK\r\n")
	}
	r.allGivenBack()
	close(release)
}
