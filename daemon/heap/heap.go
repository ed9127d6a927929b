// Package heap says when the running program collects its garbage, and when it gives memory back to the system.
//
// It promises that garbage grows with what is in use only as long as that is little, and that what a burst of large
// bodies leaves behind is given back within seconds. Its cost is bounded: collecting more often costs at most what
// the lowest percentage costs, and nothing is given back while memory is being taken, or twice for one burst.
//
// It does not bound what is in use: that is for whoever lets requests in.
package heap

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// mostGarbage is how many bytes of garbage may lie beside what is in use, while the percentages below allow it.
	mostGarbage = 48 << 20
	// leastPercent is the least garbage beside what is in use, in percent of that: collecting is to stay cheap.
	leastPercent = 30
	// restBetween is the time between two looks at what may be given back.
	restBetween = 2 * time.Second
	// stillTaken is how many bytes taken between two looks mean that the program is at work.
	stillTaken = 16 << 20
	// worthGiving is how many bytes must be unused to be given back.
	worthGiving = 32 << 20
)

// state is the heap as the runtime tells it, in bytes.
type state struct {
	live  uint64 // found in use by the last collection
	held  uint64 // of the system's memory: in use, garbage and free
	taken uint64 // since the start of the program
}

// read asks the runtime.
func read() state {
	s := []metrics.Sample{
		{Name: "/gc/heap/live:bytes"}, {Name: "/gc/heap/allocs:bytes"}, {Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/unused:bytes"}, {Name: "/memory/classes/heap/free:bytes"},
	}
	metrics.Read(s)
	number := func(i int) uint64 {
		if s[i].Value.Kind() != metrics.KindUint64 { // a runtime that does not know it
			return 0
		}
		return s[i].Value.Uint64()
	}
	return state{live: number(0), taken: number(1), held: number(2) + number(3) + number(4)}
}

// percentAt is how much garbage may grow beside live bytes in use, in percent of them, and at most most.
func percentAt(live uint64, most int) int {
	if live == 0 {
		return most
	}
	return min(max(int(mostGarbage*100/live), leastPercent), most)
}

// Watch paces collections from now on. A small heap keeps the percentage that is in force now. What it returns ends
// that.
func Watch() (stop func()) {
	most := debug.SetGCPercent(-1)
	debug.SetGCPercent(most)
	w := &watch{most: most, percent: most, collected: make(chan struct{}, 1), ended: make(chan struct{})}
	w.hear()
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		w.run()
	}()
	return func() {
		close(w.ended)
		<-gone
		debug.SetGCPercent(most)
	}
}

// watch is a heap that is watched. But for hear its methods belong to one goroutine.
type watch struct {
	most, percent int           // allowed, and in force
	collected     chan struct{} // has an entry after a collection
	ended         chan struct{}
	taken         uint64 // at the last look
}

// hear notes the next collection, and those after it. It must not wait: it runs where the runtime cleans up.
func (w *watch) hear() {
	runtime.AddCleanup(new([32]byte), func(w *watch) {
		select {
		case <-w.ended:
			return
		case w.collected <- struct{}{}:
		default: // one is not yet looked at
		}
		w.hear()
	}, w)
}

func (w *watch) run() {
	look := time.NewTimer(restBetween)
	defer look.Stop()
	waiting := true // for a look
	for {
		select {
		case <-w.ended:
			return
		case <-w.collected:
			w.pace(read())
			if !waiting {
				waiting = true
				look.Reset(restBetween)
			}
		case <-look.C:
			again, give := w.judge(read())
			if give {
				runtime.GC() // pools let go of what they hold with the second collection
				debug.FreeOSMemory()
			}
			if waiting = again; again {
				look.Reset(restBetween)
			}
		}
	}
}

// pace sets how soon the next collection comes.
func (w *watch) pace(s state) {
	if p := percentAt(s.live, w.most); p != w.percent {
		w.percent = p
		debug.SetGCPercent(p)
	}
}

// judge says whether to look again without a collection in between, and whether to give back what is not in use.
func (w *watch) judge(s state) (again, give bool) {
	took := s.taken - w.taken
	w.taken = s.taken
	if took > stillTaken {
		return true, false
	}
	return false, s.held > s.live+worthGiving
}
