package wire

import (
	"errors"
	"log/slog"
	"net"
	"os"
	"sync"
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
			c := &Client{Conn: ours, listener: Listen(nil, 1, time.Hour, slog.New(slog.DiscardHandler))}
			c.BeginBody(time.Hour)
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

// A body may come late, but not slowly for ever, however its bytes are dealt out. The wait for room is not the client's.
func TestTrickledBodyIsGivenUp(t *testing.T) {
	const slack = 30 * time.Second
	f := func(name string, piece int, pause, between time.Duration, pieces int, whole bool) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			ours, theirs := net.Pipe()
			var sending sync.WaitGroup
			defer sending.Wait()
			sending.Go(func() {
				defer func() { _ = theirs.Close() }()
				for i := range pieces {
					if i > 0 {
						time.Sleep(pause)
					}
					if _, err := theirs.Write(make([]byte, piece)); err != nil {
						return
					}
				}
			})
			c := &Client{Conn: ours}
			c.BeginBody(slack)
			got, begun, buffer := 0, time.Now(), make([]byte, 1<<20)
			for {
				n, err := c.Read(buffer)
				got += n
				if err == nil {
					time.Sleep(between)
					continue
				}
				isLate := errors.Is(err, os.ErrDeadlineExceeded)
				if isLate == whole || whole != (got == piece*pieces) {
					t.Errorf("%s: %d bytes came in %s, then %v", name, got, time.Since(begun), err)
				}
				break
			}
			_ = ours.Close()
		})
	}
	f("a byte now and then", 1, 15*time.Second, 0, 1000, false)
	f("a hundred bytes a second", 100, time.Second, 0, 1000, false)
	f("all at once, then nothing", 16<<20, 31*time.Second, 0, 2, false)
	f("a slow line", 10<<10, time.Second, 0, 1000, true)
	f("a pause", 10<<10, 25*time.Second, 0, 2, true)
	f("a fast line that waits for room", 1<<20, time.Second, time.Minute, 20, true)
}

// An upstream that takes nothing of a request is given up, the later the larger the request is.
func TestUpstreamThatTakesNothingIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		defer func() { _ = theirs.Close() }()
		c := &upstreamConn{Conn: ours, pool: &Pool{limits: Limits{WriteIdle: time.Minute}}}
		begun := time.Now()
		n, err := c.send([]byte("head"), make([]byte, 3*uploadRate))
		waited := time.Since(begun)
		if n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) || waited != time.Minute+3*time.Second {
			t.Errorf("%d bytes were taken and %v came after %s", n, err, waited)
		}
	})
}
