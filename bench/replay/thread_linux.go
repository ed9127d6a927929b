package replay

import (
	"time"

	"golang.org/x/sys/unix"
)

// ofThread is what the running thread has used.
func ofThread() time.Duration {
	var used unix.Timespec // not Getrusage: that tells of a running thread what it had used at the last tick
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &used)
	return time.Duration(used.Nano())
}
