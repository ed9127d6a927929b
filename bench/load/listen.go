package load

import (
	"fmt"
	"net"
)

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
