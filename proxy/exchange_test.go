package proxy

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"epitome/event"
)

func TestRequestGoesOnAsItCame(t *testing.T) {
	t.Parallel()
	r := newRig(t, answers(noContent))
	f := func(in, want string) {
		t.Helper()
		r.ask(in)
		if head, body := r.got(); head+body != want {
			t.Errorf("upstream got\n%q, want\n%q", head+body, want)
		}
	}
	odd := "PURGE //v1/a%2Fb/../c?x=%zz&u=http://h/#f HTTP/1.1\r\nx-b: 2\r\nhOST: HOST\r\nX-A:1\r\nx-b:  3 \r\n" +
		"cookie: a=1\r\nCookie: b=2\r\nX-Empty:\r\nX-Latin: \xe9\r\n\r\n"
	f(strings.Replace(odd, "HOST: HOST", "HOST: x", 1), odd)
	f("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", "OPTIONS * HTTP/1.1\r\nHost: HOST\r\n\r\n")
	f("GET /a HTTP/1.0\r\n\r\n", "GET /a HTTP/1.1\r\nHost: HOST\r\n\r\n")
	f(get("/a", "X-Epitome-Mode: off", "x-epitome-compact: now", "X: 1"),
		"GET /a HTTP/1.1\r\nHost: HOST\r\nX: 1\r\n\r\n")
	form := post("/a", "--b\r\n--b--", "Content-Type: multipart/form-data; boundary=b")
	f(form, strings.Replace(form, "Host: x", "Host: HOST", 1))
}

func TestConnectionsAreKeptOnBothSides(t *testing.T) {
	t.Parallel()
	r := newRig(t, answers(chunkedHead+chunks("hello")+lastChunk))
	c := r.dial()
	for i := range 3 {
		c.wantBody(get(fmt.Sprintf("/%d", i)), "hello")
	}
	c.send(get("/p1") + get("/p2")) // pipelined
	c.answer("GET")
	c.answer("GET")
	for _, q := range r.up.requests() {
		if q.conn != 1 {
			t.Errorf("%s went over upstream connection %d, want 1", q.target, q.conn)
		}
	}
	if resp, _ := c.send(get("/last", "Connection: close")).answer("GET"); !resp.Close {
		t.Error("the last answer does not say that the connection ends")
	}
	c.expectEOF()
}

func TestOldClientsGetNoChunks(t *testing.T) {
	t.Parallel()
	r := newRig(t, answers(chunkedHead+chunks("abc", "def")+lastChunk, ok("abc")))
	r.dial().send("GET /a HTTP/1.0\r\n\r\n").expect("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabcdef").expectEOF()
	r.dial().send("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").expect(ok("abc")[:len(ok("abc"))-5] +
		"Connection: keep-alive\r\n\r\nabc")
}

// Bytes behind an answer belong to no later exchange.
func TestBytesNobodyAskedForAreNoAnswer(t *testing.T) {
	t.Parallel()
	r := newRig(t, answers(noContent+ok("SECRET")))
	for range 5 {
		if resp, body := r.ask(get("/a")); resp.StatusCode != 204 {
			t.Fatalf("got %s %q, which belongs to the exchange before", resp.Status, body)
		}
	}
}

func TestOwnPathsAreNotForwarded(t *testing.T) {
	t.Parallel()
	r := newRig(t, answers(ok("up")))
	for in, want := range map[string]string{
		get("/-/a?b=c"): "own GET /-/a?b=c", get("/-/stream"): "onetwo",
		get("/-"): "up",
	} {
		r.wantBody(in, want)
	}
	c := r.dial()
	if resp, _ := c.send(get("/-/panic")).answer("GET"); resp.StatusCode != 500 {
		t.Errorf("a panic under /-/ gave %s", resp.Status)
	}
	// A client of HTTP/1.0 gets a stream as it comes, too, and its end with that of the connection.
	const head = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
	old := func(path string) *testClient { return r.dial().send("GET " + path + " HTTP/1.0\r\n\r\n").expect(head) }
	old("/-/wait")
	old("/-/stream").expect("onetwo").expectEOF()
	if _, err := io.ReadAll(old("/-/abort").br); err == nil {
		t.Error("an answer to HTTP/1.0 that broke off ended well")
	}
	c = r.dial().send(get("/-/abort")) // a cut stream stays cut
	if resp, err := http.ReadResponse(c.br, nil); err != nil {
		t.Error(err)
	} else if body, err := io.ReadAll(resp.Body); err == nil {
		t.Errorf("an answer that broke off ended well, as %q", body)
	}
}

// Promise 4.
func TestPanicFailsOneExchange(t *testing.T) {
	t.Parallel()
	r := newRig(t, answers(ok("a")))
	good := r.proxy.settings.Load()
	r.proxy.settings.Store(&settings{conf: good.conf}) // no table: choosing an upstream panics
	if resp, body := r.ask(get("/a")); resp.StatusCode != 500 || !strings.Contains(body, "bug") {
		t.Errorf("got %s %s", resp.Status, body)
	}
	r.wantFault(event.Panic)
	r.proxy.settings.Store(good)
	r.wantBody(get("/a"), "a")
	r.event()
	if n := r.proxy.InFlight(); n != 0 {
		t.Errorf("%d exchanges are still counted", n)
	}
}

// breaking is a listener whose connections panic once in the method that a test names.
type breaking struct {
	net.Listener
	in atomic.Value
}

type brittle struct {
	net.Conn
	in *atomic.Value
}

func (b *breaking) Accept() (net.Conn, error) {
	c, err := b.Listener.Accept()
	return brittle{c, &b.in}, err
}

func (c brittle) breaks(in string) {
	if c.in.CompareAndSwap(in, "") {
		panic("asked for")
	}
}

func (c brittle) RemoteAddr() net.Addr        { c.breaks("RemoteAddr"); return c.Conn.RemoteAddr() }
func (c brittle) Read(p []byte) (int, error)  { c.breaks("Read"); return c.Conn.Read(p) }
func (c brittle) Write(p []byte) (int, error) { c.breaks("Write"); return c.Conn.Write(p) }

// Promise 4, where an exchange begins and ends, and in both directions of a tunnel.
func TestPanicAroundAnExchangeFailsItAlone(t *testing.T) {
	t.Parallel()
	up := startProvider(t, func(c *call) {
		if c.target == "/a" {
			c.send(ok("a"))
			return
		}
		c.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n")
		_, _ = io.Copy(c, c.br) // echo
		c.hangUp()
	})
	ln := &breaking{Listener: listen(t, "127.0.0.1:0")}
	ln.in.Store("")
	r := startRigOn(t, ln, up.url(), func(s *Settings) { s.MaxConnections = 1 })
	f := func(in, request string) {
		t.Helper()
		c := r.dial()
		if strings.Contains(request, "Upgrade") {
			c.send(request + "ping")
			_, _ = readRawHead(c.br)
			c.expect("ping")
		}
		ln.in.Store(in)
		_, _ = io.ReadAll(c.send(request).br)
		if _, body := r.ask(get("/a", "Connection: close")); ln.in.Load() != "" || body != "a" {
			t.Errorf("%s of %q: afterwards got %q", in, request, body)
		}
		r.eventually("no exchange is counted", func() bool { return r.proxy.InFlight() == 0 })
	}
	f("RemoteAddr", get("/a"))
	f("RemoteAddr", "GET /a\r\nno head\r\n\r\n")
	f("Write", get("/u/none/a"))
	f("Read", get("/tunnel", "Connection: Upgrade", "Upgrade: x"))
	f("Write", get("/tunnel", "Connection: Upgrade", "Upgrade: x"))
}
