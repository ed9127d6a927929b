//go:build !linux

package bench

import (
	"errors"
	"syscall"
	"time"
)

var errNoProc = errors.New("CPU and memory of other processes are read on Linux only")

func childAttributes() *syscall.SysProcAttr { return nil }

func cpuTime(int) (time.Duration, error) { return 0, errNoProc }

func residentBytes(int) (int64, error) { return 0, errNoProc }
