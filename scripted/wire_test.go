package scripted_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"epitome/scripted"
	"epitome/scripted/scriptedtest"
)

const get = "GET /x HTTP/1.1\r\nHost: h\r\n\r\n"

// patience bounds every wait of these tests; it is long because machines can be busy.
const patience = 2 * time.Minute

// lasting returns a context for waits that must not hang.
func lasting(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

func await(t *testing.T, u *scripted.Upstream, prefix string) {
	t.Helper()
	if err := u.Await(lasting(t), prefix); err != nil {
		t.Fatal(err)
	}
}

func dial(t *testing.T, u *scripted.Upstream, request string) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp", u.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	say(t, c, request)
	return c.(*net.TCPConn)
}

func say(t *testing.T, c net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
}

// hear reads exactly the bytes of want.
func hear(t *testing.T, c net.Conn, want string) {
	t.Helper()
	got := make([]byte, len(want))
	n, err := io.ReadFull(c, got)
	if string(got[:n]) != want {
		t.Fatalf("got %q (%v); want %q", got[:n], err, want)
	}
}

// hearEnd reads want and then FIN.
func hearEnd(t *testing.T, c net.Conn, want string) {
	t.Helper()
	got, err := io.ReadAll(c)
	if string(got) != want || err != nil {
		t.Fatalf("got %q (%v); want %q", got, err, want)
	}
}

// stillOpen fails unless c is open and silent.
func stillOpen(t *testing.T, c net.Conn) {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
	n, err := c.Read(make([]byte, 1))
	if n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("read %d bytes, %v; want an open connection and silence", n, err)
	}
	_ = c.SetReadDeadline(time.Now().Add(patience))
}

func TestAnswersOnTheWire(t *testing.T) {
	const ended = "keep-alive off\n" // so that what follows the answer is seen to be nothing
	for _, tt := range []struct{ name, lines, want string }{
		{"status only", "status 204 No Content", "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"},
		{"no reason", "status 200", "HTTP/1.1 200 \r\nContent-Length: 0\r\nConnection: close\r\n\r\n"},
		{"odd reason", `status 299 "  So  so "`,
			"HTTP/1.1 299   So  so \r\nContent-Length: 0\r\nConnection: close\r\n\r\n"},
		{"headers raw and in order", "status 200 OK\nheader b: 1\nheader A:2\nheader \"b:  3 \"\nbody hi",
			"HTTP/1.1 200 OK\r\nb: 1\r\nA:2\r\nb:  3 \r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi"},
		{"own framing", "status 200 OK\nheader content-length: 9\nheader Connection: x\nbody hi",
			"HTTP/1.1 200 OK\r\ncontent-length: 9\r\nConnection: x\r\n\r\nhi"},
		{"body parts", "status 200 OK\nflush\nbody  a b  \nbody-size 3 z\nbody-size 2\nbody-file f\nbody \"\\r\\n\\x00\"",
			"HTTP/1.1 200 OK\r\nContent-Length: 16\r\nConnection: close\r\n\r\na bzzzxxdata\n\r\n\x00"},
		{"no length", "no-length\nstatus 200 OK\nbody hi", "HTTP/1.1 200 OK\r\n\r\nhi"},
		{"chunks", "status 200 OK\nchunk hello world 16bb\nchunk-size 17 y\nchunk-file f\nevent {}\nend",
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n" +
				"10\r\nhello world 16bb\r\n11\r\nyyyyyyyyyyyyyyyyy\r\n5\r\ndata\n\r\na\r\ndata: {}\n\n\r\n0\r\n\r\n"},
		{"trailers", "status 200 OK\nchunk a\ntrailer X: 1\ntrailer x:2\nend",
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n1\r\na\r\n0\r\nX: 1\r\nx:2\r\n\r\n"},
		{"interim", "interim 103 Early Hints\nheader Link: l\ninterim 102\nstatus 200 OK",
			"HTTP/1.1 103 Early Hints\r\nLink: l\r\n\r\nHTTP/1.1 102 \r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"},
		{"raw", "raw \"HTTP/1.1 200\\n\"\nraw-size 2 q\nraw-file f", "HTTP/1.1 200\nqqdata\n"},
		{"raw body", "status 200 OK\nraw x", "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nx"},
		{"closing without a body", "status 200 OK\nhangup", "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"},
		{"pause", "status 200 OK\npause 1ms\n# nothing\n\nbody x",
			"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx"},
		{"hangup", "hangup", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			u := scriptedtest.Start(t, "-- GET /x --\n"+ended+tt.lines+"\n-- file:f --\ndata\n")
			hearEnd(t, dial(t, u, get), tt.want)
			if left := u.UnplayedSections(); left != nil {
				t.Errorf("unplayed: %q", left)
			}
		})
	}
}

