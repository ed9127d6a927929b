package rewrite

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

// Turns are a weighted semaphore that clients acquire in turn, so that a burst of one client's requests does not hold up
// those of others. Requests of one client acquire it in the order in which they came.
type Turns struct {
	*semaphore.Weighted

	mu      sync.Mutex
	clients map[string]*turn // those with requests that wait
}

// turn is that of one client. The request that holds it is the only one of its client in the semaphore's own queue.
type turn struct {
	free     *semaphore.Weighted
	requests int // that wait for the turn, or have it
}

// NewTurns returns a semaphore of a size.
func NewTurns(size int64) *Turns {
	return &Turns{Weighted: semaphore.NewWeighted(size), clients: map[string]*turn{}}
}

// AcquireFor acquires n for a request of a client. It waits until ctx ends, whose error it returns.
func (t *Turns) AcquireFor(ctx context.Context, client string, n int64) error {
	own := t.count(client, 1)
	defer t.count(client, -1)
	err := own.free.Acquire(ctx, 1)
	if err != nil {
		return err
	}
	defer own.free.Release(1)
	return t.Acquire(ctx, n)
}

// count adds to the requests of a client, and returns its turn.
func (t *Turns) count(client string, requests int) *turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	own := t.clients[client]
	if own == nil {
		own = &turn{free: semaphore.NewWeighted(1)}
		t.clients[client] = own
	}
	own.requests += requests
	if own.requests == 0 {
		delete(t.clients, client)
	}
	return own
}
