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

// burst is a time in which large bodies are allocated.
type burst struct {
	allocated uint64 // bytes since the start, at the last look
	underway  bool
}

// look looks whether a burst is under way, some seconds after the look before. At its end it gives the memory that it has
// left back to the system, which Go by itself would keep for minutes.
func (b *burst) look() (underway bool) {
	const much = 16 << 20 // bytes allocated between two looks
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	begun := m.TotalAlloc-b.allocated >= much
	if b.underway && !begun {
		debug.FreeOSMemory()
	}
	b.allocated, b.underway = m.TotalAlloc, begun
	return begun
}
