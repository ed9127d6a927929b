package proxy

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// rooms bounds the memory of the bodies under way. A body takes room as its bytes arrive, so a slow one is in nobody's
// way. When all room is taken, one body at a time goes on without: it will end and free its room, where many bodies
// that are half there would wait for each other for ever.
type rooms struct {
	free  *semaphore.Weighted // bytes
	extra chan struct{}       // holds the token of the body that goes on without room
	wait  time.Duration       // how long a body waits for more room
}

// newRooms returns the room for bodies of inFlight bytes together, with a rewritten copy of each. It keeps back what a
// body of maxBody bytes needs.
func newRooms(inFlight, maxBody int64, wait time.Duration) *rooms {
	return &rooms{semaphore.NewWeighted(max(inFlight/2-maxBody, 0)), make(chan struct{}, 1), wait}
}

// room is the memory that the bodies of one request have.
type room struct {
	all    *rooms
	bytes  int64
	taken  int64               // of bytes: those that are missing in all.free
	extra  bool                // it goes on without room
	watch  func() (end func()) // ends the wait for room if the client leaves; nil if another watch does
	pooled *[]byte             // what was taken from bodyPool; nil if nothing was
}

// freeBody is how many bytes of a body take no room: max_connections bounds them. So small requests never wait.
const freeBody = 64 << 10

// bodyPool holds the memory of bodies of freeBody to largeBody bytes for the next requests. Without it the garbage
// collector runs so often that a body of 800 KB costs half as much CPU time again.
var bodyPool sync.Pool

var (
	errTooLarge = errors.New("the body is too large")
	errNoRoom   = errors.New("there is no room for the body")
)

// take adds n bytes to the room. It waits for them, but not beyond the end of ctx.
func (r *room) take(ctx context.Context, n int64) error {
	r.bytes += n
	need := r.bytes - freeBody - r.taken
	if need <= 0 || r.extra {
		return nil
	}
	if !r.all.free.TryAcquire(need) {
		return r.await(ctx, need)
	}
	r.taken += need
	return nil
}

// await waits for room, or to be the body that goes on without. Bodies get both in the order in which they came.
func (r *room) await(ctx context.Context, need int64) error {
	if r.watch != nil {
		defer r.watch()()
	}
	ctx, cancel := context.WithTimeout(ctx, r.all.wait)
	defer cancel()
	acquired := make(chan error, 1)
	go func() { acquired <- r.all.free.Acquire(ctx, need) }()
	select {
	case err := <-acquired:
		if err != nil {
			return errNoRoom
		}
	case r.all.extra <- struct{}{}:
		cancel()
		if <-acquired != nil {
			r.extra = true
			return nil
		}
		<-r.all.extra // there is room after all
	}
	r.taken += need
	return nil
}

// release gives everything back, and the memory of the body too.
func (r *room) release() {
	if r.pooled != nil {
		bodyPool.Put(r.pooled)
	}
	if r.extra {
		<-r.all.extra
	}
	r.all.free.Release(r.taken)
	*r = room{all: r.all}
}

// memory returns an empty slice for a body of size bytes, of which nothing has been read.
func (r *room) memory(size int64) []byte {
	if size < freeBody || size > largeBody || r.pooled != nil {
		return make([]byte, 0, size)
	}
	body, ok := bodyPool.Get().(*[]byte)
	if !ok || int64(cap(*body)) < size {
		body = new(make([]byte, 0, size))
	}
	r.pooled = body
	return (*body)[:0]
}

// readAll reads src to its end, taking room as bytes arrive. length is how many bytes will come; -1 if that is not
// known. More than most bytes are errTooLarge.
func (r *room) readAll(ctx context.Context, src io.Reader, length, most int64) (body []byte, err error) {
	if length > most {
		return nil, errTooLarge
	}
	size := length // of the memory to have next
	if length < 0 || length > largeBody {
		size = min(freeBody, most+1)
	}
	for n := 0; err == nil && int64(len(body)) <= most; body = body[:len(body)+n] {
		if len(body) == cap(body) {
			if err := r.take(ctx, size-int64(len(body))); err != nil {
				return nil, err
			}
			body = append(r.memory(size), body...)
			if size = min(4*size, most+1); length >= 0 {
				size = min(size, length)
			}
		}
		n, err = src.Read(body[len(body):cap(body)])
	}
	switch {
	case int64(len(body)) > most:
		return nil, errTooLarge
	case err != io.EOF:
		return nil, err
	}
	return body, nil
}
