//go:build !unix

package agent

import "os/exec"

// detach has nothing to do here: a console's signals are not sent to a process without one.
func detach(*exec.Cmd) {}
