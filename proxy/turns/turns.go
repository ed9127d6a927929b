// Package turns has what is costly done a few at a time: large requests are shaped so that they never take all
// processors, and encoded bodies are decoded so that they never take all memory.
//
// It promises that no more large requests have a turn at once than there are processors but one, and that who waits
// leaves when the time is over or the client has gone. Small requests never wait. How many bytes wait is bounded by the
// room that their requests have: who has none does not come here.
package turns

import (
	"context"
	"runtime"
	"time"
)

// Large is from how many bytes on a request takes its turn. A smaller one is shaped in a few milliseconds.
const Large = 1 << 20

// Turns are those of one proxy. Make them with New. Their methods may be called from any goroutine.
type Turns struct{ taken chan struct{} }

// New makes turns for the processors that the program may use.
func New() *Turns { return with(runtime.GOMAXPROCS(0)) }

func with(processors int) *Turns { return &Turns{make(chan struct{}, max(1, processors-1))} }

// Load is how many requests have a turn.
func (t *Turns) Load() int { return len(t.taken) }

// Turn is that of one request. The zero value is of a request that needs none.
type Turn struct{ taken chan struct{} }

// Client is who waits.
type Client interface {
	// Context ends when the client has left.
	Context() context.Context
}

// Take waits for a turn for a request of so many bytes, at most for wait and while the client is there; nil if nobody
// can tell that. ok says that the request may be worked on.
func (t *Turns) Take(c Client, bytes int, wait time.Duration) (turn Turn, ok bool) {
	if bytes < Large {
		return Turn{}, true
	}
	select {
	case t.taken <- struct{}{}:
		return Turn{t.taken}, true
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
		return Turn{t.taken}, true
	case <-late.C:
	case <-gone:
	}
	return Turn{}, false
}

// End gives the turn to the next.
func (t *Turn) End() {
	if t.taken != nil {
		<-t.taken
		t.taken = nil
	}
}

// Waits does a step in which others are waited for: meanwhile another request has the turn. It waits for the next one
// while the client is there, however long: nobody keeps a turn.
func (t *Turn) Waits(c Client, step func()) {
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
