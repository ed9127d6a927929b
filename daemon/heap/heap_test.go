package heap

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

const mb = 1 << 20

func TestGarbageGrowsWithWhatIsInUseOnlyWhileThatIsLittle(t *testing.T) {
	f := func(live uint64, want int) {
		t.Helper()
		if got := percentAt(live, 340); got != want {
			t.Errorf("beside %d MB there may be %d%%, want %d", live/mb, got, want)
		}
	}
	f(0, 340) // before the first collection
	f(10*mb, 340)
	f(24*mb, 200)
	f(96*mb, 50)
	f(400*mb, leastPercent)
	f(8000*mb, leastPercent)
}

func TestNothingIsGivenBackAtWorkOrWithoutNeed(t *testing.T) {
	f := func(was uint64, s state, wantAgain, wantGive bool) {
		t.Helper()
		w := &watch{taken: was}
		if again, give := w.judge(s); again != wantAgain || give != wantGive {
			t.Errorf("%+v after %d: again %v, give %v", s, was, again, give)
		}
		if again, give := w.judge(s); again || give != (s.held > s.live+worthGiving) {
			t.Errorf("%+v, and nothing taken since: again %v, give %v", s, again, give)
		}
	}
	f(100*mb, state{live: 20 * mb, held: 300 * mb, taken: 110 * mb}, false, true)
	f(100*mb, state{live: 20 * mb, held: 300 * mb, taken: 200 * mb}, true, false)
	f(100*mb, state{live: 20 * mb, held: 40 * mb, taken: 110 * mb}, false, false)
	f(100*mb, state{live: 290 * mb, held: 300 * mb, taken: 100 * mb}, false, false)
}

func TestTheRuntimeTellsItsState(t *testing.T) {
	kept := make([]byte, 64*mb)
	runtime.GC()
	if s := read(); s.live < 64*mb || s.held < s.live || s.taken < 64*mb {
		t.Errorf("with 64 MB in use: %+v", s)
	}
	runtime.KeepAlive(kept)
}

// percent is what is in force.
func percent() int {
	p := debug.SetGCPercent(-1)
	debug.SetGCPercent(p)
	return p
}

func TestCollectionsArePacedUntilTheWatchEnds(t *testing.T) {
	before := debug.SetGCPercent(340)
	defer debug.SetGCPercent(before)
	stop := Watch()
	kept := make([]byte, 128*mb)
	for deadline := time.Now().Add(time.Minute); percent() > 60; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("with 128 MB in use garbage may still grow by %d%%", percent())
		}
		runtime.GC()
	}
	runtime.KeepAlive(kept)
	kept = nil
	for deadline := time.Now().Add(time.Minute); percent() < 340; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("with nothing in use garbage may still grow by only %d%%", percent())
		}
		runtime.GC()
	}
	stop()
	if p := percent(); p != 340 {
		t.Errorf("behind the end of the watch %d%% are in force", p)
	}
}
