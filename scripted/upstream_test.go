package scripted_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"epitome/scripted"
	"epitome/scripted/scriptedtest"
)

func TestWaitsAreBounded(t *testing.T) {
	for _, tt := range []struct{ lines, want string }{
		{"await x\nhangup", "line 2: waited 2s for Release(x)"},
		{"await-close", "line 2: waited 2s for the peer to close"},
		{"status 101\nupgrade", "line 3: nothing to echo for 2s"},
		{"raw-size 30000000", "line 2: the peer did not take it within 2s"},
	} {
		t.Run(tt.lines, func(t *testing.T) {
			t.Parallel()
			s, err := scripted.Parse([]byte("-- GET /x --\n" + tt.lines + "\n"))
			if err != nil {
				t.Fatal(err)
			}
			u, err := scripted.StartImpatient(s, 2*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			defer u.Close()
			dial(t, u, get)
			await(t, u, "closed 1")
			if got := u.Problems(); len(got) != 1 || !strings.HasSuffix(got[0], tt.want) {
				t.Fatalf("got problems %q; want %q", got, tt.want)
			}
		})
	}
}

func TestReleaseBeforeAwait(t *testing.T) {
	u := scriptedtest.Start(t, "-- GET /x --\nawait a\nstatus 200 OK\n")
	u.Release("a")
	hear(t, dial(t, u, get), okEmpty)
}

func TestAwaitMatchesWholeWords(t *testing.T) {
	u := scriptedtest.Start(t, "-- GET /x --\nrepeat\nstatus 200 OK\n")
	hear(t, dial(t, u, get), okEmpty)
	await(t, u, "sent 1")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	err := u.Await(ctx, "se")
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "sent 1 head 200") {
		t.Fatalf("got %v; want a timeout that shows the trace", err)
	}
	go func() { dial(t, u, get) }()
	if err := u.AwaitN(lasting(t), 2, "accept"); err != nil {
		t.Fatal(err)
	}
}

func TestTLS(t *testing.T) {
	u, ca := scriptedtest.StartTLS(t, `
-- GET /x --
status 200 OK
body hi
-- GET /x --
keep-alive off
status 200 OK
body-size 100000
-- GET /y --
raw abc
reset
`)
	if !strings.HasPrefix(u.URL(), "https://127.0.0.1:") {
		t.Fatalf("URL %q", u.URL())
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(ca) {
		t.Fatal("no certificate in the PEM")
	}
	open := func(request string) *tls.Conn {
		c, err := tls.Dial("tcp", u.Addr(), &tls.Config{RootCAs: roots})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		say(t, c, request)
		return c
	}
	c := open(get)
	hear(t, c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
	say(t, c, get)
	hearEnd(t, c, "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\nConnection: close\r\n\r\n"+strings.Repeat("x", 100000))
	if _, err := io.ReadAll(open("GET /y HTTP/1.1\r\n\r\n")); err == nil {
		t.Fatal("a reset looks like an end")
	}
}

// Close ends connections in every state, and all goroutines with them.
func TestCloseLeavesNothingBehind(t *testing.T) {
	u := scriptedtest.Start(t, `
-- GET /await --
await never
status 200 OK
-- GET /pause --
pause 30s
status 200 OK
-- GET /close --
await-close
-- GET /write --
raw-size 30000000
-- GET /echo --
status 101
upgrade
-- POST /stop --
stop-reading
await never
status 200 OK
-- POST /slow --
slow-read 1 30s
status 200 OK
-- POST /early --
early
status 413
hangup
`)
	for _, target := range []string{"/await", "/pause", "/close", "/write", "/echo"} {
		dial(t, u, "GET "+target+" HTTP/1.1\r\n\r\n")
	}
	for _, target := range []string{"/stop", "/slow", "/early"} {
		dial(t, u, "POST "+target+" HTTP/1.1\r\nContent-Length: 100000\r\n\r\n"+strings.Repeat("x", 50000))
	}
	dial(t, u, "GET /half HT")
	dial(t, u, "")
	if err := u.AwaitN(lasting(t), 10, "accept"); err != nil {
		t.Fatal(err)
	}
	if err := u.AwaitN(lasting(t), 8, "request"); err != nil {
		t.Fatal(err)
	}
	closed := make(chan struct{})
	go func() {
		u.Close()
		u.Close()
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(25 * time.Second): // a pause that it did not cut would take thirty
		t.Fatal("Close waits for what it should cut")
	}
	gone := 0
	for _, line := range u.Trace() {
		if strings.HasPrefix(line, "closed ") {
			gone++
		}
	}
	if gone != 10 {
		t.Errorf("%d connections closed; want 10", gone)
	}
	if _, err := net.Dial("tcp", u.Addr()); err == nil {
		t.Error("still listening")
	}
	noGoroutines(t)
}

// noGoroutines fails if any goroutine runs code of an upstream. One whose end
// Close has seen may still be on its way out.
func noGoroutines(t *testing.T) {
	t.Helper()
	var stacks string
	for late := time.Now().Add(patience); time.Now().Before(late); time.Sleep(time.Millisecond) {
		buf := make([]byte, 1<<20)
		stacks = string(buf[:runtime.Stack(buf, true)])
		if !strings.Contains(stacks, "scripted.(*conn)") && !strings.Contains(stacks, "scripted.(*inlet)") &&
			!strings.Contains(stacks, "scripted.(*Upstream)") {
			return
		}
	}
	t.Fatalf("goroutines left:\n%s", stacks)
}

func TestManyConnectionsAtOnce(t *testing.T) {
	u := scriptedtest.Start(t, "-- GET /x --\nrepeat\nstatus 200 OK\nchunk a\nawait all\nend\n")
	const n = 200
	conns := make([]*net.TCPConn, n)
	for i := range conns {
		conns[i] = dial(t, u, get)
	}
	if err := u.AwaitN(lasting(t), n, "waiting"); err != nil {
		t.Fatal(err)
	}
	u.Release("all")
	for _, c := range conns {
		hear(t, c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n")
	}
}
