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

// spent is the time that f takes: the processor time of a thread is not told on every system.
func spent(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}
