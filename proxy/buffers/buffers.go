// Package buffers lends memory for the bodies that are sent, so that a long conversation makes no garbage of its own
// length with each request.
//
// It promises that a buffer has one owner at a time, that an owner gets one at most, and that what is kept for the next
// owner is bounded. Whoever takes a buffer back promises that nobody reads it any more: what lay there may be
// another user's the next moment.
package buffers

import (
	"math/bits"
	"sync"
)

const (
	least    = 16 << 10 // bytes: less is no garbage to speak of
	most     = 4 << 20  // bytes: more is rare, and would be kept for nothing
	mostKept = 8 << 20  // bytes of all buffers that nobody has
)

// Pool lends buffers. Its methods may be called from any goroutine.
type Pool[O comparable] struct {
	// Returned is given each buffer as it comes back, whole. It is set before the first one is lent, or not at all.
	Returned func([]byte)

	mu   sync.Mutex
	lent map[O][]byte
	free [bits.UintSize + 1][][]byte // by the length of their capacity in bits
	kept int                         // bytes of what is free
}

// New makes a pool for owners of one kind.
func New[O comparable]() *Pool[O] { return &Pool[O]{lent: make(map[O][]byte)} }

// For is how owner asks for the memory of a body of n bytes: an empty buffer that holds them, or nil. There is none for
// what is too small or too large, and no second one for an owner who has one.
func (p *Pool[O]) For(owner O) func(n int) []byte {
	return func(n int) []byte { return p.lend(owner, n) }
}

func (p *Pool[O]) lend(owner O, n int) []byte {
	if n < least || n > most {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lent[owner] != nil {
		return nil
	}
	size := 1 << bits.Len(uint(n-1))
	var b []byte
	if free := p.free[bits.Len(uint(size))]; len(free) > 0 {
		b = free[len(free)-1]
		free[len(free)-1] = nil
		p.free[bits.Len(uint(size))] = free[:len(free)-1]
		p.kept -= size
	} else {
		b = make([]byte, 0, size)
	}
	p.lent[owner] = b
	return b
}

// TakeBack takes back what the owner has, if it has anything. Nobody reads or writes it from here on.
func (p *Pool[O]) TakeBack(owner O) {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.lent[owner]
	if b == nil {
		return
	}
	delete(p.lent, owner)
	if p.Returned != nil {
		p.Returned(b[:cap(b)])
	}
	if p.kept+cap(b) <= mostKept {
		class := bits.Len(uint(cap(b)))
		p.free[class] = append(p.free[class], b)
		p.kept += cap(b)
	}
}

// Lent is how many owners have a buffer.
func (p *Pool[O]) Lent() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.lent)
}
