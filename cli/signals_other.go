//go:build !unix

package cli

import "os"

// passed are the signals that are meant for the command.
func passed() []os.Signal { return []os.Signal{os.Interrupt} }

// fromTerminal reports whether a signal has reached the command already, as a console's interrupt has.
func fromTerminal(os.Signal) bool { return true }

// statusOf is a command's end.
func statusOf(s *os.ProcessState) int { return s.ExitCode() }
