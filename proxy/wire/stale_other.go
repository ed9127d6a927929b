//go:build !unix

package wire

import "net"

// stale cannot look into a socket here without taking bytes out of it; upstream_keep_alive has to do.
func stale(net.Conn) bool { return false }
