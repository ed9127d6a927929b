package replay

import (
	"runtime"
	"time"
)

// Of returns the processor time that f takes on its goroutine. Where the system does not tell it, that is the time on
// the clock.
func Of(f func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start := ofThread()
	f()
	return ofThread() - start
}
