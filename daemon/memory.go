package daemon

import (
	"os"
	"runtime"
	"runtime/debug"

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

// burst is a time in which much is allocated.
type burst struct {
	allocated uint64 // bytes since the start, at the last look
	returned  uint64 // the same when memory was given back
	more      bool   // requests were to be forgotten later, at the last look
	percent   uint64 // GOGC
}

// look looks whether something is allocated, some seconds after the look before, or more is to be forgotten. At the end
// of a burst or of either it gives the memory that it has left back to the system, which Go by itself would keep for
// minutes.
func (b *burst) look(more bool) (again bool) {
	const little, much = 4 << 20, 16 << 20 // bytes allocated between two looks; in a burst
	const garbage = 32 << 20               // bytes between collections
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	isQuiet := m.TotalAlloc-b.allocated < little
	if isQuiet && m.TotalAlloc-b.returned >= much || b.more && !more {
		debug.FreeOSMemory()
		b.returned = m.TotalAlloc
	}
	if os.Getenv("GOGC") == "" { // Go itself lets garbage grow as large as what is in use
		b.percent = min(max(garbage*(100+b.percent)/max(m.NextGC, 1), 50), 100)
		debug.SetGCPercent(int(b.percent)) //nolint:gosec // at most 100
	}
	b.allocated, b.more = m.TotalAlloc, more
	return !isQuiet || more
}
