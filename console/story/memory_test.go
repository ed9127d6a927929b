package story

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"epitome/event"
)

// mostMemory is what the folds and the newest events may take, in bytes.
const mostMemory = 12 << 20

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestMemoryIsBounded(t *testing.T) {
	before := heap()
	r := begin(t, nil)
	for i := range 2 * mostEntries {
		e := talking(fmt.Sprintf("conversation-%04d", i/5%(mostTalks+100)), i%3000)
		e.ID, e.Reason = fmt.Sprintf("mwquolie-%d", i), fmt.Sprintf("%d: %s", i, strings.Repeat("r", 80))
		e.Decision, e.Code = fmt.Sprintf("%032d", i), event.Code("code_"+string(rune('a'+i%8)))
		e.Miss = event.MissProvider
		r.RecordExchange(e)
		if i%1000 == 0 {
			r.Settle()
		}
	}
	r.Settle()
	took := int64(heap()) - int64(before) - queue*24
	if took > mostMemory {
		t.Errorf("it takes %.1f MB", float64(took)/(1<<20))
	}
	if n := r.CountDropped(); n > 0 || len(r.past.talks) != mostTalks || r.past.recent.count() != mostEntries {
		t.Errorf("%d dropped, %d conversations, %d events", n, len(r.past.talks), r.past.recent.count())
	}
}
