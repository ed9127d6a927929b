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
	new, old map[memoKey]int32
}

// memoKey is a text's keyed hash and length; nobody can make two texts share one without knowing the key.
type memoKey struct {
	hash       uint64
	size       uint32
	kind       uint16
	vocabulary Vocabulary
}

// NewMemo makes a memo of at most entries counts, but at least 2. Each takes some 70 bytes.
func NewMemo(entries int) *Memo {
	return &Memo{seed: maphash.MakeSeed(), half: max(1, entries/2), new: map[memoKey]int32{}}
}

// worthwhile is the length in bytes from which looking a text up is cheaper than counting it.
const worthwhile = 48

// Count returns c.Count(text), from memory if it is there.
func (m *Memo) Count(c *Counter, text []byte) int { return m.Remember(c, 0, text, c.Count) }

// Remember returns count(text), from memory if it is there. Each kind of count has a number of its own: 0 is of the
// text as it stands, other numbers are the callers'.
func (m *Memo) Remember(c *Counter, kind uint16, text []byte, count func([]byte) int) int {
	if len(text) < worthwhile {
		return count(text)
	}
	k := memoKey{maphash.Bytes(m.seed, text), uint32(len(text)), kind, c.vocabulary} //nolint:gosec // tells texts apart
	m.mu.Lock()
	n, isNew := m.new[k]
	old, isOld := m.old[k]
	m.mu.Unlock()
	switch {
	case isNew:
		return int(n)
	case isOld:
		n = old
	default:
		n = int32(count(text)) //nolint:gosec // of a text in memory
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.new) >= m.half {
		m.old, m.new = m.new, map[memoKey]int32{}
	}
	m.new[k] = n
	return int(n)
}
