package wire

import (
	"io"
	"net"
	"sync/atomic"
	"time"
)

// Listener hands out client connections and keeps their number bounded.
type Listener struct {
	net.Listener
	Most       int64         // connections open at once; one more is turned away
	Full       []byte        // the answer to one that is
	TurnedAway func()        // records one that is
	Stopping   func() bool   // nothing more is to be accepted
	WriteIdle  time.Duration // a client that takes no byte for this long is dropped
	HeadTime   time.Duration // how long the head of a request may take
	BodyIdle   time.Duration // how long the client may be silent within a body

	open atomic.Int64 // connections, also those that are being turned away
}

// mostTurning is how many connections are answered at once that they are one too many; any more are just closed.
const mostTurning = 64

// Accept waits for a connection that there is room for.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		if l.Stopping() { // a shutdown that came before the server knew of the listener did not close it
			_ = l.Close()
			return nil, net.ErrClosed
		}
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &Client{Conn: conn, listener: l}
		switch n := l.open.Add(1); {
		case n <= l.Most:
			return c, nil
		case n <= l.Most+mostTurning:
			go c.turnAway()
		default:
			_ = c.Close()
		}
	}
}

// turnAway answers a connection over the limit, whose request is not read.
func (c *Client) turnAway() {
	c.listener.TurnedAway()
	_ = c.SetDeadline(time.Now().Add(lingerTime))
	_, _ = c.Conn.Write(c.listener.Full)
	c.lingering = true
	_ = c.Close()
}

const (
	lingerTime  = time.Second // how long a refused client may go on sending before it is cut off
	lingerBytes = 64 << 20
)

// linger ends our side and reads what the client is still sending, for a while: closing on unread bytes would
// reset the connection and take the answer away from a client that has not read it yet.
func linger(c net.Conn) {
	if half, ok := c.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		_ = c.SetReadDeadline(time.Now().Add(lingerTime))
		_, _ = io.Copy(io.Discard, io.LimitReader(c, lingerBytes))
	}
}
