// Package seen remembers conversations that were read, so that what comes again is recognised by one hash of its bytes
// and not read again.
//
// It promises that a conversation is found only where its bytes stand, but for marks for the provider's cache, which
// come and go; that nothing is shared, neither between those who may not share, nor by two requests at once: what is
// found is given away, and put back by who has it; and that it is bounded: what was used least recently is forgotten.
// It may forget anything at any time, and what it says is good for one process alone. What else is known of a
// conversation is for its user to say.
package seen

import (
	"container/list"
	"hash/maphash"
	"slices"
	"sync"
	"time"
)

// Held is what a Cache keeps: a pointer to whatever embeds a Talk.
type Held interface{ talk() *Talk }

// Cache has the conversations. Its methods may be called from any goroutine.
type Cache[P Held] struct {
	seed maphash.Seed
	keep time.Duration // from when on nobody asks for a conversation any more; 0: never

	mu     sync.Mutex
	starts map[uint64][]*list.Element // of P, by sharers and first bytes
	recent *list.List                 // of P, the newest first
	bytes  int
}

const (
	mostSeen  = 64 << 20 // bytes of memory for all conversations
	startLen  = 1 << 10  // bytes by which conversations are told apart at first
	mostAlike = 4        // conversations that begin alike and are looked at
)

// New makes a cache of conversations for which nobody asks any more after keep; 0: they are kept for ever.
func New[P Held](keep time.Duration) *Cache[P] {
	return &Cache[P]{keep: keep, seed: maphash.MakeSeed(), starts: map[uint64][]*list.Element{}, recent: list.New()}
}

// Sum is a hash of b that is good for this process alone.
func (c *Cache[P]) Sum(b []byte) uint64 { return maphash.Bytes(c.seed, b) }

func (c *Cache[P]) startOf(sharers string, b []byte) uint64 {
	var h maphash.Hash
	h.SetSeed(c.seed)
	_, _ = h.WriteString(sharers)
	_ = h.WriteByte(0)
	_, _ = h.Write(b[:min(len(b), startLen)])
	return h.Sum64()
}

// of is what lies in the cache at e.
func (c *Cache[P]) of(e *list.Element) P { return e.Value.(P) } //nolint:forcetypeassert // nothing else is put there

// Take finds the longest conversation of the sharers that b begins with, and gives it away; nil if there is none.
func (c *Cache[P]) Take(sharers string, b []byte) (found P) {
	start := c.startOf(sharers, b)
	c.mu.Lock()
	alike := slices.Clone(c.starts[start])
	c.mu.Unlock()
	var best *list.Element
	for _, e := range alike {
		t := c.of(e).talk()
		if best != nil && c.of(best).talk().length() > t.length() {
			continue
		}
		if t.opens(c.seed, b) {
			best = e
		}
	}
	if best == nil {
		return found
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.removeLocked(best)
}

// removeLocked takes a conversation out; nil if somebody else has.
func (c *Cache[P]) removeLocked(e *list.Element) (found P) {
	t := c.of(e).talk()
	alike := c.starts[t.start]
	i := slices.Index(alike, e)
	if i < 0 {
		return found
	}
	if alike = append(alike[:i:i], alike[i+1:]...); len(alike) == 0 {
		delete(c.starts, t.start)
	} else {
		c.starts[t.start] = alike
	}
	c.recent.Remove(e)
	c.bytes -= t.memory
	return c.of(e)
}

// Put remembers a conversation of the sharers that nobody else uses any more, which has the bytes b and takes so many
// bytes of memory.
func (c *Cache[P]) Put(sharers string, p P, b []byte, memory int) {
	if len(b) < startLen { // quickly read again
		return
	}
	t := p.talk()
	t.hash(c.seed, b)
	t.start, t.memory = c.startOf(sharers, b), memory
	c.mu.Lock()
	defer c.mu.Unlock()
	c.starts[t.start] = append(c.starts[t.start], c.recent.PushFront(p))
	c.bytes += t.memory
	if alike := c.starts[t.start]; len(alike) > mostAlike {
		c.removeLocked(alike[0])
	}
	for oldest := c.recent.Back(); oldest != nil; oldest = c.recent.Back() {
		if c.bytes <= mostSeen && (c.keep == 0 || t.Asked.Sub(c.of(oldest).talk().Asked) <= c.keep) {
			return
		}
		c.removeLocked(oldest)
	}
}
