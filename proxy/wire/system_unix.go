//go:build unix

package wire

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// stale reports whether an idle connection has something to read. Between two exchanges that can only be the
// upstream's end or reset, or bytes nobody asked for: the connection is not to be used again.
func stale(c net.Conn) bool {
	system, ok := c.(syscall.Conn)
	if !ok {
		return false
	}
	socket, err := system.SyscallConn()
	if err != nil {
		return true
	}
	found := false
	err = socket.Control(func(fd uintptr) {
		state := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(state, 0)
		found = err == nil && n > 0
	})
	return found || err != nil
}
