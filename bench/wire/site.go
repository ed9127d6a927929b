package wire

import (
	"fmt"
	"net"
	"net/url"
	"strings"
)

// Site is where a contender is reached.
type Site struct {
	Addr   string // host:port
	Prefix string // path put before every target, no closing slash
}

// ParseSite reads the base URL of a running proxy.
func ParseSite(base string) (Site, error) {
	u, err := url.Parse(base)
	if err != nil {
		return Site{}, fmt.Errorf("cannot parse URL %q: %w", base, err)
	}
	if u.Scheme != "http" || u.Port() == "" {
		return Site{}, fmt.Errorf("cannot use URL %q: want http://HOST:PORT", base)
	}
	if err = wantLoopback(u.Host); err != nil {
		return Site{}, err
	}
	return Site{Addr: u.Host, Prefix: strings.TrimSuffix(u.EscapedPath(), "/")}, nil
}

// wantLoopback refuses an address (host:port) outside this machine.
func wantLoopback(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("cannot use address %q: %w", addr, err)
	}
	ip := net.ParseIP(host)
	if host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("cannot use address %q: measurements stay on loopback", addr)
	}
	return nil
}

// Listen listens on addr, which must be of this machine.
func Listen(addr string) (net.Listener, error) {
	if err := wantLoopback(addr); err != nil {
		return nil, err
	}
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w", addr, err)
	}
	return ln, nil
}
