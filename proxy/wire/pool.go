package wire

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"sync"
	"time"
)

// Limits are the numbers of the configuration that a pool obeys; pools with other limits are made anew.
type Limits struct {
	Idle      time.Duration // how long one is kept unused
	Dial      time.Duration // for name look-up, connecting and TLS together
	WriteIdle time.Duration // an upstream that takes no byte for this long is given up
}

// Pool keeps the connections to one upstream. fasthttp's own client is not used for it: a dial there cannot be
// given up when the client leaves, and its stream reader takes a cut answer for a complete one.
type Pool struct {
	addr   string
	secure *tls.Config // nil for plain http
	dialer dialer
	Limits Limits

	mu      sync.Mutex
	idle    []*upstreamConn // oldest first
	open    int             // idle and in use
	retired bool            // keeps no connection any more
	sweeper *time.Timer     // runs while there are idle connections
}

// NewPool makes a pool of connections to the server at a URL. secure is nil for plain http.
func NewPool(at *url.URL, secure *tls.Config, limits Limits) *Pool {
	port := at.Port()
	if port == "" {
		port = at.Scheme
	}
	addr := net.JoinHostPort(at.Hostname(), port)
	return &Pool{addr: addr, secure: secure, dialer: newDialer(at, limits.Dial), Limits: limits}
}

// take returns an idle connection that the upstream has not closed, or a new one. Cutting the call ends a dial.
func (p *Pool) take(c *Call) (*upstreamConn, error) {
	for {
		conn := p.takeIdle()
		if conn == nil {
			return p.dial(c)
		}
		if stale(conn.socket()) {
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

// takeIdle takes out the newest idle connection; with none it counts a new one and returns nil.
func (p *Pool) takeIdle() *upstreamConn {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.idle); n > 0 {
		conn := p.idle[n-1]
		p.idle[n-1], p.idle = nil, p.idle[:n-1]
		return conn
	}
	p.open++
	return nil
}

// dial fills the room that takeIdle has made.
func (p *Pool) dial(c *Call) (*upstreamConn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), p.Limits.Dial)
	defer cancel()
	c.OnCut(cancel)
	raw, err := p.connect(ctx)
	if err != nil {
		p.forget()
		return nil, err
	}
	conn := &upstreamConn{Conn: raw, pool: p, reader: readers.Get().(*bufio.Reader)}
	conn.reader.Reset(raw)
	return conn, nil
}

// connect dials, and sets up TLS where the pool has it.
func (p *Pool) connect(ctx context.Context) (net.Conn, error) {
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

// forget makes up for a connection that is no longer there.
func (p *Pool) forget() {
	p.mu.Lock()
	p.open--
	p.mu.Unlock()
}

// Occupancy is how a pool stands: how many connections there are, how many of them wait for an exchange, and on how
// many of these the upstream has spoken or ended meanwhile.
type Occupancy struct{ Open, Idle, Stale int }

// Occupancy counts the connections.
func (p *Pool) Occupancy() (o Occupancy) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.idle {
		if stale(c.socket()) {
			o.Stale++
		}
	}
	o.Open, o.Idle = p.open, len(p.idle)
	return o
}

// sweep closes the connections that have been idle for too long, and comes again while there are others.
func (p *Pool) sweep() {
	p.mu.Lock()
	defer p.mu.Unlock()
	now, n := time.Now(), 0
	for n < len(p.idle) && now.Sub(p.idle[n].since) >= p.Limits.Idle {
		p.idle[n].cut()
		n++
	}
	p.idle = append(p.idle[:0:0], p.idle[n:]...)
	p.open -= n
	p.sweeper = nil
	if len(p.idle) > 0 {
		p.sweeper = time.AfterFunc(p.Limits.Idle-now.Sub(p.idle[0].since), p.sweep)
	}
}

// Retire closes the idle connections now and those in use when their exchanges end.
func (p *Pool) Retire() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.idle {
		c.cut()
	}
	p.open -= len(p.idle)
	p.idle, p.retired = nil, true
}
