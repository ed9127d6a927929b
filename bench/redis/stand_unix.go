//go:build unix

package redis

import "syscall"

// Stand has the server stand still, or go on.
func (s *Server) Stand(still bool) error {
	signal := syscall.SIGCONT
	if still {
		signal = syscall.SIGSTOP
	}
	return s.process.Process.Signal(signal)
}
