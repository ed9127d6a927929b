// Package wire is HTTP/1.1 as a transparent proxy needs it: heads, bodies in chunks and in content codings, the
// connections of clients, those to upstreams, and tunnels.
//
// It passes on what it reads to the byte, takes no cut answer for a complete one, and refuses what could be read in
// two ways. Whatever waits here has a deadline, and a Call or a Client that is cut waits for nothing.
package wire

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"epitome/event"
)

// Call is the upstream side of one exchange. It can be cut from any goroutine, at any time and more than once:
// whatever the exchange is waiting for upstream then fails at once. The zero value is ready.
type Call struct {
	mu    sync.Mutex
	isCut bool
	stop  func() // ends what is under way; nil between two connections
}

// OnCut says what ends the thing that is under way now. A call that is cut already ends it at once.
func (c *Call) OnCut(stop func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stop = stop; c.isCut && stop != nil {
		stop()
	}
}

// Cut ends what is under way, and everything that begins from now on.
func (c *Call) Cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.isCut = true
	if c.stop != nil {
		c.stop() // under the lock: after OnCut(nil) the connection belongs to another exchange
	}
}

// IsCut reports whether Cut has been called.
func (c *Call) IsCut() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.isCut
}

// Failure is why no answer came, or not the whole one: whose fault it is, and the error.
type Failure struct {
	Fault event.Fault
	Err   error
}

func (f *Failure) Error() string { return f.Err.Error() }

func (f *Failure) Unwrap() error { return f.Err }

// ErrGone is the error of everything that ends because the client has left.
var ErrGone = errors.New("the client closed its connection")

// Do sends the request and reads the head of its answer. It sends the request a second time only if not a byte of it
// can have arrived: over a connection that had been used before and took nothing. The error is a *Failure, or one of
// out.Interim.
func (c *Call) Do(p *Pool, out Request) (*Answer, error) {
	for {
		conn, err := p.take(c)
		switch {
		case c.IsCut() && err != nil:
			return nil, &Failure{event.ClientGone, ErrGone}
		case err != nil:
			return nil, &Failure{event.Unreachable, err}
		}
		c.OnCut(conn.cut)
		n, err := conn.send(out)
		if err != nil && n == 0 && conn.reused && !c.IsCut() {
			c.OnCut(nil)
			conn.drop()
			continue
		}
		out.Sent(conn.reused)
		a, err := c.answer(conn, out, err)
		if err != nil {
			c.OnCut(nil)
			conn.drop()
		}
		return a, err
	}
}

const (
	earlyAnswer = time.Second // what an upstream that stopped reading a request is given to say why
	maxInterim  = 16          // heads before the answer's own
)

// answer reads the answer's head, handing on those that come before it. sendErr is why the request was not taken
// whole; nil if it was.
func (c *Call) answer(conn *upstreamConn, out Request, sendErr error) (*Answer, error) {
	wait := out.FirstByte
	if sendErr != nil {
		wait = earlyAnswer
	}
	for range maxInterim {
		_ = conn.SetReadDeadline(time.Now().Add(wait))
		head, err := readHead(conn.reader)
		switch {
		case c.IsCut():
			return nil, &Failure{event.ClientGone, ErrGone}
		case err != nil && sendErr != nil:
			return nil, &Failure{event.Broken, sendErr}
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil, &Failure{event.Timeout, err}
		case errors.Is(err, io.EOF):
			return nil, &Failure{event.Broken, errors.New("the upstream closed the connection without an answer")}
		case err != nil:
			return nil, &Failure{event.Broken, err}
		case head.Code >= 200 || head.Code == 101 && out.Upgrade:
			head.closing = head.closing || sendErr != nil
			return &Answer{Head: head, Empty: head.bodiless(out.ToHead), ReadIdle: out.ReadIdle, conn: conn,
				left: head.Length, dechunk: out.Dechunk}, nil
		case head.Code == 101:
			return nil, &Failure{event.Broken, errors.New("the upstream switched protocols without being asked")}
		}
		if err := out.Interim(head); err != nil {
			return nil, err
		}
	}
	return nil, &Failure{event.Broken, errors.New("the upstream sent one interim answer after another")}
}
