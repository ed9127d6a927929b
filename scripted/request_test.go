package scripted_test

import (
	"errors"
	"io"
	"net"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"epitome/scripted"
	"epitome/scripted/scriptedtest"
)

const okEmpty = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

// start does what scriptedtest.Start does, for tests that expect problems.
func start(t *testing.T, archive string) *scripted.Upstream {
	t.Helper()
	s, err := scripted.Parse([]byte(archive))
	if err != nil {
		t.Fatal(err)
	}
	u, err := scripted.Start(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(u.Close)
	return u
}

func TestRequestIsKeptAsItCame(t *testing.T) {
	u := scriptedtest.Start(t, "-- POST //a%2Fb?c=d --\nexpect-body hello\nstatus 200 OK\n")
	head := "POST //a%2Fb?c=d HTTP/1.1\r\nhost:x\r\nX-A:  1 \r\nx-a: 2\r\nTransfer-Encoding: Chunked\r\n\r\n"
	c := dial(t, u, head+"2;ext=1\r\nhe\r\n03\r\nllo\r\n0\r\nT: 1\r\n\r\n")
	hear(t, c, okEmpty)
	want := scripted.Request{
		Method:   "POST",
		Target:   "//a%2Fb?c=d",
		Proto:    "HTTP/1.1",
		Header:   [][2]string{{"host", "x"}, {"X-A", "1"}, {"x-a", "2"}, {"Transfer-Encoding", "Chunked"}},
		RawHead:  []byte(head),
		Body:     []byte("hello"),
		Trailer:  [][2]string{{"T", "1"}},
		Conn:     1,
		Complete: true,
	}
	if got := u.Requests(); len(got) != 1 || !reflect.DeepEqual(got[0], want) {
		t.Fatalf("got %+v\nwant %+v", got, want)
	}
}

func TestExpectations(t *testing.T) {
	const request = "POST /x HTTP/1.1\r\nA: 1\r\nb: 2\r\nContent-Length: 5\r\n\r\nhell\n"
	for _, tt := range []struct{ line, want string }{
		{"expect-header A: 1", ""},
		{"expect-header b:2", ""},
		{"expect-header B: 2", `got headers ["b: 2"]; want "B: 2"`},
		{"expect-header A: 2", `got headers ["A: 1"]; want "A: 2"`},
		{"expect-header C: 2", `got headers []; want "C: 2"`},
		{"expect-no-header C", ""},
		{"expect-no-header B", `got header "b: 2"; want none of this name`},
		{`expect-body "hell\n"`, ""},
		{"expect-body help", `got a body of 5 bytes, want 4; from byte 3 on got "l\n", want "p"`},
		{"expect-body-file f", ""},
		{"expect-body-size 5", ""},
		{"expect-body-size 6", "got a body of 5 bytes; want 6"},
	} {
		t.Run(tt.line, func(t *testing.T) {
			u := start(t, "-- POST /x --\n"+tt.line+"\nstatus 200 OK\n-- file:f --\nhell\n")
			hear(t, dial(t, u, request), okEmpty)
			var want []string
			if tt.want != "" {
				want = []string{"section POST /x (line 1), line 2: " + tt.want}
			}
			if got := u.Problems(); !reflect.DeepEqual(got, want) {
				t.Fatalf("got problems %q; want %q", got, want)
			}
		})
	}
}

func TestRequestWithoutSection(t *testing.T) {
	u := start(t, "-- GET /x --\nstatus 200 OK\n-- GET /never --\nstatus 200 OK\n")
	c := dial(t, u, get+get)
	hear(t, c, okEmpty)
	why := "there is no section left for GET /x"
	hearEnd(t, c, "HTTP/1.1 599 No Section\r\nContent-Type: text/plain\r\nContent-Length: 36\r\nConnection: close\r\n\r\n"+why+"\n")
	if got := u.Problems(); len(got) != 1 || got[0] != why {
		t.Fatalf("got problems %q", got)
	}
	if got := u.UnplayedSections(); len(got) != 1 || got[0] != "GET /never (line 3)" {
		t.Fatalf("got unplayed %q", got)
	}
}

func TestMalformedRequests(t *testing.T) {
	for _, tt := range []struct{ request, want string }{
		{"GET /x HTTP/1.1\n\n", "line without CR"},
		{"GET  /x HTTP/1.1\r\n\r\n", "request line"},
		{"GET /x HTTP/2.0\r\n\r\n", "request line"},
		{"G(T /x HTTP/1.1\r\n\r\n", "request line"},
		{"\r\n", "empty line"},
		{"GET /x HTTP/1.1\r\nA: 1\r\n folded\r\n\r\n", "header line"},
		{"GET /x HTTP/1.1\r\nA : 1\r\n\r\n", "header line"},
		{"GET /x HTTP/1.1\r\nContent-Length: -1\r\n\r\n", "Content-Length"},
		{"GET /x HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", "more than one framing"},
		{"GET /x HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "more than one framing"},
		{"GET /x HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", "Transfer-Encoding"},
		{"GET /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "chunk size"},
		{"GET /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n", "chunk of 1 bytes"},
		{"GET /x HTTP/1.1\r\nA: " + strings.Repeat("a", 1<<20) + "\r\n\r\n", "more than"},
	} {
		t.Run(tt.want, func(t *testing.T) {
			u := start(t, "-- * * --\nrepeat\nstatus 200 OK\n")
			c := dial(t, u, tt.request)
			hear(t, c, "HTTP/1.1 400 Bad Request\r\n")
			_ = c.Close()
			await(t, u, "closed 1")
			if got := u.Problems(); len(got) != 1 || !strings.Contains(got[0], tt.want) {
				t.Fatalf("got problems %q; want one on %q", got, tt.want)
			}
		})
	}
}

func TestClientGoneInItsBody(t *testing.T) {
	u := scriptedtest.Start(t, "-- POST /x --\nstatus 200 OK\n")
	c := dial(t, u, "POST /x HTTP/1.1\r\nContent-Length: 5\r\n\r\nhel")
	_ = c.Close()
	await(t, u, "closed 1")
	wantTrace(t, u, "accept 1", "request 1 POST /x", "gone 1 EOF", "closed 1")
	if r := u.Requests()[0]; r.Complete || string(r.Body) != "hel" {
		t.Fatalf("got body %q, complete %v", r.Body, r.Complete)
	}
}

func TestExpectContinue(t *testing.T) {
	const head = "POST /x HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
	t.Run("automatic", func(t *testing.T) {
		u := scriptedtest.Start(t, "-- POST /x --\nexpect-body hi\nstatus 200 OK\n")
		c := dial(t, u, head)
		hear(t, c, "HTTP/1.1 100 Continue\r\n\r\n")
		say(t, c, "hi")
		hear(t, c, okEmpty)
		await(t, u, "sent 1 continue")
	})
	t.Run("scripted", func(t *testing.T) {
		u := scriptedtest.Start(t, "-- POST /x --\nearly\ninterim 100 Go\nread-body\nexpect-body hi\nstatus 200 OK\n")
		c := dial(t, u, head)
		hear(t, c, "HTTP/1.1 100 Go\r\n\r\n")
		stillOpen(t, c)
		say(t, c, "hi")
		hear(t, c, okEmpty)
		stillOpen(t, c)
	})
	t.Run("refused", func(t *testing.T) {
		u := scriptedtest.Start(t, "-- POST /x --\nearly\nstatus 417\n")
		hearEnd(t, dial(t, u, head), "HTTP/1.1 417 \r\nContent-Length: 0\r\n\r\n")
	})
}

func TestEarlyAnswer(t *testing.T) {
	u := scriptedtest.Start(t, "-- POST /x --\nearly\nexpect-body hello\nstatus 200 OK\n-- GET /x --\nstatus 200 OK\n")
	c := dial(t, u, "POST /x HTTP/1.1\r\nContent-Length: 5\r\n\r\nhe")
	hear(t, c, okEmpty)
	say(t, c, "llo"+get)
	hear(t, c, okEmpty)
	if err := u.AwaitN(lasting(t), 2, "sent 1 head 200"); err != nil {
		t.Fatal(err)
	}
	wantTrace(t, u, "accept 1", "request 1 POST /x", "sent 1 head 200", "body 1 5",
		"request 1 GET /x", "body 1 0", "sent 1 head 200")
}

func TestEarlyHangupIsNoReset(t *testing.T) {
	u := scriptedtest.Start(t, "-- POST /x --\nearly\nstatus 413\nbody no\nhangup\n")
	c := dial(t, u, "POST /x HTTP/1.1\r\nContent-Length: 9999999\r\n\r\n"+strings.Repeat("x", 500000))
	hearEnd(t, c, "HTTP/1.1 413 \r\nContent-Length: 2\r\n\r\nno")
	say(t, c, strings.Repeat("x", 500000))
	_ = c.Close()
	await(t, u, "closed 1")
}

// fill writes to c until it takes no more for a while and returns how much it took.
func fill(c net.Conn, most int) int {
	total := 0
	for total < most {
		_ = c.SetWriteDeadline(time.Now().Add(200 * time.Millisecond))
		n, err := c.Write(make([]byte, 1<<16))
		total += n
		if err != nil {
			break
		}
	}
	_ = c.SetWriteDeadline(time.Now().Add(patience))
	return total
}

func TestStopReading(t *testing.T) {
	const size = 100 << 20
	u := scriptedtest.Start(t, "-- POST /x --\nstop-reading\nstatus 200 OK\nawait go\nhangup\n")
	c := dial(t, u, "POST /x HTTP/1.1\r\nContent-Length: 104857600\r\n\r\n")
	hear(t, c, "HTTP/1.1 200 OK\r\n\r\n")
	if n := fill(c, size); n == size {
		t.Fatal("the whole body was taken")
	}
	u.Release("go")
	await(t, u, "closed 1")
	if r := u.Requests()[0]; r.Complete || len(r.Body) > 0 {
		t.Fatalf("got %d bytes of body, complete %v", len(r.Body), r.Complete)
	}
}

func TestAwaitCloseDrainsAfterStopReading(t *testing.T) {
	u := scriptedtest.Start(t, "-- POST /x --\nstop-reading\nstatus 200 OK\nawait-close\n")
	c := dial(t, u, "POST /x HTTP/1.1\r\nContent-Length: 104857600\r\n\r\n")
	hear(t, c, "HTTP/1.1 200 OK\r\n\r\n")
	say(t, c, strings.Repeat("x", 30<<20))
	_ = c.Close()
	await(t, u, "gone 1 EOF")
	await(t, u, "closed 1")
}

func TestSlowRead(t *testing.T) {
	const size = 64 << 20
	u := scriptedtest.Start(t, "-- POST /x --\nslow-read 1000 1ms\nstatus 200 OK\n-- POST /y --\nslow-read 2 0s\nexpect-body hello\nstatus 200 OK\n")
	c := dial(t, u, "POST /x HTTP/1.1\r\nContent-Length: 67108864\r\n\r\n")
	_ = c.SetWriteDeadline(time.Now().Add(300 * time.Millisecond))
	if _, err := c.Write(make([]byte, size)); err == nil {
		t.Fatal("64 MB were taken at once")
	}
	hear(t, dial(t, u, "POST /y HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello"), okEmpty)
}

func TestAwaitCloseTellsHow(t *testing.T) {
	for _, reset := range []bool{false, true} {
		u := scriptedtest.Start(t, "-- GET /x --\nstatus 200 OK\nchunk a\nawait-close\n")
		c := dial(t, u, get)
		hear(t, c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n")
		await(t, u, "waiting 1 close")
		how := "gone 1 EOF"
		if reset {
			how = "gone 1 reset"
			_ = c.SetLinger(0)
		}
		_ = c.Close()
		await(t, u, "closed 1")
		wantTrace(t, u, "accept 1", "request 1 GET /x", "body 1 0", "sent 1 head 200",
			"sent 1 chunk 1", "waiting 1 close", how, "closed 1")
	}
}

// While it waits, a section sees its peer leave, pipelined bytes or not.
func TestGoneWhileWaiting(t *testing.T) {
	for _, more := range []string{"", get} {
		u := scriptedtest.Start(t, "-- GET /x --\nawait never\nstatus 200 OK\n")
		c := dial(t, u, get+more)
		await(t, u, "waiting 1 never")
		_ = c.Close()
		await(t, u, "gone 1 EOF")
		wantTrace(t, u, "accept 1", "request 1 GET /x", "body 1 0", "waiting 1 never", "gone 1 EOF")
	}
}

func TestGoneWhileWriting(t *testing.T) {
	u := scriptedtest.Start(t, "-- GET /x --\nstatus 200 OK\nchunk-size 30000000\nend\n")
	c := dial(t, u, get)
	await(t, u, "sent 1 head")
	_ = c.SetLinger(0)
	_ = c.Close()
	await(t, u, "closed 1")
	trace := u.Trace()
	// A write that comes after the one which met the reset finds a broken pipe, which is told as an end.
	if last := trace[len(trace)-2:]; last[0] != "gone 1 reset" && last[0] != "gone 1 EOF" {
		t.Fatalf("trace ends in %q", last)
	}
}

func TestResetIsSeenByPeerWithUnreadData(t *testing.T) {
	u := scriptedtest.Start(t, "-- GET /x --\nreset\n")
	_, err := io.ReadAll(dial(t, u, get))
	if !errors.Is(err, syscall.ECONNRESET) {
		t.Fatalf("got %v; want a reset", err)
	}
}
