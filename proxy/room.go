package proxy

import (
	"context"
	"sync"
	"time"

	"github.com/valyala/fasthttp"
	"golang.org/x/sync/semaphore"
)

// room is what requests take, each by a key of its own. A request takes its room when its head has been read, before
// its body has memory, and gives it back when its exchange ends. A body that may be rewritten takes room for its copy
// with it: if it had to wait for that later, many that hold their first half could wait for each other. A request that
// alone is larger than all room takes all of it; one that is larger than its client's share takes all of the share, and
// of the room what it is.
type room struct {
	all  *semaphore.Weighted
	size int64 // bytes of all

	mu     sync.Mutex
	held   map[*fasthttp.RequestHeader]held
	names  map[*fasthttp.RequestHeader][2]string
	shares map[string]*semaphore.Weighted // by the names of clients, of which there are few
}

// held is what a request has.
type held struct {
	bytes int64               // noRoom for a request that found none
	share *semaphore.Weighted // of its client, from which the bytes are, too; nil if it has no name
}

// noRoom stands for the bytes held by a request that found none.
const noRoom = -1

// newRoom makes room for size bytes.
func newRoom(size int64) *room {
	return &room{
		all: semaphore.NewWeighted(size), size: size,
		held: make(map[*fasthttp.RequestHeader]held), names: make(map[*fasthttp.RequestHeader][2]string), shares: make(map[string]*semaphore.Weighted),
	}
}

// share is that of a client; nil for one without a name.
func (r *room) share(client string) *semaphore.Weighted {
	if client == "" {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.shares[client] == nil {
		r.shares[client] = semaphore.NewWeighted(r.ofShare(r.size))
	}
	return r.shares[client]
}

// ofShare is how many bytes of its client's share, which is half of all, a request takes that has n bytes.
func (r *room) ofShare(n int64) int64 { return min(n, max(1, r.size/2)) }

// Remember remembers method and path of a request with a body: if that cannot be read, nobody else knows them.
func (r *room) Remember(h *fasthttp.RequestHeader, method, path string) {
	r.mu.Lock()
	r.names[h] = [2]string{method, path}
	r.mu.Unlock()
}

// NameOf returns the method and the path that Remember has kept.
func (r *room) NameOf(h *fasthttp.RequestHeader) (method, path string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.names[h][0], r.names[h][1]
}

// Enter takes n bytes for the request of a client and waits at most wait for them. It reports whether there was room. A
// client waits for its own share first, and so in nobody's way.
func (r *room) Enter(h *fasthttp.RequestHeader, client string, n int64, wait time.Duration) bool {
	share := r.share(client)
	if n = min(n, r.size); n <= 0 {
		return true
	}
	until := time.Now().Add(wait)
	if share != nil && !take(share, r.ofShare(n), until) {
		r.hold(h, held{bytes: noRoom})
		return false
	}
	if !take(r.all, n, until) {
		if share != nil {
			share.Release(r.ofShare(n))
		}
		r.hold(h, held{bytes: noRoom})
		return false
	}
	r.hold(h, held{n, share})
	return true
}

// take takes n bytes of what a semaphore has, and waits for them no longer than until.
func take(from *semaphore.Weighted, n int64, until time.Time) bool {
	if from.TryAcquire(n) {
		return true
	}
	ctx, cancel := context.WithDeadline(context.Background(), until)
	defer cancel()
	return from.Acquire(ctx, n) == nil
}

// hold notes what a request has.
func (r *room) hold(h *fasthttp.RequestHeader, has held) {
	r.mu.Lock()
	r.held[h] = has
	r.mu.Unlock()
}

// IsRefused reports whether the request found no room.
func (r *room) IsRefused(h *fasthttp.RequestHeader) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.held[h].bytes == noRoom
}

// ShrinkTo gives back all but n bytes of the request's room: a chunked body's length is known only once it has been
// read.
func (r *room) ShrinkTo(h *fasthttp.RequestHeader, n int64) {
	r.mu.Lock()
	has := r.held[h]
	if has.bytes > n {
		r.held[h] = held{n, has.share}
	}
	r.mu.Unlock()
	r.release(has, n)
}

// release gives back what a request has beyond left bytes.
func (r *room) release(has held, left int64) {
	if has.bytes <= left {
		return
	}
	r.all.Release(has.bytes - left)
	if of := r.ofShare(has.bytes) - r.ofShare(left); has.share != nil && of > 0 {
		has.share.Release(of)
	}
}

// GrowTo makes the request's room n bytes, if there is as much now. It does not wait: who asks holds memory already.
func (r *room) GrowTo(h *fasthttp.RequestHeader, n int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	has := r.held[h]
	n = min(n, r.size)
	if n <= has.bytes {
		return true
	}
	of := r.ofShare(n) - r.ofShare(has.bytes)
	if shares := has.share != nil && of > 0; shares && !has.share.TryAcquire(of) {
		return false
	} else if !r.all.TryAcquire(n - has.bytes) {
		if shares {
			has.share.Release(of)
		}
		return false
	}
	r.held[h] = held{n, has.share}
	return true
}

// Load is how many requests have room or have been refused it, and how many bytes they have together.
func (r *room) Load() (requests int, bytes int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, has := range r.held {
		bytes += max(has.bytes, 0)
	}
	return max(len(r.held), len(r.names)), bytes
}

// Leave gives the request's room back.
func (r *room) Leave(h *fasthttp.RequestHeader) {
	r.mu.Lock()
	has := r.held[h]
	delete(r.held, h)
	delete(r.names, h)
	r.mu.Unlock()
	r.release(has, 0)
}
