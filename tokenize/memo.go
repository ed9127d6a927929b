package tokenize

import (
	"hash/maphash"
	"sync"
)

// Memo remembers the counts of texts, so that a conversation that comes again with one more turn costs what that turn
// costs. It is bounded: the counts used least recently are forgotten. Its methods may be called from any goroutine.
type Memo struct {
	seed   maphash.Seed
	half   int // entries in each half of a shard
	shards [16]shard
}

// shard forgets by halves: when the new half is full it becomes the old one, and what was old is gone. What is found in
// the old half moves to the new one.
type shard struct {
	mu       sync.Mutex
	new, old map[memoKey]int32
}

// memoKey is a text's keyed hash and length; nobody can make two texts share one without knowing the key.
type memoKey struct {
	hash       uint64
	size       uint32
	kind       uint16
	vocabulary Vocabulary
}

// NewMemo makes a memo of at most entries counts, but at least 32. Each takes some 70 bytes.
func NewMemo(entries int) *Memo {
	m := &Memo{seed: maphash.MakeSeed()}
	m.half = max(1, entries/2/len(m.shards))
	return m
}

// worthwhile is the length in bytes from which looking a text up is cheaper than counting it.
const worthwhile = 48

// Count returns c.Count(text), from memory if it is there.
func (m *Memo) Count(c *Counter, text []byte) int {
	if len(text) < worthwhile {
		return c.Count(text)
	}
	return m.Remember(c, 0, text, c.Count)
}

// Remember returns count(text), from memory if it is there. Each kind of count has a number of its own: 0 is of the
// text as it stands, other numbers are the callers'.
func (m *Memo) Remember(c *Counter, kind uint16, text []byte, count func([]byte) int) int {
	k := memoKey{maphash.Bytes(m.seed, text), uint32(len(text)), kind, c.vocabulary} //nolint:gosec // tells texts apart
	s := &m.shards[k.hash%uint64(len(m.shards))]
	if n, ok := s.find(k, m.half); ok {
		return int(n)
	}
	n := count(text)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keepLocked(k, int32(n), m.half) //nolint:gosec // texts in memory
	return n
}

func (s *shard) find(k memoKey, half int) (n int32, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n, ok = s.new[k]; ok {
		return n, true
	}
	if n, ok = s.old[k]; ok {
		s.keepLocked(k, n, half)
	}
	return n, ok
}

func (s *shard) keepLocked(k memoKey, n int32, half int) {
	if len(s.new) >= half || s.new == nil {
		s.old, s.new = s.new, make(map[memoKey]int32)
	}
	s.new[k] = n
}
