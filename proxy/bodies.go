package proxy

import "sync"

// Rewritten bodies lie in memory that is used again, so that a long conversation makes no garbage of its own length
// with each request.
var bodies = sync.Pool{New: func() any { return new([]byte) }}

// The bodies that are worth it, in bytes: less is no garbage to speak of, and more is rare.
const (
	leastLent = 16 << 10
	mostLent  = 4 << 20
)

// lend gives the exchange memory for a body of n bytes, once; nil if it gets none. giveBack takes it back.
func (x *exchange) lend(n int) []byte {
	if x.lent != nil || n < leastLent || n > mostLent {
		return nil
	}
	x.lent = bodies.Get().(*[]byte)
	if cap(*x.lent) < n {
		*x.lent = make([]byte, 0, n+n/4)
	}
	return (*x.lent)[:0]
}

// giveBack takes back what was lent. Nobody reads or writes it from here on.
func (x *exchange) giveBack() {
	if x.lent != nil {
		bodies.Put(x.lent)
		x.lent = nil
	}
}
