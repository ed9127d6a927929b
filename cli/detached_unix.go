//go:build !windows

package cli

import "syscall"

// detached are the attributes of a process that a terminal's keys and its end do not reach.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
