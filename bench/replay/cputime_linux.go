package replay

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// spent returns the processor time that f takes on its goroutine.
func spent(f func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start := threadTime()
	f()
	return threadTime() - start
}

func threadTime() time.Duration {
	var used unix.Timespec // not Getrusage: that tells of a running thread what it had used at the last tick
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &used)
	return time.Duration(used.Nano())
}
