package proxy

import (
	"fmt"
	"strings"
	"testing"

	"epitome/event"
)

func TestUntouchedAnswerIsIdentical(t *testing.T) {
	t.Parallel()
	f := func(name, request, script, want string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			r := newRig(t, script)
			r.dial().send(request).expect(want)
		})
	}
	f("reason and odd spelling", get("/a"), `
-- GET /a --
status 299 Quite fine, thanks
header x-UPPER: 1
header Server: s
header DATE: long ago
header server: again
header set-cookie: a=1
header content-type: text/x
header set-Cookie: b=2
header CONTENT-length: 3
raw abc
`, "HTTP/1.1 299 Quite fine, thanks\r\nx-UPPER: 1\r\nServer: s\r\nDATE: long ago\r\nserver: again\r\nset-cookie: a=1\r\n"+
		"content-type: text/x\r\nset-Cookie: b=2\r\nCONTENT-length: 3\r\n\r\nabc")
	f("no reason, no content type", get("/a"), "-- GET /a --\nraw \"HTTP/1.1 200\\r\\nContent-Length: 0\\r\\n\\r\\n\"\n",
		"HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n")
	f("chunks, extensions and trailers", get("/a"), `
-- GET /a --
raw "HTTP/1.1 200 OK\r\nTransfer-Encoding: CHUNKED\r\nTrailer: x-sum\r\n\r\n0003;ext=\"1\"\r\nabc\r\n1\r\nd\r\n0\r\nx-sum: 9\r\n\r\n"
`, "HTTP/1.1 200 OK\r\nTransfer-Encoding: CHUNKED\r\nTrailer: x-sum\r\n\r\n0003;ext=\"1\"\r\nabc\r\n1\r\nd\r\n0\r\nx-sum: 9\r\n\r\n")
	f("answer of an HTTP/1.0 server", get("/a"), "-- GET /a --\nraw \"HTTP/1.0 200 Fine\\r\\nContent-Length: 1\\r\\n\\r\\na\"\nhangup\n",
		"HTTP/1.1 200 Fine\r\nContent-Length: 1\r\n\r\na")
}

func TestBodyUntilCloseEndsTheClientConnection(t *testing.T) {
	r := newRig(t, "-- GET /a --\nno-length\nstatus 200 OK\nbody abc\n")
	r.dial().send(get("/a")).expect("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabc").expectEOF()
	if e := r.event(); e.Fault != event.None || e.ResponseBytes != 3 {
		t.Errorf("event %+v, want no fault and 3 bytes", e)
	}
}

func TestRequestGoesOnAsItCame(t *testing.T) {
	t.Parallel()
	f := func(name, in, want string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			r := newRig(t, "-- * /* --\nstatus 204 No Content\nrepeat\n-- * * --\nstatus 204 No Content\nrepeat\n")
			r.dial().send(in).answer("GET")
			q := r.upstream.Requests()[0]
			want = strings.ReplaceAll(want, "HOST", r.upstream.Addr())
			if got := string(q.RawHead) + string(q.Body); got != want {
				t.Errorf("upstream got\n%q, want\n%q", got, want)
			}
		})
	}
	f("raw target, spelling, order, duplicates",
		"PURGE //v1/a%2Fb/../c?x=%zz&u=http://h/#f HTTP/1.1\r\nx-b: 2\r\nhOST: x\r\nX-A:1\r\nx-b:  3 \r\ncookie: a=1\r\nCookie: b=2\r\nX-Empty:\r\nX-Latin: \xe9\r\n\r\n",
		"PURGE //v1/a%2Fb/../c?x=%zz&u=http://h/#f HTTP/1.1\r\nx-b: 2\r\nhOST: HOST\r\nX-A:1\r\nx-b:  3 \r\ncookie: a=1\r\nCookie: b=2\r\nX-Empty:\r\nX-Latin: \xe9\r\n\r\n")
	f("absolute target", "GET http://other/a?b HTTP/1.1\r\nHost: x\r\n\r\n", "GET /a?b HTTP/1.1\r\nHost: HOST\r\n\r\n")
	f("asterisk", "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", "OPTIONS * HTTP/1.1\r\nHost: HOST\r\n\r\n")
	f("own headers come off", "GET /a HTTP/1.1\r\nHost: x\r\nX-Epitome-Mode: off\r\nx-epitome-compact: now\r\nX: 1\r\n\r\n", "GET /a HTTP/1.1\r\nHost: HOST\r\nX: 1\r\n\r\n")
	f("HTTP/1.0", "GET /a HTTP/1.0\r\n\r\n", "GET /a HTTP/1.1\r\nHost: HOST\r\n\r\n")
	f("multipart stays whole", "POST /a HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 10\r\n\r\n--b\r\n--b--",
		"POST /a HTTP/1.1\r\nHost: HOST\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 10\r\n\r\n--b\r\n--b--")
}

func TestExpectContinueIsAnsweredHere(t *testing.T) {
	t.Parallel()
	r := newRig(t, "-- POST /a --\nexpect-no-header expect\nexpect-body hi\nstatus 200 OK\nbody a\n")
	c := r.dial().send("POST /a HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
	c.expect("HTTP/1.1 100 Continue\r\n\r\n").send("hi").expect("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na")
}

func TestConnectionsAreKeptOnBothSides(t *testing.T) {
	r := newRig(t, "-- GET /* --\nrepeat\nstatus 200 OK\nchunk hello\nend\n")
	c := r.dial()
	for i := range 3 {
		if _, body := c.send(get(fmt.Sprintf("/%d", i))).answer("GET"); body != "hello" {
			t.Fatalf("got body %q", body)
		}
	}
	c.send(get("/p1") + get("/p2")) // pipelined
	c.answer("GET")
	c.answer("GET")
	for _, q := range r.upstream.Requests() {
		if q.Conn != 1 {
			t.Errorf("%s went over upstream connection %d, want 1", q.Target, q.Conn)
		}
	}
	c.send(get("/last", "Connection: close"))
	if resp, _ := c.answer("GET"); !resp.Close {
		t.Error("the last answer does not say that the connection ends")
	}
	c.expectEOF()
}

func TestOldClientsGetNoChunks(t *testing.T) {
	t.Parallel()
	r := newRig(t, "-- GET /chunks --\nstatus 200 OK\nchunk abc\nchunk def\nend\n-- GET /length --\nstatus 200 OK\nbody abc\n")
	r.dial().send("GET /chunks HTTP/1.0\r\n\r\n").expect("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabcdef").expectEOF()
	r.dial().send("GET /length HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").
		expect("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: keep-alive\r\n\r\nabc")
}

func TestModeSaysWhetherAnswersCarryOurHeaders(t *testing.T) {
	t.Parallel()
	f := func(mode, lines, want string) {
		t.Helper()
		r := newRig(t, "-- GET /a --\nstatus 200 OK\nbody a\n", func(s *Settings) { s.Mode = mode })
		r.dial().send("GET /a HTTP/1.1\r\nHost: x\r\n" + lines + "\r\n").expect("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n" + want + "\r\na")
	}
	f(event.ModeOff, "", "")
	f(event.ModeOn, "", "x-epitome-action: none\r\n")
	f(event.ModeObserve, "", "x-epitome-action: none\r\n")
	f(event.ModeOn, "x-epitome-mode: off\r\n", "")
	f(event.ModeOff, "X-Epitome-Mode: On\r\n", "x-epitome-action: none\r\n")
}