func TestHeadHasNoFramingOfItsOwn(t *testing.T) {
	u := scriptedtest.Start(t, "-- HEAD /x --\nkeep-alive off\nstatus 200 OK\nheader A: b\n")
	hearEnd(t, dial(t, u, "HEAD /x HTTP/1.1\r\n\r\n"), "HTTP/1.1 200 OK\r\nA: b\r\nConnection: close\r\n\r\n")
}

func TestEachChunkIsOneWrite(t *testing.T) {
	u := scriptedtest.Start(t, "-- GET /x --\nstatus 200 OK\nchunk a\nawait next\nchunk b\nend\n")
	c := dial(t, u, get)
	hear(t, c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n")
	stillOpen(t, c)
	u.Release("next")
	u.Release("next")
	hear(t, c, "1\r\nb\r\n0\r\n\r\n")
}

func TestKeepAliveAndOrderOfSections(t *testing.T) {
	u := scriptedtest.Start(t, `
-- GET /x --
status 200 OK
body 1
-- GET /x --
status 200 OK
body 2
-- * /* --
repeat
status 404 Not Found
`)
	c := dial(t, u, get+get+"PUT /y?a=b HTTP/1.1\r\nContent-Length: 1\r\n\r\nz"+get)
	hear(t, c, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1")
	hear(t, c, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n2")
	for range 2 {
		hear(t, c, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
	}
	stillOpen(t, c)
	if n := len(u.Requests()); n != 4 {
		t.Fatalf("%d requests; want 4", n)
	}
	if got := u.Requests()[2]; got.Target != "/y?a=b" || string(got.Body) != "z" || got.Conn != 1 {
		t.Fatalf("got %+v", got)
	}
}

func TestClientThatWantsNoKeepAlive(t *testing.T) {
	for _, request := range []string{
		"GET /x HTTP/1.0\r\n\r\n",
		"GET /x HTTP/1.1\r\nConnection: te, Close\r\n\r\n",
	} {
		u := scriptedtest.Start(t, "-- GET /x --\nstatus 200 OK\nbody a\n")
		hearEnd(t, dial(t, u, request), "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na")
	}
}

func TestReset(t *testing.T) {
	u := scriptedtest.Start(t, "-- GET /x --\nstatus 200 OK\nchunk a\nawait read\nreset\n")
	c := dial(t, u, get)
	hear(t, c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n")
	u.Release("read")
	_, err := c.Read(make([]byte, 1))
	if !errors.Is(err, syscall.ECONNRESET) {
		t.Fatalf("got %v; want a reset", err)
	}
	await(t, u, "closed 1")
}

func TestUpgradeEchoes(t *testing.T) {
	u := scriptedtest.Start(t, "-- GET /x --\nstatus 101 Switching Protocols\nheader Upgrade: echo\nupgrade\n")
	c := dial(t, u, get+"early")
	hear(t, c, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\n\r\nearly")
	big := strings.Repeat("0123456789", 30000)
	go func() { _, _ = io.WriteString(c, big); _ = c.CloseWrite() }()
	hearEnd(t, c, big)
	await(t, u, "closed 1")
	wantTrace(t, u, "accept 1", "request 1 GET /x", "body 1 0", "sent 1 head 101", "upgraded 1", "gone 1 EOF",
		"closed 1")
}

func TestLargeChunkIsExact(t *testing.T) {
	u := scriptedtest.Start(t, "-- GET /x --\nkeep-alive off\nstatus 200 OK\nchunk-size 5000000 w\nend\n")
	got, err := io.ReadAll(dial(t, u, get))
	if err != nil {
		t.Fatal(err)
	}
	want := "4c4b40\r\n" + strings.Repeat("w", 5000000) + "\r\n0\r\n\r\n"
	if !bytes.HasSuffix(got, []byte("\r\n\r\n"+want)) {
		t.Fatalf("%d bytes do not end in the chunk of %d", len(got), len(want))
	}
}

func wantTrace(t *testing.T, u *scripted.Upstream, want ...string) {
	t.Helper()
	if got := u.Trace(); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Fatalf("got trace\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}
