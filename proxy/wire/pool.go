package wire

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"sync"
	"time"

	"golang.org/x/net/http/httpproxy"
)

// Limits are the times of a pool.
type Limits struct {
	Idle      time.Duration // how long a connection is kept unused
	Dial      time.Duration // for name look-up, connecting and TLS together
	WriteIdle time.Duration // for an upstream to take a request, beside a second per MB
}

// Pool sends requests to one upstream, and keeps the connections to it. Neither fasthttp's client nor net/http's is
// used: a dial of fasthttp's cannot be given up when the client leaves, and its stream reader takes a cut answer for a
// complete one; net/http sorts the header lines and respells their names.
type Pool struct {
	addr   string
	secure *tls.Config // nil for plain http
	via    *url.URL    // the forward proxy; nil for none
	limits Limits

	host     string   // value of the Host header
	added    []byte   // header lines that each request gets
	replaced []string // names of the client's header lines that are left out

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

// NewPool makes a pool of connections to the server at a URL. Each of the headers is sent in place of the client's own;
// an empty value only leaves that out. secure is nil for plain http. The variables HTTP_PROXY, HTTPS_PROXY and NO_PROXY
// are read once.
func NewPool(at *url.URL, headers map[string]string, secure *tls.Config, limits Limits) *Pool {
	p := &Pool{addr: hostPort(at), secure: secure, via: forwardProxy(at), limits: limits, host: at.Host}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		if headers[name] != "" {
			p.added = AppendField(p.added, []byte(name), headers[name])
		}
		p.replaced = append(p.replaced, name)
	}
	return p
}

// take returns the newest idle connection that the upstream has not closed, or a new one.
func (p *Pool) take(ctx context.Context) (*upstreamConn, error) {
	p.mu.Lock()
	for n := len(p.idle); n > 0 && ctx.Err() == nil; n-- {
		c := p.idle[n-1]
		p.idle = slices.Delete(p.idle, n-1, n)
		c.expiry.Stop()
		if !stale(belowTLS(c.Conn)) {
			p.mu.Unlock()
			c.reused = true
			return c, nil
		}
		c.cut()
	}
	p.mu.Unlock()
	return p.dial(ctx)
}

// uploadRate is how many bytes of a request an upstream has to take in a second, once WriteIdle has passed.
const uploadRate = 1 << 20

// send writes head and body. n counts the bytes that the connection took.
func (c *upstreamConn) send(head, body []byte) (n int64, err error) {
	upload := time.Duration(len(body)) * time.Second / uploadRate
	_ = c.SetWriteDeadline(time.Now().Add(c.pool.limits.WriteIdle + upload))
	return (&net.Buffers{head, body}).WriteTo(c.Conn) // with one system call where there is no TLS
}

// answerBuffer is how many bytes of an answer are read at once. Each idle stream has so many.
const answerBuffer = 8 << 10

// cut ends the connection at once, from any goroutine: calls that wait on it return. Closing TLS could wait behind a
// write that is stuck.
func (c *upstreamConn) cut() { _ = belowTLS(c.Conn).Close() }

// keep gives the connection back for another exchange. Its last answer has been read to the end.
func (c *upstreamConn) keep() {
	if c.reader.Buffered() > 0 { // after bytes that nobody asked for no next answer could be trusted
		c.cut()
		return
	}
	p := c.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, c)
	c.expiry = time.AfterFunc(p.limits.Idle, c.expire)
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

// dial makes a connection, and TLS on it where the upstream speaks that. Names are looked up afresh each time and both
// address families are tried, as the standard library does.
func (p *Pool) dial(ctx context.Context) (*upstreamConn, error) {
	ctx, cancel := context.WithTimeout(ctx, p.limits.Dial)
	defer cancel()
	conn, err := p.connect(ctx)
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
	return &upstreamConn{Conn: conn, pool: p, reader: bufio.NewReaderSize(conn, answerBuffer)}, nil
}

// connect connects to the upstream, through the forward proxy if there is one. Errors name that.
func (p *Pool) connect(ctx context.Context) (conn net.Conn, err error) {
	if p.via == nil {
		return dialer.DialContext(ctx, "tcp", p.addr)
	}
	conn, err = p.connectByHTTP(ctx)
	if err != nil {
		return nil, fmt.Errorf("cannot reach %s through the proxy %s: %w", p.addr, p.via.Redacted(), err)
	}
	return conn, nil
}

var dialer = net.Dialer{KeepAlive: 15 * time.Second}

// forwardProxy returns the proxy that the environment names for a URL; nil for none. One that cannot be read shows at
// the first dial.
func forwardProxy(at *url.URL) *url.URL {
	via, err := httpproxy.FromEnvironment().ProxyFunc()(at)
	if err != nil {
		return &url.URL{Scheme: "invalid", Host: "proxy"}
	}
	return via
}

// hostPort returns the address of the server at a URL, with the port of its scheme where it names none.
func hostPort(at *url.URL) string {
	port := at.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[at.Scheme] // forward proxies take numbers alone
	}
	return net.JoinHostPort(at.Hostname(), port)
}

// connectByHTTP asks an HTTP proxy for a tunnel.
func (p *Pool) connectByHTTP(ctx context.Context) (net.Conn, error) {
	if p.via.Scheme != "http" && p.via.Scheme != "https" {
		return nil, errors.New("it is no proxy of HTTP: use a URL that begins with http or https")
	}
	conn, err := dialer.DialContext(ctx, "tcp", hostPort(p.via))
	if err != nil {
		return nil, err
	}
	raw := conn
	stop := context.AfterFunc(ctx, func() { _ = raw.Close() })
	if p.via.Scheme == "https" {
		conn = tls.Client(raw, &tls.Config{ServerName: p.via.Hostname()})
	}
	err = p.askForTunnel(conn)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

// askForTunnel has the HTTP proxy on a connection pass on all that follows.
func (p *Pool) askForTunnel(conn net.Conn) error {
	ask := []byte("CONNECT " + p.addr + " HTTP/1.1\r\nHost: " + p.addr + "\r\n")
	if u := p.via.User; u != nil {
		password, _ := u.Password()
		login := base64.StdEncoding.EncodeToString([]byte(u.Username() + ":" + password))
		ask = AppendField(ask, []byte("Proxy-Authorization"), "Basic "+login)
	}
	if _, err := conn.Write(append(ask, crlf...)); err != nil {
		return err
	}
	answer, err := readHead(bufio.NewReader(conn)) // it takes nothing of the upstream, which waits for the request
	if err == nil && answer.Code != 200 {
		err = fmt.Errorf("it answered %d %s", answer.Code, answer.reason)
	}
	return err
}
