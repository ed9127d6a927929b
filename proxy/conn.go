package proxy

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// clientConn is a client's connection. It can watch for the client leaving while fasthttp is not reading, and lets an
// exchange answer in fasthttp's place.
//
// Apart from the watching goroutine only the goroutine that serves the connection uses it.
type clientConn struct {
	net.Conn
	gate *gate
	free func() // called once, when the connection is closed
	once sync.Once

	answered  bool // an exchange has written its answer itself: drop the empty one that fasthttp writes next
	lingering bool // the client may still be sending when the connection is closed
	tunnelled bool // its end is an end like any other

	request  arrival
	ahead    ahead
	cut      atomic.Bool // the proxy stops: nothing more may wait on this connection
	watching *watcher    // nil when no watch is on
}

func (c *clientConn) Read(p []byte) (int, error) {
	switch {
	case len(c.ahead.bytes) > 0:
		return c.ahead.take(p), nil
	case c.ahead.err != nil:
		return 0, c.ahead.err
	case c.request.arriving || c.tunnelled || len(p) != 1:
		return c.receive(p)
	}
	n, err := c.receive(c.ahead.takeRoom())
	c.ahead.fill(n)
	return c.ahead.take(p), err
}

// receive reads from the client, at the pace that a request must have.
func (c *clientConn) receive(p []byte) (int, error) {
	if c.request.arriving {
		_ = c.Conn.SetReadDeadline(c.request.began.Add(c.gate.pace(c.request.bytes)))
	}
	n, err := c.Conn.Read(p)
	if n > 0 && !c.tunnelled {
		c.request.add(n)
	}
	if err == io.EOF && c.request.arriving {
		err = io.ErrUnexpectedEOF // fasthttp drops a request that ends in a bare EOF without a word, and its room with it
	}
	c.request.note(err)
	return n, err
}

// endRequest says that a request has been read: the next byte begins another.
func (c *clientConn) endRequest() { c.request.arriving, c.request.bytes = false, 0 }

// isArriving reports whether the first byte of a request has come, and not yet all of it.
func (c *clientConn) isArriving() bool { return c.request.arriving }

// hasLeft reports whether the client has closed its side, or reset.
func (c *clientConn) hasLeft() bool { return c.request.broken }

// skipNextWrite drops what fasthttp writes next, as the client's answer has been written.
func (c *clientConn) skipNextWrite() { c.answered = true }

// lingerOnClose is for a request that was not read whole: its answer is written, and the connection ends only when the
// client has had a while to stop sending.
func (c *clientConn) lingerOnClose() { c.answered, c.lingering = false, true }

// beginTunnel ends the time of requests on the connection.
func (c *clientConn) beginTunnel() { c.tunnelled = true }

// isCut reports whether cutNow has been called.
func (c *clientConn) isCut() bool { return c.cut.Load() }

// Write gives the client the gate's writeIdle to take p; callers write in small pieces.
func (c *clientConn) Write(p []byte) (int, error) {
	if c.answered {
		c.answered = false
		return len(p), nil
	}
	_ = c.Conn.SetWriteDeadline(time.Now().Add(c.gate.writeIdle()))
	if c.cut.Load() { // looked at behind the deadline, which may have overwritten the one of cutNow
		_ = c.Conn.SetWriteDeadline(longAgo)
	}
	return c.Conn.Write(p)
}

// cutNow ends whatever waits on the connection, from any goroutine.
func (c *clientConn) cutNow() {
	c.cut.Store(true)
	_ = c.Conn.SetDeadline(longAgo)
}

// Close closes the connection; from here on it is not counted.
func (c *clientConn) Close() error {
	c.once.Do(c.free)
	if c.lingering {
		linger(c.Conn)
	}
	return c.Conn.Close()
}

// reset cuts the connection so that the client sees an error and not an end.
func (c *clientConn) reset() {
	if t, ok := c.Conn.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
	_ = c.Close()
}
