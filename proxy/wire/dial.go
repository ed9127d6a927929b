package wire

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/net/http/httpproxy"
	"golang.org/x/net/proxy"
)

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
	return &upstreamConn{Conn: conn, pool: p, reader: bufio.NewReaderSize(conn, 4<<10)}, nil
}

// connect connects to the upstream, through the forward proxy if there is one. Errors name that.
func (p *Pool) connect(ctx context.Context) (conn net.Conn, err error) {
	if p.via == nil {
		return dialer.DialContext(ctx, "tcp", p.addr)
	}
	switch p.via.Scheme {
	case "http", "https":
		conn, err = p.connectByHTTP(ctx)
	case "socks5", "socks5h":
		conn, err = p.connectBySOCKS(ctx)
	default:
		err = fmt.Errorf("proxies of kind %q are not supported: use http, https or socks5", p.via.Scheme)
	}
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

func (p *Pool) connectBySOCKS(ctx context.Context) (net.Conn, error) {
	hop, err := proxy.FromURL(p.via, &dialer)
	if err != nil {
		return nil, err
	}
	return hop.(proxy.ContextDialer).DialContext(ctx, "tcp", p.addr)
}

// connectByHTTP asks an HTTP proxy for a tunnel.
func (p *Pool) connectByHTTP(ctx context.Context) (net.Conn, error) {
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
	ask := &http.Request{
		Method: http.MethodConnect, URL: &url.URL{Opaque: p.addr}, Host: p.addr, Header: http.Header{},
	}
	if u := p.via.User; u != nil {
		password, _ := u.Password()
		ask.SetBasicAuth(u.Username(), password)
		ask.Header["Proxy-Authorization"] = ask.Header["Authorization"]
		delete(ask.Header, "Authorization")
	}
	if err := ask.Write(conn); err != nil {
		return err
	}
	reader := bufio.NewReader(conn) // it takes nothing of the upstream, which speaks only when it is spoken to
	answer, err := http.ReadResponse(reader, ask)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("it answered %s", answer.Status)
	}
	return nil
}
