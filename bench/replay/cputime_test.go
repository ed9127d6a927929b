package replay

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// work is the same amount each time.
func work(units int) {
	sum := uint64(0)
	for i := range uint64(units) * 1_000_000 {
		sum = sum*6364136223846793005 + i
	}
	runtime.KeepAlive(sum)
}

// Another program on the same core may slow either down, and what takes long by half at most.
func TestMoreWorkTakesMoreTime(t *testing.T) {
	few, many := Of(func() { work(1) }), Of(func() { work(32) })
	for range 9 { // the least is the work alone
		few = min(few, Of(func() { work(1) }))
	}
	if few <= 0 || many < 4*few {
		t.Errorf("%v, and for 32 times the work %v", few, many)
	}
}

func TestWaitsAndOthersCountNothing(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("here it is the time on the clock")
	}
	var over atomic.Bool
	defer over.Store(true)
	for range 4 {
		go func() {
			for !over.Load() {
				work(1)
			}
		}()
	}
	const waits = 200 * time.Millisecond
	if got := Of(func() { time.Sleep(waits) }); got > waits/4 {
		t.Errorf("waiting for %v beside others counts %v", waits, got)
	}
}
