package proxy

import (
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// listener hands out client connections and keeps their number bounded.
type listener struct {
	net.Listener
	most       int64 // connections open at once; one more is turned away
	open       atomic.Int64
	turnedAway func()        // records one that is
	stopping   func() bool   // nothing more is to be accepted
	turning    chan struct{} // bounds the connections that are being told so
	writeIdle  func() time.Duration
	pace       func(bytes int) time.Duration
}

func (l *listener) Accept() (net.Conn, error) {
	for {
		if l.stopping() { // a shutdown that came before the server knew of the listener did not close it
			_ = l.Close()
			return nil, net.ErrClosed
		}
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.open.Add(1) <= l.most {
			return &clientConn{Conn: c, writeIdle: l.writeIdle, pace: l.pace, closed: func() { l.open.Add(-1) }}, nil
		}
		l.open.Add(-1)
		select {
		case l.turning <- struct{}{}:
			go func() {
				l.turnedAway()
				turnAway(c)
				<-l.turning
			}()
		default:
			_ = c.Close()
		}
	}
}

// turnAway answers a connection over the limit, whose request is not read.
func turnAway(c net.Conn) {
	_ = c.SetDeadline(time.Now().Add(lingerTime))
	full := busy("epitome has as many connections as max_connections allows: try again, or raise it")
	_, _ = c.Write(full.appendTo(nil, clientSide{close: true}, false))
	linger(c)
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

// clientConn is a client's connection. It can watch for the client leaving while fasthttp is not reading,
// and lets an exchange answer in fasthttp's place.
//
// Apart from the watching goroutine only the goroutine that serves the connection uses it.
type clientConn struct {
	net.Conn
	writeIdle func() time.Duration // a client that takes no byte for this long is dropped
	closed    func()               // called once, when the connection is closed
	once      sync.Once
	answered  bool // an exchange has written its answer itself: drop the empty one that fasthttp writes next
	lingering bool // the client may still be sending when the connection is closed
	tunnelled bool // its end is an end like any other
	left      bool // the client has closed its side, or reset

	// Of the request that is being read:
	arriving bool // its first byte has come
	began    time.Time
	arrived  int                           // bytes
	pace     func(bytes int) time.Duration // how long so many bytes may take

	cut atomic.Bool // the proxy stops: nothing more may wait on this connection

	watching *watcher // nil when no watch is on
	ahead    []byte   // read and not yet asked for: of one or of room
	one      [1]byte  // first byte of a pipelined request; the watcher's while it reads
	room     *[firstRead]byte
	readErr  error // the client has left
}

// firstRead is how much is read where fasthttp asks for the first byte of a request alone: a small request whole. Only a connection
// that waits for its next request has this room; one whose answer streams has none.
const firstRead = 4 << 10

var rooms = sync.Pool{New: func() any { return new([firstRead]byte) }}

var longAgo = time.Unix(1, 0)

func (c *clientConn) Read(p []byte) (int, error) {
	switch {
	case len(c.ahead) > 0:
		return c.takeAhead(p), nil
	case c.readErr != nil:
		return 0, c.readErr
	case c.arriving || c.tunnelled || len(p) != 1:
		return c.receive(p)
	}
	c.room = rooms.Get().(*[firstRead]byte) //nolint:forcetypeassert // nothing else is put there
	n, err := c.receive(c.room[:])
	c.ahead = c.room[:n]
	return c.takeAhead(p), err
}

// takeAhead gives what was read ahead, and lets go of its room with the last of it.
func (c *clientConn) takeAhead(p []byte) int {
	n := copy(p, c.ahead)
	if c.ahead = c.ahead[n:]; len(c.ahead) == 0 && c.room != nil {
		rooms.Put(c.room)
		c.room = nil
	}
	return n
}

// receive reads from the client, at the pace that a request must have.
func (c *clientConn) receive(p []byte) (int, error) {
	if c.arriving {
		_ = c.Conn.SetReadDeadline(c.began.Add(c.pace(c.arrived)))
	}
	n, err := c.Conn.Read(p)
	if n > 0 && !c.tunnelled {
		if !c.arriving {
			c.arriving, c.began = true, time.Now()
		}
		c.arrived += n
	}
	if err == io.EOF && c.arriving { // fasthttp drops a request that ends in a bare EOF without a word, and its room with it
		err = io.ErrUnexpectedEOF
	}
	var late net.Error
	c.left = c.left || err != nil && !(errors.As(err, &late) && late.Timeout())
	return n, err
}

// received is called when a request has been read: the next byte begins another.
func (c *clientConn) received() { c.arriving, c.arrived = false, 0 }

// Write gives the client writeIdle to take p; callers write in small pieces.
func (c *clientConn) Write(p []byte) (int, error) {
	if c.answered {
		c.answered = false
		return len(p), nil
	}
	_ = c.Conn.SetWriteDeadline(time.Now().Add(c.writeIdle()))
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
	c.once.Do(c.closed)
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
