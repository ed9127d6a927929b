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
	found := false
	err := onSocket(c, func(socket uintptr) bool {
		found = hasEvent(socket, unix.POLLIN|hangUp)
		return true
	})
	return found || err != nil && !errors.Is(err, errors.ErrUnsupported)
}

// awaitEnd waits until the other side has closed or reset a connection, whatever is still to be read of it, and reports
// whether that has happened; false if the deadline of reads has come.
func awaitEnd(c net.Conn) bool {
	err := onSocket(c, func(socket uintptr) bool { return hasEvent(socket, hangUp) })
	return !errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, errors.ErrUnsupported)
}

const hangUp = unix.POLLHUP | unix.POLLERR | 0x2000 // POLLRDHUP of Linux; elsewhere POLLHUP says that, too

// onSocket calls do with the socket of a connection, again with each event of it until do returns true.
func onSocket(c net.Conn, do func(socket uintptr) bool) error {
	system, ok := c.(syscall.Conn)
	if !ok {
		return errors.ErrUnsupported
	}
	socket, err := system.SyscallConn()
	if err != nil {
		return err
	}
	return socket.Read(do)
}

func hasEvent(socket uintptr, events int16) bool {
	state := []unix.PollFd{{Fd: int32(socket), Events: events}}
	n, err := unix.Poll(state, 0)
	return err == nil && n > 0 && state[0].Revents&events != 0
}
