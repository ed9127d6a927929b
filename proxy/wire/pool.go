package wire

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"sync"
	"time"
)

// Limits are the times that a pool keeps.
type Limits struct {
	Idle      time.Duration // how long a connection is kept unused
	Dial      time.Duration // for name look-up, connecting and TLS together
	WriteIdle time.Duration // an upstream that does not take a request within this, and a second per MB, is given up
}

// Pool keeps the connections to one upstream. Neither fasthttp's client nor net/http's is used: a dial of fasthttp's
// cannot be given up when the client leaves, and its stream reader takes a cut answer for a complete one; net/http
// sorts the header lines and respells their names.
type Pool struct {
	addr   string
	secure *tls.Config // nil for plain http
	dialer dialer
	Limits Limits

	mu      sync.Mutex
	idle    []*upstreamConn // oldest first
	retired bool            // keeps no connection any more
	sweeper *time.Timer     // runs while there are idle connections
}

// upstreamConn is one connection to an upstream. Whoever has taken it out of its pool owns it.
type upstreamConn struct {
	net.Conn
	pool   *Pool
	reader *bufio.Reader // nil while idle
	reused bool          // has answered before
	since  time.Time     // when it was given back
}

// readers are shared by all pools: an idle connection needs none.
var readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, readerSize) }}

// readerSize bounds what is passed on in one piece; memory is touched only as far as bytes arrive together.
const readerSize = 16 << 10

// NewPool makes a pool of connections to the server at a URL. secure is nil for plain http.
func NewPool(at *url.URL, secure *tls.Config, limits Limits) *Pool {
	return &Pool{addr: hostPort(at), secure: secure, dialer: newDialer(at, limits.Dial), Limits: limits}
}

// take returns an idle connection that the upstream has not closed, or a new one. Cutting the call ends a dial.
func (p *Pool) take(c *Call) (*upstreamConn, error) {
	for {
		conn := p.takeIdle()
		if conn == nil {
			return p.dial(c)
		}
		conn.reused = true
		conn.reader = readers.Get().(*bufio.Reader)
		conn.reader.Reset(conn.Conn)
		if conn.isQuiet() {
			return conn, nil
		}
		conn.drop()
	}
}

// takeIdle takes out the newest idle connection; nil if there is none.
func (p *Pool) takeIdle() *upstreamConn {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.idle); n > 0 {
		conn := p.idle[n-1]
		p.idle[n-1], p.idle = nil, p.idle[:n-1]
		return conn
	}
	return nil
}

// dial makes a connection. Cutting the call ends it.
func (p *Pool) dial(c *Call) (*upstreamConn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), p.Limits.Dial)
	defer cancel()
	c.OnCut(cancel)
	raw, err := p.dialer.dial(ctx, p.addr)
	if err == nil && p.secure != nil {
		raw, err = p.handshake(ctx, raw)
	}
	if err != nil {
		return nil, err
	}
	conn := &upstreamConn{Conn: raw, pool: p, reader: readers.Get().(*bufio.Reader)}
	conn.reader.Reset(raw)
	return conn, nil
}

// handshake sets up TLS.
func (p *Pool) handshake(ctx context.Context, raw net.Conn) (net.Conn, error) {
	conn := tls.Client(raw, p.secure)
	if err := conn.HandshakeContext(ctx); err != nil {
		_ = raw.Close()
		return nil, fmt.Errorf("cannot set up TLS with %s: %w", p.addr, err)
	}
	return conn, nil
}

// sweep closes the connections that have been idle for too long, and comes again while there are others.
func (p *Pool) sweep() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.idle) > 0 && time.Since(p.idle[0].since) >= p.Limits.Idle {
		p.idle[0].cut()
		p.idle = p.idle[1:]
	}
	p.sweeper = nil
	if len(p.idle) > 0 {
		p.sweeper = time.AfterFunc(p.Limits.Idle-time.Since(p.idle[0].since), p.sweep)
	}
}

// Retire closes the idle connections now and those in use when their exchanges end.
func (p *Pool) Retire() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.idle {
		c.cut()
	}
	p.idle, p.retired = nil, true
}

// uploadRate is how many bytes of a request an upstream has to take in a second, once WriteIdle has passed.
const uploadRate = 1 << 20

// send writes head and body. n counts the bytes that the connection took.
func (c *upstreamConn) send(out Request) (n int64, err error) {
	upload := time.Duration(len(out.Body)) * time.Second / uploadRate
	_ = c.SetWriteDeadline(time.Now().Add(c.pool.Limits.WriteIdle + upload))
	return (&net.Buffers{out.Head, out.Body}).WriteTo(c.Conn) // with one system call where there is no TLS
}

// isQuiet reports whether an idle connection has nothing to read: the upstream has neither ended it nor sent bytes
// that nobody asked for. Of TLS that is asked as well of what was decrypted with the last answer.
func (c *upstreamConn) isQuiet() bool {
	if stale(c.socket()) {
		return false
	}
	if _, ok := c.Conn.(*tls.Conn); !ok {
		return true
	}
	_ = c.SetReadDeadline(longAgo())
	_, err := c.reader.Peek(1)
	c.reader.Reset(c.Conn) // forgets the error
	return errors.Is(err, os.ErrDeadlineExceeded)
}

// socket is the connection below TLS.
func (c *upstreamConn) socket() net.Conn {
	if t, ok := c.Conn.(*tls.Conn); ok {
		return t.NetConn()
	}
	return c.Conn
}

// cut ends the connection at once, from any goroutine: what is blocked on it returns. Closing TLS first could
// wait behind a write that is stuck, so the connection below it goes.
func (c *upstreamConn) cut() { _ = c.socket().Close() }

// drop ends the connection; its owner calls it in place of keep.
func (c *upstreamConn) drop() {
	c.cut()
	c.freeReader()
}

// keep gives the connection back for another exchange. Its last answer has been read to the end.
func (c *upstreamConn) keep() {
	p := c.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.retired || c.reader.Buffered() > 0 { // after bytes that nobody asked for no next answer could be trusted
		c.drop()
		return
	}
	c.freeReader()
	c.since = time.Now()
	p.idle = append(p.idle, c)
	if p.sweeper == nil {
		p.sweeper = time.AfterFunc(p.Limits.Idle, p.sweep)
	}
}

// freeReader hands the reader back.
func (c *upstreamConn) freeReader() {
	c.reader.Reset(nil)
	readers.Put(c.reader)
	c.reader = nil
}
