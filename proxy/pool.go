package proxy

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

// errBusy says that an upstream has as many connections as it may have.
var errBusy = errors.New("all connections to the upstream are in use (upstream_connections)")

// poolLimits are the numbers of the configuration that a pool obeys; pools with other limits are made anew.
type poolLimits struct {
	most      int           // connections, idle and in use
	idle      time.Duration // how long one is kept unused
	dial      time.Duration // for name look-up, connecting and TLS together
	writeIdle time.Duration // an upstream that takes no byte for this long is given up
}

func limitsOf(c Config) poolLimits {
	return poolLimits{
		most: c.UpstreamConnections, idle: c.UpstreamKeepAlive.D(),
		dial: c.DialTimeout.D(), writeIdle: c.WriteIdle.D(),
	}
}

// pool keeps the connections to one upstream. fasthttp's own client is not used for it: a dial there cannot be
// given up when the client leaves, and its stream reader takes a cut answer for a complete one.
type pool struct {
	addr   string
	secure *tls.Config // nil for plain http
	dialer dialer
	limits poolLimits

	mu      sync.Mutex
	idle    []*upstreamConn // oldest first
	open    int             // idle and in use
	retired bool            // keeps no connection any more
	sweeper *time.Timer     // runs while there are idle connections
}

// upstreamConn is one connection, owned by the exchange that has taken it out of its pool.
type upstreamConn struct {
	net.Conn
	pool   *pool
	reader *bufio.Reader
	reused bool // has answered before
	since  time.Time
}

// readers are shared by all pools: an idle connection needs none.
var readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, readerSize) }}

// readerSize bounds what is passed on in one piece; memory is touched only as far as bytes arrive together.
const readerSize = 16 << 10

func newPool(at *url.URL, secure *tls.Config, limits poolLimits) *pool {
	port := at.Port()
	if port == "" {
		port = at.Scheme
	}
	return &pool{addr: net.JoinHostPort(at.Hostname(), port), secure: secure, dialer: newDialer(at, limits.dial), limits: limits}
}

// take returns an idle connection that the upstream has not closed, or a new one. Cutting the call ends a dial.
func (p *pool) take(c *call) (*upstreamConn, error) {
	for {
		conn, err := p.takeIdle()
		if err != nil {
			return nil, err
		}
		if conn == nil {
			return p.dial(c)
		}
		if stale(conn.raw()) {
			conn.drop()
			continue
		}
		conn.reused = true
		conn.reader = readers.Get().(*bufio.Reader)
		conn.reader.Reset(conn.Conn)
		if conn.unasked() {
			conn.drop()
			continue
		}
		return conn, nil
	}
}

// takeIdle takes out the newest idle connection; with none it makes room for a new one.
func (p *pool) takeIdle() (*upstreamConn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.idle); n > 0 {
		conn := p.idle[n-1]
		p.idle[n-1], p.idle = nil, p.idle[:n-1]
		return conn, nil
	}
	if p.open >= p.limits.most {
		return nil, errBusy
	}
	p.open++
	return nil, nil
}

// dial fills the room that takeIdle has made.
func (p *pool) dial(c *call) (*upstreamConn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), p.limits.dial)
	defer cancel()
	c.onCut(cancel)
	raw, err := p.connect(ctx)
	if err != nil {
		p.lost()
		return nil, err
	}
	conn := &upstreamConn{Conn: raw, pool: p, reader: readers.Get().(*bufio.Reader)}
	conn.reader.Reset(raw)
	return conn, nil
}

func (p *pool) connect(ctx context.Context) (net.Conn, error) {
	raw, err := p.dialer.dial(ctx, p.addr)
	if err != nil || p.secure == nil {
		return raw, err
	}
	conn := tls.Client(raw, p.secure)
	if err := conn.HandshakeContext(ctx); err != nil {
		_ = raw.Close()
		return nil, fmt.Errorf("cannot set up TLS with %s: %w", p.addr, err)
	}
	return conn, nil
}

// unasked reports whether TLS holds decrypted or whole records that nobody has read: stale cannot see those.
func (c *upstreamConn) unasked() bool {
	if _, ok := c.Conn.(*tls.Conn); !ok {
		return false
	}
	_ = c.SetReadDeadline(longAgo)
	_, err := c.reader.Peek(1)
	c.reader.Reset(c.Conn)
	return !errors.Is(err, os.ErrDeadlineExceeded)
}

// lost makes up for a connection that is no longer there.
func (p *pool) lost() {
	p.mu.Lock()
	p.open--
	p.mu.Unlock()
}

// raw is the connection below TLS.
func (c *upstreamConn) raw() net.Conn {
	if t, ok := c.Conn.(*tls.Conn); ok {
		return t.NetConn()
	}
	return c.Conn
}

// cut ends the connection at once, from any goroutine: what is blocked on it returns. Closing TLS first could
// wait behind a write that is stuck, so the connection below it goes.
func (c *upstreamConn) cut() { _ = c.raw().Close() }

// drop ends the connection; its owner calls it in place of keep.
func (c *upstreamConn) drop() {
	c.cut()
	c.freeReader()
	c.pool.lost()
}

// keep gives the connection back for another exchange. Its last answer has been read to the end.
func (c *upstreamConn) keep() {
	if c.reader.Buffered() > 0 { // bytes nobody asked for: no next answer could be trusted
		c.drop()
		return
	}
	c.freeReader()
	c.since = time.Now()
	p := c.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.retired {
		p.open--
		c.cut()
		return
	}
	p.idle = append(p.idle, c)
	if p.sweeper == nil {
		p.sweeper = time.AfterFunc(p.limits.idle, p.sweep)
	}
}

func (c *upstreamConn) freeReader() {
	if c.reader != nil {
		c.reader.Reset(nil)
		readers.Put(c.reader)
		c.reader = nil
	}
}

// sweep closes the connections that have been idle for too long, and comes again while there are others.
func (p *pool) sweep() {
	p.mu.Lock()
	defer p.mu.Unlock()
	now, n := time.Now(), 0
	for n < len(p.idle) && now.Sub(p.idle[n].since) >= p.limits.idle {
		p.idle[n].cut()
		n++
	}
	p.idle = append(p.idle[:0:0], p.idle[n:]...)
	p.open -= n
	p.sweeper = nil
	if len(p.idle) > 0 {
		p.sweeper = time.AfterFunc(p.limits.idle-now.Sub(p.idle[0].since), p.sweep)
	}
}

// retire closes the idle connections now and those in use when their exchanges end.
func (p *pool) retire() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.idle {
		c.cut()
	}
	p.open -= len(p.idle)
	p.idle, p.retired = nil, true
}
