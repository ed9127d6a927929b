//go:build unix

package agent

import (
	"os/exec"
	"syscall"
)

// detach keeps a terminal's signals from a proxy that others may be using.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
