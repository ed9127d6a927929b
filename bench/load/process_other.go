//go:build !linux

package load

import (
	"errors"
	"syscall"
	"time"
)

var errNoProc = errors.New("CPU and memory of other processes are read on Linux only")

func childAttributes() *syscall.SysProcAttr { return nil }

// CPUTime is not known here.
func CPUTime(int) (time.Duration, error) { return 0, errNoProc }

// ResidentBytes is not known here.
func ResidentBytes(int) (int64, error) { return 0, errNoProc }
