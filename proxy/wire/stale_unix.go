//go:build unix

package wire

import (
	"errors"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
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

// awaitEnd waits until the other side has closed or reset a connection, whatever is still to be read of it, and reports
// whether that has happened; false if the deadline of reads has come.
func awaitEnd(c net.Conn) bool {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return false
	}
	rc, err := sc.SyscallConn()
	if err != nil {
		return true
	}
	const hangUp = unix.POLLHUP | unix.POLLERR | 0x2000 // POLLRDHUP of Linux; elsewhere POLLHUP says that, too
	err = rc.Read(func(fd uintptr) bool {               // again with each event of the socket
		state := []unix.PollFd{{Fd: int32(fd), Events: hangUp}}
		n, err := unix.Poll(state, 0)
		return err == nil && n > 0 && state[0].Revents&hangUp != 0
	})
	return !errors.Is(err, os.ErrDeadlineExceeded)
}
