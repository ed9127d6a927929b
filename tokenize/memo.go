package tokenize

import (
	"hash/maphash"
	"sync"
)

// Memo remembers the counts of texts, so that a conversation that comes again with one more turn costs what that turn
// costs. It is bounded: the counts used least recently are forgotten. Its methods may be called from any goroutine.
type Memo struct {
	seed maphash.Seed
	half int

	// When new has half of all counts it becomes old, and what was old is gone. What is found in old moves to new.
	mu       sync.Mutex
	new, old map[memoKey]int
}

// memoKey is a text's keyed hash and length; nobody can make two texts share one without knowing the key.
type memoKey struct {
	hash uint64
	size uint32
	kind uint16
}

// NewMemo makes a memo of at most entries counts, but at least 2. Each takes some 70 bytes.
func NewMemo(entries int) *Memo {
	return &Memo{seed: maphash.MakeSeed(), half: max(1, entries/2), new: map[memoKey]int{}}
}

// worthwhile is the length in bytes from which looking a text up is cheaper than counting it.
const worthwhile = 48

// Count returns count(text), from memory if it is there. Each kind of count has a number of its own.
func (m *Memo) Count(kind uint16, text []byte, count func() int) int {
	if len(text) < worthwhile {
		return count()
	}
	k := memoKey{maphash.Bytes(m.seed, text), uint32(len(text)), kind} //nolint:gosec // tells texts apart
	m.mu.Lock()
	n, found := m.new[k]
	if !found {
		n, found = m.old[k]
	}
	m.mu.Unlock()
	if !found {
		n = count()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.new) >= m.half {
		m.old, m.new = m.new, map[memoKey]int{}
	}
	m.new[k] = n
	return n
}
