//go:build unix

package soak

import "syscall"

// stand has the server stand still, or go on.
func (s *server) stand(still bool) error {
	signal := syscall.SIGCONT
	if still {
		signal = syscall.SIGSTOP
	}
	return s.process.Process.Signal(signal)
}
