package daemon

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"

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
		debug.SetMemoryLimit(int64(conf.MaxInFlight+summarize.MaxPending) + spareMemory)
	}
}

// collect collects garbage once so many bytes were freed that it pays, and returns those that are still to be collected.
// Go itself collects none for two minutes where nothing is allocated.
func collect(freed int) (left int) {
	const least = 16 << 20
	if freed < least {
		return freed
	}
	runtime.GC()
	return 0
}

// paceGarbage is called every few seconds. Go itself lets garbage grow as large as what is in use; here it grows to 32
// MB, or to half of what is in use.
func paceGarbage() {
	if os.Getenv("GOGC") != "" {
		return
	}
	used := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(used)
	percent := min(max(100*(32<<20)/max(used[0].Value.Uint64(), 1), 50), 100)
	debug.SetGCPercent(int(percent)) //nolint:gosec // at most 100
}
