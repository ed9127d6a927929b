//go:build unix

package cancel

import "syscall"

// smallWindow keeps what the sockets of a connection hold small (tens of KB instead of megabytes on loopback), so
// that an upstream that does not read stops its sender early, and finds the end soon once it reads.
func smallWindow(_, _ string, raw syscall.RawConn) error {
	var failed error
	err := raw.Control(func(fd uintptr) {
		// The sender's buffer grows with the segment size, which a receiver may cap.
		if failed = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_MAXSEG, 1400); failed == nil {
			failed = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 32<<10)
		}
	})
	if err != nil {
		return err
	}
	return failed
}
