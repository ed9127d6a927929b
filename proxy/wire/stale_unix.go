//go:build unix

package wire

import (
	"net"
	"syscall"
)

// stale reports whether an idle connection has something to read. Between two exchanges that can only be the
// upstream's end or reset, or bytes nobody asked for: the connection is not to be used again.
func stale(c net.Conn) bool {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return false
	}
	rc, err := sc.SyscallConn()
	if err != nil {
		return true
	}
	quiet := false
	err = rc.Read(func(fd uintptr) bool {
		var b [1]byte
		_, _, e := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		quiet = e == syscall.EAGAIN || e == syscall.EWOULDBLOCK
		return true
	})
	return err != nil || !quiet
}
