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
	"slices"
	"sync"
	"time"
)

// Limits are the times of a pool.
type Limits struct {
	Idle      time.Duration // how long a connection is kept unused
	Dial      time.Duration // for name look-up, connecting and TLS together
	WriteIdle time.Duration // for an upstream to take a request, beside a second per MB
}

// Pool keeps the connections to one upstream. Neither fasthttp's client nor net/http's is used: a dial of fasthttp's
// cannot be given up when the client leaves, and its stream reader takes a cut answer for a complete one; net/http
// sorts the header lines and respells their names.
type Pool struct {
	addr   string
	secure *tls.Config // nil for plain http
	dialer dialer
	limits Limits

	mu   sync.Mutex
	idle []*upstreamConn // oldest first
}

// upstreamConn is one connection to an upstream. The exchange that has taken it out of its pool owns it.
type upstreamConn struct {
	net.Conn
	pool   *Pool
	reader *bufio.Reader
	reused bool        // has answered before
	expiry *time.Timer // closes the connection when it has been idle for too long
}

// NewPool makes a pool of connections to the server at a URL. secure is nil for plain http.
func NewPool(at *url.URL, secure *tls.Config, limits Limits) *Pool {
	return &Pool{addr: hostPort(at), secure: secure, dialer: newDialer(at, limits.Dial), limits: limits}
}

// take returns an idle connection that the upstream has not closed, or a new one.
func (p *Pool) take(ctx context.Context) (*upstreamConn, error) {
	for ctx.Err() == nil {
		c := p.takeIdle()
		if c == nil {
			return p.dial(ctx)
		}
		if c.isQuiet() {
			c.reused = true
			return c, nil
		}
		c.cut()
	}
	return nil, ctx.Err()
}

// takeIdle takes out the newest idle connection; nil if there is none.
func (p *Pool) takeIdle() *upstreamConn {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.idle)
	if n == 0 {
		return nil
	}
	c := p.idle[n-1]
	p.idle[n-1], p.idle = nil, p.idle[:n-1]
	c.expiry.Stop()
	return c
}

// dial makes a connection.
func (p *Pool) dial(ctx context.Context) (*upstreamConn, error) {
	ctx, cancel := context.WithTimeout(ctx, p.limits.Dial)
	defer cancel()
	conn, err := p.dialer.dial(ctx, p.addr)
	if err != nil {
		return nil, err
	}
	if p.secure != nil {
		secured := tls.Client(conn, p.secure)
		if err := secured.HandshakeContext(ctx); err != nil {
			_ = conn.Close()
			return nil, fmt.Errorf("cannot set up TLS with %s: %w", p.addr, err)
		}
		conn = secured
	}
	return &upstreamConn{Conn: conn, pool: p, reader: bufio.NewReaderSize(conn, 4<<10)}, nil
}

// uploadRate is how many bytes of a request an upstream has to take in a second, once WriteIdle has passed.
const uploadRate = 1 << 20

// send writes head and body. n counts the bytes that the connection took.
func (c *upstreamConn) send(out Request) (n int64, err error) {
	upload := time.Duration(len(out.Body)) * time.Second / uploadRate
	_ = c.SetWriteDeadline(time.Now().Add(c.pool.limits.WriteIdle + upload))
	return (&net.Buffers{out.Head, out.Body}).WriteTo(c.Conn) // with one system call where there is no TLS
}

// isQuiet reports whether an idle connection has nothing to read: the upstream has neither ended it nor sent bytes
// that nobody asked for. stale looks into the socket, where the system can. Peek, whose deadline lets it read nothing
// more, finds bytes that TLS has read with the last answer. The next request sets a deadline of its own.
func (c *upstreamConn) isQuiet() bool {
	if stale(belowTLS(c.Conn)) {
		return false
	}
	if c.pool.secure == nil {
		return true
	}
	_ = c.SetReadDeadline(longAgo())
	_, err := c.reader.Peek(1)
	c.reader.Reset(c.Conn) // forgets the error
	return errors.Is(err, os.ErrDeadlineExceeded)
}

// cut ends the connection at once, from any goroutine: calls that wait on it return. Closing TLS could wait behind a
// write that is stuck.
func (c *upstreamConn) cut() { _ = belowTLS(c.Conn).Close() }

// keep gives the connection back for another exchange. Its last answer has been read to the end.
func (c *upstreamConn) keep() {
	p := c.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.reader.Buffered() > 0 { // after bytes that nobody asked for no next answer could be trusted
		c.cut()
		return
	}
	p.idle = append(p.idle, c)
	if c.expiry == nil {
		c.expiry = time.AfterFunc(p.limits.Idle, c.expire)
	} else {
		c.expiry.Reset(p.limits.Idle)
	}
}

// expire closes the connection if it is still idle.
func (c *upstreamConn) expire() {
	p := c.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.idle, c); i >= 0 {
		p.idle = slices.Delete(p.idle, i, i+1)
		c.cut()
	}
}
