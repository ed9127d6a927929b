package wire

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Client is a client's connection. It can watch for the client leaving while fasthttp is not reading, and lets an
// exchange answer in fasthttp's place.
//
// Apart from the watching goroutine only the goroutine that serves the connection uses it.
type Client struct {
	net.Conn
	gate *Gate
	free func() // called once, when the connection is closed
	once sync.Once

	answered  bool // an exchange has written its answer itself: drop the empty one that fasthttp writes next
	lingering bool // the client may still be sending when the connection is closed
	tunnelled bool // its end is an end like any other

	request arrival
	ahead   ahead
	cut     atomic.Bool // the proxy stops: nothing more may wait on this connection
	hurried atomic.Bool // likewise, but what is left to say may still be said
	watch   watch
}

// Read reads what has been read ahead first. Where fasthttp asks for the first byte of a request alone, it reads a
// small request whole.
func (c *Client) Read(p []byte) (int, error) {
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
func (c *Client) receive(p []byte) (int, error) {
	if c.request.arriving {
		_ = c.Conn.SetReadDeadline(c.request.began.Add(c.gate.Pace(c.request.bytes)))
		if c.cut.Load() { // looked at behind the deadline, which may have overwritten the one of Cut
			_ = c.Conn.SetReadDeadline(longAgo())
		}
	}
	n, err := c.Conn.Read(p)
	if n > 0 && !c.tunnelled {
		c.request.add(n)
	}
	if err == io.EOF && c.request.arriving {
		err = io.ErrUnexpectedEOF // on a bare EOF fasthttp drops the request without a word, and its room with it
	}
	c.request.note(err)
	return n, err
}

// EndRequest says that a request has been read: the next byte begins another.
func (c *Client) EndRequest() { c.request.arriving, c.request.bytes = false, 0 }

// IsArriving reports whether the first byte of a request has come, and not yet all of it.
func (c *Client) IsArriving() bool { return c.request.arriving }

// HasLeft reports whether the client has closed its side, or reset.
func (c *Client) HasLeft() bool { return c.request.broken }

// SkipNextWrite drops what fasthttp writes next, as the client's answer has been written.
func (c *Client) SkipNextWrite() { c.answered = true }

// LingerOnClose is for a request that was not read whole: its answer is written, and the connection ends only when the
// client has had a while to stop sending.
func (c *Client) LingerOnClose() { c.answered, c.lingering = false, true }

// BeginTunnel ends the time of requests on the connection.
func (c *Client) BeginTunnel() { c.tunnelled = true }

// IsCut reports whether Cut has been called.
func (c *Client) IsCut() bool { return c.cut.Load() }

// Write gives the client the gate's WriteIdle to take p; callers write in small pieces.
func (c *Client) Write(p []byte) (int, error) {
	if c.answered {
		c.answered = false
		return len(p), nil
	}
	_ = c.Conn.SetWriteDeadline(time.Now().Add(c.gate.WriteIdle()))
	switch { // looked at behind the deadline, which may have overwritten the one of Cut or Hurry
	case c.cut.Load():
		_ = c.Conn.SetWriteDeadline(longAgo())
	case c.hurried.Load():
		c.Hurry()
	}
	return c.Conn.Write(p)
}

// lastWords is how long a client that is hurried may take for what is still sent to it.
const lastWords = time.Second

// Hurry gives the client little time for what waits to be sent to it, from any goroutine.
func (c *Client) Hurry() {
	c.hurried.Store(true)
	_ = c.Conn.SetWriteDeadline(time.Now().Add(min(c.gate.WriteIdle(), lastWords)))
}

// Cut ends whatever waits on the connection, from any goroutine.
func (c *Client) Cut() {
	c.cut.Store(true)
	_ = c.Conn.SetDeadline(longAgo())
}

// Close closes the connection; from here on it is not counted.
func (c *Client) Close() error {
	c.once.Do(c.free)
	if c.lingering {
		linger(c.Conn)
	}
	return c.Conn.Close()
}

// Reset cuts the connection so that the client sees an error and not an end.
func (c *Client) Reset() {
	if t, ok := c.Conn.(interface{ SetLinger(int) error }); ok { // TLS, too, ends without a word then
		_ = t.SetLinger(0)
	}
	_ = c.Close()
}
