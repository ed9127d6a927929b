package wire

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"net"
	"net/url"
	"strings"
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

// dial connects to addr. An error names the forward proxy, if there is one.
func (d *dialer) dial(ctx context.Context, addr string) (net.Conn, error) {
	if d.via == nil {
		return d.DialContext(ctx, "tcp", addr)
	}
	conn, err := d.dialVia(ctx, addr)
	if err != nil {
		return nil, fmt.Errorf("cannot reach %s through the proxy %s: %w", addr, d.via.Redacted(), err)
	}
	return conn, nil
}

// dialVia connects to addr through the forward proxy.
func (d *dialer) dialVia(ctx context.Context, addr string) (net.Conn, error) {
	switch d.via.Scheme {
	case "http", "https":
		return d.connect(ctx, addr)
	case "socks5", "socks5h":
		hop, err := proxy.FromURL(d.via, &d.Dialer)
		if err != nil {
			return nil, err
		}
		return hop.(proxy.ContextDialer).DialContext(ctx, "tcp", addr)
	}
	return nil, fmt.Errorf("proxies of kind %q are not supported: use http, https or socks5", d.via.Scheme)
}

// connect asks an HTTP proxy for a tunnel.
func (d *dialer) connect(ctx context.Context, addr string) (net.Conn, error) {
	port := d.via.Port()
	if port == "" {
		port = d.via.Scheme
	}
	conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort(d.via.Hostname(), port))
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	if d.via.Scheme == "https" {
		conn = tls.Client(conn, &tls.Config{ServerName: d.via.Hostname(), MinVersion: tls.VersionTLS12})
	}
	err = d.handshake(conn, addr)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

// handshake asks for the tunnel; the proxy says nothing behind its answer until we have spoken.
func (d *dialer) handshake(conn net.Conn, addr string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n", addr, addr)
	if u := d.via.User; u != nil {
		password, _ := u.Password()
		fmt.Fprintf(&b, "Proxy-Authorization: Basic %s\r\n", base64.StdEncoding.EncodeToString([]byte(u.Username()+":"+password)))
	}
	if _, err := conn.Write([]byte(b.String() + "\r\n")); err != nil {
		return err
	}
	br := bufio.NewReaderSize(oneByte{conn}, 16)
	head, err := ReadHead(br, nil)
	if err != nil {
		return err
	}
	if head.Code != 200 {
		return fmt.Errorf("it answered %d %s", head.Code, head.reason)
	}
	return nil
}

// oneByte reads a byte at a time, so that nothing behind the proxy's answer is taken from the tunnel.
type oneByte struct{ net.Conn }

func (c oneByte) Read(p []byte) (int, error) { return c.Conn.Read(p[:1]) }
