//go:build unix

package cli

import (
	"os"
	"syscall"
)

// passed are the signals that are meant for the command.
func passed() []os.Signal {
	return []os.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1,
		syscall.SIGUSR2}
}

// fromTerminal reports whether a signal has reached the command already: a terminal sends its keys' signals to
// both of us, and a second interrupt makes many agents quit.
func fromTerminal(s os.Signal) bool {
	return (s == syscall.SIGINT || s == syscall.SIGQUIT) && isTerminal(os.Stdin)
}

// statusOf is a command's end as shells report it.
func statusOf(s *os.ProcessState) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}
