//go:build !linux

package replay

import "time"

// spent returns the time that f takes: the processor time of a thread is not told on every system.
func spent(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}
