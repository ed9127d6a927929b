package wire

import (
	"errors"
	"net"
	"sync"
	"time"
)

// longAgo is a deadline that ends what waits at once.
func longAgo() time.Time { return time.Unix(1, 0) }

// arrival is how far a client's request has come.
type arrival struct {
	arriving bool // its first byte has come, and not yet all of it
	broken   bool // the client has closed its side, or reset
	began    time.Time
	bytes    int
}

// add counts n bytes that came. The first ones begin a request.
func (a *arrival) add(n int) {
	if !a.arriving {
		a.arriving, a.began = true, time.Now()
	}
	a.bytes += n
}

// note remembers an error that is more than a deadline.
func (a *arrival) note(err error) {
	var late net.Error
	a.broken = a.broken || err != nil && !(errors.As(err, &late) && late.Timeout())
}

// firstRead is how many bytes are read where fasthttp asks for the first byte of a request alone: a small request
// whole. Only a connection that waits for its next request has this room; one whose answer streams has none.
const firstRead = 4 << 10

var rooms = sync.Pool{New: func() any { return new([firstRead]byte) }}

// ahead is what was read of a client's connection and not yet asked for.
type ahead struct {
	bytes []byte // of one or of room
	one   [1]byte
	room  *[firstRead]byte // nil unless bytes lie there
	err   error            // the client has left
}

// takeRoom is where to read a request's beginning to.
func (a *ahead) takeRoom() []byte {
	a.room = rooms.Get().(*[firstRead]byte) //nolint:forcetypeassert // nothing else is put there
	return a.room[:]
}

// fill says that n bytes of the room are there to be taken.
func (a *ahead) fill(n int) { a.bytes = a.room[:n] }

// take gives what was read, and lets go of its room with the last of it.
func (a *ahead) take(p []byte) int {
	n := copy(p, a.bytes)
	if a.bytes = a.bytes[n:]; len(a.bytes) == 0 && a.room != nil {
		rooms.Put(a.room)
		a.room = nil
	}
	return n
}
