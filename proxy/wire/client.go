package wire

import (
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"time"
)

// Client is a client's connection. It can watch for the client leaving while fasthttp is not reading, and lets an
// exchange answer in fasthttp's place.
//
// Apart from the watching goroutine only the goroutine that serves the connection uses it, unless a method says
// otherwise.
type Client struct {
	net.Conn
	listener *Listener
	closed   atomic.Bool

	answered  bool // an exchange has written its answer itself: drop the empty one that fasthttp writes next
	lingering bool // the client may still be sending when the connection is closed
	tunnelled bool // no requests come over it any more
	cut       atomic.Bool

	arriving bool      // the first byte of a request has come, and not yet all of it
	inBody   bool      // its head has come
	began    time.Time // when the first byte came
	left     error     // the client has closed its side, or reset

	watch   *time.Timer   // begins to read while an exchange is under way; nil while fasthttp reads
	watched chan struct{} // closed when that reading has ended
	ahead   *byte         // was read by the watch, and belongs to the next request
}

// longAgo is a deadline that ends what waits at once.
func longAgo() time.Time { return time.Unix(1, 0) }

// Read reads from the client, within the time that the head of a request has, or that its body may pause.
func (c *Client) Read(p []byte) (n int, err error) {
	switch {
	case len(p) > 0 && c.ahead != nil:
		p[0], c.ahead = *c.ahead, nil
		n = 1
	case c.left != nil:
		return 0, c.left
	default:
		switch {
		case c.inBody:
			_ = c.Conn.SetReadDeadline(time.Now().Add(c.listener.BodyIdle))
		case c.arriving:
			_ = c.Conn.SetReadDeadline(c.began.Add(c.listener.HeadTime))
		}
		if c.cut.Load() { // the new deadline may have overwritten the one of Cut
			_ = c.Conn.SetReadDeadline(longAgo())
		}
		n, err = c.Conn.Read(p)
	}
	if c.tunnelled {
		return n, err
	}
	if n > 0 && !c.arriving {
		c.arriving, c.began = true, time.Now()
	}
	if err == io.EOF && c.arriving {
		err = io.ErrUnexpectedEOF // after a bare EOF fasthttp drops the request without calling anyone
	}
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		c.left = err
	}
	return n, err
}

// BeginBody says that the head of a request has been read, and that a body follows.
func (c *Client) BeginBody() { c.inBody = true }

// EndRequest says that a request has been read: the next byte begins another.
func (c *Client) EndRequest() { c.arriving, c.inBody = false, false }

// IsArriving reports whether the first byte of a request has come, and not yet all of it.
func (c *Client) IsArriving() bool { return c.arriving }

// HasLeft reports whether the client has closed its side, or reset.
func (c *Client) HasLeft() bool { return c.left != nil }

// SkipNextWrite drops what fasthttp writes next, as the client's answer has been written.
func (c *Client) SkipNextWrite() { c.answered = true }

// LingerOnClose is for a request that was not read whole: its answer is written, and the connection ends only when the
// client has had a while to stop sending.
func (c *Client) LingerOnClose() { c.answered, c.lingering = false, true }

// BeginTunnel says that what comes from now on is no request.
func (c *Client) BeginTunnel() { c.tunnelled = true }

// IsCut reports whether Cut has been called.
func (c *Client) IsCut() bool { return c.cut.Load() }

// Write gives the client the listener's WriteIdle to take p; callers write in small pieces.
func (c *Client) Write(p []byte) (int, error) {
	if c.answered {
		c.answered = false
		return len(p), nil
	}
	_ = c.Conn.SetWriteDeadline(time.Now().Add(c.listener.WriteIdle))
	if c.cut.Load() { // the new deadline may have overwritten the one of Cut
		_ = c.Conn.SetWriteDeadline(longAgo())
	}
	return c.Conn.Write(p)
}

// Cut ends whatever waits on the connection, and whatever would wait from now on. Any goroutine may call it.
func (c *Client) Cut() {
	c.cut.Store(true)
	_ = c.Conn.SetDeadline(longAgo())
}

// Close closes the connection; from here on it is not counted.
func (c *Client) Close() error {
	if !c.closed.Swap(true) {
		if c.lingering {
			linger(c.Conn)
		}
		c.listener.open.Add(-1)
	}
	return c.Conn.Close()
}

// Reset cuts the connection so that the client sees an error and not an end.
func (c *Client) Reset() {
	if t, ok := c.Conn.(interface{ SetLinger(int) error }); ok { // TLS, too, ends without close_notify then
		_ = t.SetLinger(0)
	}
	_ = c.Close()
}

// watchAfter is how long an exchange may run before its client is watched. Most of the cost of a watch is a second
// goroutine, and an exchange that ends sooner has nothing to gain from it.
const watchAfter = 5 * time.Millisecond

// Watch calls gone, on a goroutine of its own, if the client closes or resets the connection before Unwatch. A client
// that only ends its sending side counts as gone, as it does everywhere in Go. After a pipelined byte the watch sees no
// further, until the next request.
func (c *Client) Watch(gone func()) {
	switch {
	case c.left != nil:
		gone()
		return
	case c.ahead != nil:
		return
	}
	_ = c.Conn.SetReadDeadline(time.Time{}) // takes away the one that the reading of the request has left
	c.watched = make(chan struct{})
	c.watch = time.AfterFunc(watchAfter, func() {
		defer close(c.watched)
		var b [1]byte
		switch n, err := c.Conn.Read(b[:]); {
		case n > 0:
			c.ahead = &b[0]
		case err != nil && !errors.Is(err, os.ErrDeadlineExceeded): // Unwatch and Cut set a deadline
			c.left = err
			gone()
		}
	})
}

// Unwatch ends the watch; afterwards the connection is read as if there had been none.
func (c *Client) Unwatch() {
	if c.watch != nil && !c.watch.Stop() {
		_ = c.Conn.SetReadDeadline(longAgo())
		<-c.watched
		_ = c.Conn.SetReadDeadline(time.Time{})
	}
	c.watch = nil
}
