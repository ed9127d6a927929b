package daemon

import (
	"epitome/summarize"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"epitome/config"
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

const (
	lookEvery  = 2 * time.Second // at what may be given back
	stillTaken = 16 << 20        // bytes allocated between two looks: the program is at work
	worthIt    = 32 << 20        // bytes that have come since the last time: less is not given back
)

// returnMemory gives the memory that a burst of large bodies has left back to the system, once little is allocated any
// more, until done is closed.
func returnMemory(done <-chan struct{}) {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	taken, least := uint64(0), uint64(0) // at the last look, and after what was given back last
	for {
		select {
		case <-done:
			return
		case <-look.C:
		}
		now, held := heap()
		if now-taken < stillTaken && held > least+worthIt {
			debug.FreeOSMemory()
			_, held = heap()
			least = held
		}
		taken, least = now, min(least, held)
	}
}

// heap returns the bytes that were allocated since the start, and those that are held now: in use, garbage and free.
func heap() (taken, held uint64) {
	s := []metrics.Sample{
		{Name: "/gc/heap/allocs:bytes"}, {Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/unused:bytes"}, {Name: "/memory/classes/heap/free:bytes"},
	}
	metrics.Read(s)
	return s[0].Value.Uint64(), s[1].Value.Uint64() + s[2].Value.Uint64() + s[3].Value.Uint64()
}
