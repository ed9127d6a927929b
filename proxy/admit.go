package proxy

import (
	"context"
	"errors"
	"io"
	"sync"
)

const (
	freeBody  = 64 << 10 // bytes of each body that take no room: max_connections bounds them, so small requests never wait
	largeBody = 1 << 20  // bytes from which a body gets its memory as it arrives, and takes turns to be shaped
)

// admission bounds the memory of the bodies under way. A body takes room as its bytes arrive, so one that comes slowly
// is in nobody's way. When all room is taken, one body at a time goes on without: it will end and free its room, where
// many bodies that are half there would wait for each other for ever.
type admission struct {
	mu    sync.Mutex
	free  int64         // bytes
	freed chan struct{} // closed, and made anew, when bytes are given back
	extra chan struct{} // holds the token of the body that goes on without room
}

// newAdmission makes an admission for bodies that are inFlight bytes together, with a rewritten copy of each. It keeps
// back what a body of maxBody bytes needs.
func newAdmission(inFlight, maxBody int64) *admission {
	return &admission{free: max(inFlight/2-maxBody, 0), freed: make(chan struct{}), extra: make(chan struct{}, 1)}
}

// room is the memory that the bodies of one request have.
type room struct {
	*admission
	bytes  int64
	taken  int64     // of bytes: those that are missing in free
	extra  bool      // it goes on without room
	pooled []*[]byte // what was taken from bodyPool
}

// bodyPool holds the memory of bodies of freeBody to largeBody bytes for the next requests. Without it the garbage
// collector runs so often that a body of 800 KB costs half as much CPU time again.
var bodyPool sync.Pool

var (
	errTooLarge = errors.New("the body is too large")
	errNoRoom   = errors.New("there is no room for the body")
)

// take adds n bytes to the room, and waits for them until ctx ends; then it returns errNoRoom.
func (r *room) take(ctx context.Context, n int64) error {
	need := r.bytes + n - freeBody - r.taken
	for need > 0 && !r.extra {
		r.mu.Lock()
		freed, fits := r.freed, r.free >= need
		if fits {
			r.free -= need
			r.taken += need
		}
		r.mu.Unlock()
		if fits {
			break
		}
		select {
		case <-freed:
		case r.admission.extra <- struct{}{}:
			r.extra = true
		case <-ctx.Done():
			return errNoRoom
		}
	}
	r.bytes += n
	return nil
}

// release gives everything back, and the memory of the bodies too. The room is empty then.
func (r *room) release() {
	for _, body := range r.pooled {
		bodyPool.Put(body)
	}
	if r.extra {
		<-r.admission.extra
	}
	if r.taken > 0 {
		r.mu.Lock()
		r.free += r.taken
		close(r.freed)
		r.freed = make(chan struct{})
		r.mu.Unlock()
	}
	*r = room{admission: r.admission}
}

// memory returns an empty slice with a capacity of size bytes or more.
func (r *room) memory(size int64) []byte {
	if size < freeBody || size > largeBody {
		return make([]byte, 0, size)
	}
	body, ok := bodyPool.Get().(*[]byte)
	if !ok || int64(cap(*body)) < size {
		body = new(make([]byte, 0, size))
	}
	r.pooled = append(r.pooled, body)
	return (*body)[:0]
}

// readAll reads src to its end, taking room as bytes arrive. length is how many bytes will come; -1 if that is not
// known. More than most bytes are errTooLarge.
func (r *room) readAll(ctx context.Context, src io.Reader, length, most int64) ([]byte, error) {
	if length > most {
		return nil, errTooLarge
	}
	size := length // of the memory to have next
	if length < 0 || length > largeBody {
		size = min(freeBody, most+1)
	}
	var body []byte
	for {
		if len(body) == cap(body) {
			if err := r.take(ctx, size-int64(len(body))); err != nil {
				return nil, err
			}
			body = append(r.memory(size), body...)
			if size = min(4*size, most+1); length >= 0 {
				size = min(size, length)
			}
		}
		n, err := src.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case int64(len(body)) > most:
			return nil, errTooLarge
		case err == io.EOF:
			return body, nil
		case err != nil:
			return nil, err
		}
	}
}
