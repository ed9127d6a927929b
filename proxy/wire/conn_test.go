package wire

import (
	"errors"
	"net"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// slowConn takes so many bytes of each write before its deadline, which it waits for.
type slowConn struct {
	net.Conn
	takes  []int // for each write; without more of them all
	writes int
	until  time.Time
	got    strings.Builder
}

func (c *slowConn) SetWriteDeadline(t time.Time) error {
	c.until = t
	return nil
}

func (c *slowConn) SetReadDeadline(time.Time) error { return nil }

func (c *slowConn) Write(p []byte) (int, error) {
	c.writes++
	if len(c.takes) == 0 {
		return c.got.Write(p)
	}
	n := min(c.takes[0], len(p))
	c.takes = c.takes[1:]
	c.got.Write(p[:n])
	if n < len(p) {
		time.Sleep(time.Until(c.until))
		return n, os.ErrDeadlineExceeded
	}
	return n, nil
}

func TestBodiesAreHandedOverWhole(t *testing.T) {
	c := &slowConn{}
	body := strings.Repeat("x", 800<<10)
	n, err := (&upstreamConn{Conn: c, pool: &Pool{}}).send(Request{Head: []byte("head"), Body: []byte(body)})
	if err != nil || n != int64(4+len(body)) || c.got.String() != "head"+body {
		t.Fatalf("%d bytes, %v", n, err)
	}
	if c.writes != 2 { // a socket takes both with one
		t.Errorf("%d writes for head and body; want 2", c.writes)
	}
}

func TestUpstreamHasATimeForEachPiece(t *testing.T) {
	const second, piece = time.Second, sendPiece
	f := func(size int, gone time.Duration, takes ...int) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			c, body, begun := &slowConn{takes: append([]int{1}, takes...)}, strings.Repeat("x", size), time.Now()
			conn := &upstreamConn{Conn: c, pool: &Pool{Limits: Limits{WriteIdle: second}}}
			n, err := conn.send(Request{Head: []byte("h"), Body: []byte(body)})
			took, givenUp := time.Since(begun), errors.Is(err, os.ErrDeadlineExceeded)
			if givenUp != (gone > 0) || givenUp && took != gone ||
				int64(c.got.Len()) != n || gone == 0 && n != int64(size)+1 {
				t.Errorf("of writes that take %d: %d of %d bytes in %s, %v", takes, n, size, took, err)
			}
		})
	}
	f(8, 0, 1, 1, 2)
	f(8, second, 1, 1, 1, 1, 1)
	f(8, second, 0, 0, 0, 0, 0)
	f(5*piece, 0, piece, piece, piece, piece)
	f(5*piece, 0, piece/3, piece/3, piece/3, piece/4, piece/4, piece/4, piece/4)
	f(5*piece, second, piece/8, piece/8, piece/8, piece/8, piece/8)
	f(9*piece, second*5/4, 3*piece, 1, 1, 1, 1, 1, 1) // what goes into the socket's own room at once
}
