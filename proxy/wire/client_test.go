package wire

import (
	"errors"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// A connection that was cut waits for nothing more, however long the rest of a request or an answer might take.
func TestCutClientIsNotWaitedFor(t *testing.T) {
	f := func(name string, use func(c *Client) error) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			ours, theirs := net.Pipe()
			defer func() { _ = theirs.Close() }()
			c := &Client{Conn: ours, listener: Listen(nil, 1, time.Hour), ReadIdle: time.Hour}
			c.listener.slots <- struct{}{}
			c.Cut()
			begun := time.Now() // of a clock that goes on only while all wait
			if err := use(c); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(begun) != 0 {
				t.Errorf("%s: %v after %s", name, err, time.Since(begun))
			}
			_ = c.Close()
		})
	}
	f("read", func(c *Client) error {
		_, err := c.Read(make([]byte, 64))
		return err
	})
	f("write", func(c *Client) error {
		_, err := c.Write([]byte("HTTP"))
		return err
	})
}

// An upstream that takes nothing of a request is given up, the later the larger the request is.
func TestUpstreamThatTakesNothingIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		defer func() { _ = theirs.Close() }()
		c := &upstreamConn{Conn: ours, pool: &Pool{limits: Limits{WriteIdle: time.Minute}}}
		begun := time.Now()
		n, err := c.send(Request{Head: []byte("head"), Body: make([]byte, 3*uploadRate)})
		waited := time.Since(begun)
		if n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) || waited != time.Minute+3*time.Second {
			t.Errorf("%d bytes were taken and %v came after %s", n, err, waited)
		}
	})
}
