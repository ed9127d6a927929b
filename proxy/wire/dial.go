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

// dialer makes connections to one upstream, through the proxy that the environment names for it, if any.
// Names are looked up afresh each time and both address families are tried, as the standard library does.
type dialer struct {
	net.Dialer
	via *url.URL // nil: directly
}

// newDialer reads HTTP_PROXY, HTTPS_PROXY and NO_PROXY once; an unreadable proxy address shows at the first dial.
func newDialer(at *url.URL, timeout time.Duration) dialer {
	via, err := httpproxy.FromEnvironment().ProxyFunc()(at)
	if err != nil {
		via = &url.URL{Scheme: "invalid", Host: "proxy"}
	}
	return dialer{Dialer: net.Dialer{Timeout: timeout, KeepAlive: 15 * time.Second}, via: via}
}

// hostPort returns the address of the server at a URL, with the port of its scheme where it names none.
func hostPort(at *url.URL) string {
	port := at.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[at.Scheme] // forward proxies take numbers alone
	}
	return net.JoinHostPort(at.Hostname(), port)
}

// dial connects to addr. An error names the forward proxy, if there is one.
func (d *dialer) dial(ctx context.Context, addr string) (conn net.Conn, err error) {
	if d.via == nil {
		return d.DialContext(ctx, "tcp", addr)
	}
	switch d.via.Scheme {
	case "http", "https":
		conn, err = d.connect(ctx, addr)
	case "socks5", "socks5h":
		var hop proxy.Dialer
		if hop, err = proxy.FromURL(d.via, &d.Dialer); err == nil {
			conn, err = hop.(proxy.ContextDialer).DialContext(ctx, "tcp", addr)
		}
	default:
		err = fmt.Errorf("proxies of kind %q are not supported: use http, https or socks5", d.via.Scheme)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot reach %s through the proxy %s: %w", addr, d.via.Redacted(), err)
	}
	return conn, nil
}

// connect asks an HTTP proxy for a tunnel to addr.
func (d *dialer) connect(ctx context.Context, addr string) (net.Conn, error) {
	raw, err := d.DialContext(ctx, "tcp", hostPort(d.via))
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = raw.Close() })
	conn := raw
	if d.via.Scheme == "https" {
		conn = tls.Client(raw, &tls.Config{ServerName: d.via.Hostname()})
	}
	ask := &http.Request{
		Method: http.MethodConnect, URL: &url.URL{Opaque: addr}, Host: addr, Header: http.Header{},
	}
	if u := d.via.User; u != nil {
		password, _ := u.Password()
		ask.SetBasicAuth(u.Username(), password)
		ask.Header["Proxy-Authorization"] = ask.Header["Authorization"]
		delete(ask.Header, "Authorization")
	}
	var answer *http.Response
	if err = ask.Write(conn); err == nil { // the reader can be dropped: an upstream speaks only when it is spoken to
		answer, err = http.ReadResponse(bufio.NewReader(conn), ask)
	}
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("it answered %s", answer.Status)
	}
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}
