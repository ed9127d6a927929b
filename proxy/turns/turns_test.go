package turns

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// client is one that stays until its context ends.
type client struct{ life context.Context }

func (c client) Context() context.Context { return c.life }

// However many come at once, a processor is left for the others, and each gets its turn. Small ones need none.
func TestAProcessorIsLeft(t *testing.T) {
	f := func(processors, bytes, most int) {
		t.Helper()
		queue := with(processors)
		var now, seen, served atomic.Int32
		var all sync.WaitGroup
		begun := make(chan struct{})
		for range 20 {
			all.Go(func() {
				<-begun
				turn, ok := queue.Take(client{t.Context()}, bytes, time.Minute)
				if !ok {
					t.Error("no turn")
					return
				}
				n := now.Add(1)
				for m := seen.Load(); n > m && !seen.CompareAndSwap(m, n); m = seen.Load() {
				}
				for range 100 { // others get the chance to join in
					runtime.Gosched()
				}
				now.Add(-1)
				served.Add(1)
				turn.End()
			})
		}
		close(begun)
		all.Wait()
		if int(seen.Load()) > most || served.Load() != 20 || queue.Load() != 0 {
			t.Errorf("%d processors, %d bytes: %d have a turn at once, %d of 20 were served, %d turns are left",
				processors, bytes, seen.Load(), served.Load(), queue.Load())
		}
	}
	f(1, Large, 1)
	f(2, Large, 1)
	f(4, Large, 3)
	f(2, Large-1, 20)
}

func TestWaitingEnds(t *testing.T) {
	queue := with(2)
	here := client{t.Context()}
	life, leave := context.WithCancel(t.Context())
	gone := client{life}
	turn, _ := queue.Take(here, Large, time.Minute)
	if _, ok := queue.Take(nil, Large, time.Millisecond); ok {
		t.Error("two have a turn")
	}
	leave()
	if _, ok := queue.Take(gone, Large, time.Minute); ok {
		t.Error("who has left has a turn")
	}
	turn.Waits(here, func() {
		other, ok := queue.Take(here, Large, time.Minute)
		if !ok {
			t.Error("nobody else has a turn while one waits for others")
		}
		other.End()
	})
	if queue.Load() != 1 {
		t.Errorf("%d have a turn", queue.Load())
	}
	var other Turn
	turn.Waits(gone, func() { other, _ = queue.Take(here, Large, time.Minute) })
	turn.End() // it has none
	if queue.Load() != 1 {
		t.Errorf("%d have a turn", queue.Load())
	}
	other.End()
}
