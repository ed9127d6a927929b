package proxy

import (
	"context"
	"sync"
	"sync/atomic"
)

// traffic is what is under way. Its methods may be called from any goroutine.
type traffic struct {
	stopping atomic.Bool // Shutdown has begun

	mu    sync.Mutex
	open  map[*exchange]struct{} // tunnels too
	quiet *sync.Cond             // on mu: open has become empty

	life context.Context // ends with the grace time: whatever begins then is cut
	end  context.CancelFunc
}

func newTraffic() *traffic {
	t := &traffic{open: make(map[*exchange]struct{})}
	t.life, t.end = context.WithCancel(context.Background())
	t.quiet = sync.NewCond(&t.mu)
	return t
}

// enter takes an exchange in, which is cut at once if it comes too late.
func (t *traffic) enter(x *exchange) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open[x] = struct{}{}
	switch {
	case t.life.Err() != nil:
		x.cut()
	case x.delivery.own && t.stopping.Load():
		x.call.Cut()
	}
}

// leave takes an exchange out.
func (t *traffic) leave(x *exchange) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.open, x)
	if len(t.open) == 0 {
		t.quiet.Broadcast()
	}
}

// count is how many exchanges are under way, without those for epitome's own pages.
func (t *traffic) count() (n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for x := range t.open {
		if !x.delivery.own {
			n++
		}
	}
	return n
}

// await returns when no exchange is under way, or with ctx.
func (t *traffic) await(ctx context.Context) {
	defer context.AfterFunc(ctx, func() {
		t.mu.Lock() // or who has seen that ctx goes on, and does not wait yet, would never be woken
		defer t.mu.Unlock()
		t.quiet.Broadcast()
	})()
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.open) > 0 && ctx.Err() == nil {
		t.quiet.Wait()
	}
}

// stop ends what is under way for epitome's own paths at once.
func (t *traffic) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stopping.Swap(true) {
		return
	}
	for x := range t.open {
		if x.delivery.own {
			x.call.Cut()
		}
	}
}

// cut ends everything that is under way, and everything that still begins. It returns how many exchanges that were.
func (t *traffic) cut() (exchanges int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.end()
	for x := range t.open {
		x.cut()
	}
	return len(t.open)
}
