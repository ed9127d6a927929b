package proxy

import (
	"errors"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

// slowConn takes so many bytes of each write before its deadline.
type slowConn struct {
	net.Conn
	takes  []int // for each write; without more of them all
	writes int
	got    strings.Builder
}

func (c *slowConn) SetWriteDeadline(time.Time) error { return nil }
func (c *slowConn) SetReadDeadline(time.Time) error  { return nil }

func (c *slowConn) Write(p []byte) (int, error) {
	c.writes++
	if len(c.takes) == 0 {
		return c.got.Write(p)
	}
	n := min(c.takes[0], len(p))
	c.takes = c.takes[1:]
	c.got.Write(p[:n])
	if n < len(p) {
		return n, os.ErrDeadlineExceeded
	}
	return n, nil
}

func TestBodiesAreHandedOverWhole(t *testing.T) {
	c := &slowConn{}
	body := strings.Repeat("x", 800<<10)
	n, err := (&upstreamConn{Conn: c, pool: &pool{}}).send(outgoing{head: []byte("head"), body: []byte(body)})
	if err != nil || n != int64(4+len(body)) || c.got.String() != "head"+body {
		t.Fatalf("%d bytes, %v", n, err)
	}
	if c.writes != 2 { // a socket takes both with one
		t.Errorf("%d writes for head and body; want 2", c.writes)
	}
}

func TestUpstreamThatTakesSomethingIsNotGivenUp(t *testing.T) {
	f := func(takes []int, taken int64, fails bool) {
		t.Helper()
		c := &slowConn{takes: takes}
		n, err := (&upstreamConn{Conn: c, pool: &pool{}}).send(outgoing{head: []byte("head"), body: []byte("body")})
		if n != taken || errors.Is(err, os.ErrDeadlineExceeded) != fails || !strings.HasPrefix("headbody", c.got.String()) || int64(c.got.Len()) != n {
			t.Errorf("of writes that take %d: %d bytes, %v, %q", takes, n, err, c.got.String())
		}
	}
	f([]int{1, 1, 2, 3}, 8, false)
	f([]int{4, 1, 0}, 5, true)
	f([]int{0}, 0, true)
}

// firstConn is a client that sends one request and counts how often it is read from.
type firstConn struct {
	slowConn
	reads int
	sends string
}

func (c *firstConn) Read(p []byte) (int, error) {
	c.reads++
	n := copy(p, c.sends)
	c.sends = c.sends[n:]
	return n, nil
}

func TestSmallRequestTakesOneRead(t *testing.T) {
	const text = "POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello"
	from := &firstConn{sends: text}
	c := &clientConn{Conn: from, pace: func(int) time.Duration { return patience }}
	got := make([]byte, 1)
	if n, err := c.Read(got); n != 1 || err != nil { // as fasthttp begins
		t.Fatal(n, err)
	}
	rest := make([]byte, 32<<10)
	n, err := c.Read(rest)
	if err != nil || string(got)+string(rest[:n]) != text || from.reads != 1 {
		t.Errorf("%q after %d reads, %v", string(got)+string(rest[:n]), from.reads, err)
	}
	if c.room != nil || !c.arriving || c.arrived != len(text) {
		t.Errorf("room is kept: %v; arriving %v, %d bytes", c.room != nil, c.arriving, c.arrived)
	}
}
