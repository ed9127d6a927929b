package wire

import (
	"bytes"
	"context"
	"sync"
	"time"

	"github.com/valyala/fasthttp"
	"golang.org/x/sync/semaphore"
)

// Admission bounds the bytes of all request bodies in flight. A request takes its room when its head has been
// read, before fasthttp allocates its body, and gives it back when its exchange ends. A body that may be rewritten
// takes room for its copy with it: if it had to wait for that later, many that hold their first half could wait for
// each other. A request that alone is larger than all room takes all of it.
type Admission struct {
	room *semaphore.Weighted
	size int64 // bytes of all room

	mu    sync.Mutex
	held  map[*fasthttp.RequestHeader]int64 // by the header's address, which is fixed while its request is being served
	names map[*fasthttp.RequestHeader][2]string
}

// NewAdmission makes an admission with room for size bytes.
func NewAdmission(size int64) *Admission {
	return &Admission{
		room: semaphore.NewWeighted(size), size: size,
		held: make(map[*fasthttp.RequestHeader]int64), names: make(map[*fasthttp.RequestHeader][2]string),
	}
}

// Remember remembers method and path of a request with a body: if that cannot be read, fasthttp forgets them.
func (a *Admission) Remember(h *fasthttp.RequestHeader) {
	path, _, _ := bytes.Cut(OriginForm(h.RequestURI()), []byte("?"))
	a.mu.Lock()
	a.names[h] = [2]string{string(h.Method()), string(path)}
	a.mu.Unlock()
}

// NameOf returns the method and the path that Remember has kept.
func (a *Admission) NameOf(h *fasthttp.RequestHeader) (method, path string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.names[h][0], a.names[h][1]
}

// Enter takes n bytes of room for the request of h and waits at most wait for it. It reports whether there was room.
func (a *Admission) Enter(h *fasthttp.RequestHeader, n int64, wait time.Duration) bool {
	if n = min(n, a.size); n <= 0 {
		return true
	}
	if !a.room.TryAcquire(n) {
		ctx, cancel := context.WithTimeout(context.Background(), wait)
		defer cancel()
		if a.room.Acquire(ctx, n) != nil {
			a.hold(h, noRoom)
			return false
		}
	}
	a.hold(h, n)
	return true
}

// noRoom stands for the bytes held by a request that found none.
const noRoom = -1

// hold notes that the request of h has n bytes.
func (a *Admission) hold(h *fasthttp.RequestHeader, n int64) {
	a.mu.Lock()
	a.held[h] = n
	a.mu.Unlock()
}

// IsRefused reports whether the request of h found no room.
func (a *Admission) IsRefused(h *fasthttp.RequestHeader) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.held[h] == noRoom
}

// ShrinkTo gives back all but n bytes of the request's room: a chunked body's length is known only once it has been
// read.
func (a *Admission) ShrinkTo(h *fasthttp.RequestHeader, n int64) {
	a.mu.Lock()
	spare := a.held[h] - n
	if spare > 0 {
		a.held[h] = n
	}
	a.mu.Unlock()
	if spare > 0 {
		a.room.Release(spare)
	}
}

// GrowTo makes the request's room n bytes, if there is as much now. It does not wait: who asks holds memory already.
func (a *Admission) GrowTo(h *fasthttp.RequestHeader, n int64) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	more := min(n, a.size) - a.held[h]
	if more <= 0 {
		return true
	}
	if !a.room.TryAcquire(more) {
		return false
	}
	a.held[h] += more
	return true
}

// Load is how many requests have room or have been refused it, and how many bytes they have together.
func (a *Admission) Load() (requests int, bytes int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, n := range a.held {
		bytes += max(n, 0)
	}
	return max(len(a.held), len(a.names)), bytes
}

// Leave gives the request's room back.
func (a *Admission) Leave(h *fasthttp.RequestHeader) {
	a.mu.Lock()
	n := a.held[h]
	delete(a.held, h)
	delete(a.names, h)
	a.mu.Unlock()
	if n > 0 {
		a.room.Release(n)
	}
}
