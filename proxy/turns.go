package proxy

import (
	"context"
	"runtime"
	"time"
)

// largeBody is from how many bytes on a request takes its turn. A smaller one is shaped in a few milliseconds.
const largeBody = 1 << 20

// largeWait is how long a large request waits for its turn. Each takes about a second, so it outlasts all that are in memory.
const largeWait = 5 * time.Minute

// turns are those of one proxy. Make them with newTurns. Their methods may be called from any goroutine.
type turns struct{ taken chan struct{} }

// newTurns makes turns for the processors that the program may use.
func newTurns() *turns { return with(runtime.GOMAXPROCS(0)) }

func with(processors int) *turns { return &turns{make(chan struct{}, max(1, processors-1))} }

// Load is how many requests have a turn.
func (t *turns) Load() int { return len(t.taken) }

// turn is that of one request. The zero value is of a request that needs none.
type turn struct{ taken chan struct{} }

// waiter is who waits.
type waiter interface {
	// Context ends when the client has left.
	Context() context.Context
}

// Take waits for a turn for a request of so many bytes, at most for wait and while the client is there; nil if nobody
// can tell that. It reports whether the request may be worked on.
func (t *turns) Take(c waiter, bytes int, wait time.Duration) (turn, bool) {
	if bytes < largeBody {
		return turn{}, true
	}
	select {
	case t.taken <- struct{}{}:
		return turn{t.taken}, true
	default:
	}
	var gone <-chan struct{}
	if c != nil {
		gone = c.Context().Done()
	}
	late := time.NewTimer(wait)
	defer late.Stop()
	select {
	case t.taken <- struct{}{}:
		return turn{t.taken}, true
	case <-late.C:
	case <-gone:
	}
	return turn{}, false
}

// End gives the turn to the next.
func (t *turn) End() {
	if t.taken != nil {
		<-t.taken
		t.taken = nil
	}
}

// Waits does a step in which others are waited for: meanwhile another request has the turn. It waits for the next one
// while the client is there, however long: nobody keeps a turn.
func (t *turn) Waits(c waiter, step func()) {
	taken := t.taken
	t.End()
	step()
	if taken == nil {
		return
	}
	select {
	case taken <- struct{}{}:
		t.taken = taken
	case <-c.Context().Done():
	}
}
