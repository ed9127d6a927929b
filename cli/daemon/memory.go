package daemon

import (
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"epitome/config"
	"epitome/summarize"
)

// spareMemory is what the program may take besides the bodies under way, in bytes, before it collects garbage more
// often.
const spareMemory = 256 << 20

// boundMemory keeps garbage, which is mostly bodies that were sent, from growing far beyond what is allowed for those
// under way and for those that wait to be summarised.
func boundMemory(conf config.Config) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(int64(conf.Proxy.MaxInFlight+summarize.MaxPending) + spareMemory)
	}
}

// returnMemory gives the memory that a burst of large bodies has left back to the system once little is allocated any
// more, until done is closed. Go by itself would keep it for minutes.
func returnMemory(done <-chan struct{}) {
	const much = 16 << 20 // bytes allocated between two looks
	look := time.NewTicker(2 * time.Second)
	defer look.Stop()
	var m runtime.MemStats
	for allocated, busy := uint64(0), false; ; allocated = m.TotalAlloc {
		select {
		case <-done:
			return
		case <-look.C:
		}
		runtime.ReadMemStats(&m)
		switch {
		case m.TotalAlloc-allocated >= much:
			busy = true
		case busy:
			busy = false
			debug.FreeOSMemory()
		}
	}
}
