package store

import (
	"bytes"
	"fmt"
	"sync"
	"time"
)

// memory is a store that ends with its process. Facts that were set or touched longest ago make room for others: they
// are in two halves, and when the young one is full, it takes the place of the old one.
type memory struct {
	limit int // bytes of a half

	mu         sync.Mutex      // guards all below
	young, old map[string]fact // young is nil once the store is closed
	used       int             // bytes of young
}

type fact struct {
	value   []byte
	expires time.Time
}

// size returns about how many bytes a fact takes, with its part of the map.
func (f fact) size(key string) int { return len(key) + len(f.value) + 120 }

// NewMemory returns a store in memory that takes about limit bytes at most.
func NewMemory(limit int) Store {
	return &memory{limit: limit / 2, young: map[string]fact{}}
}

// find returns the live fact under a key; its value is nil if there is none. The caller holds m.mu, here and below.
func (m *memory) find(key string) (fact, error) {
	if m.young == nil {
		return fact{}, ErrClosed
	}
	f, found := m.young[key]
	if !found {
		f = m.old[key]
	}
	if !time.Now().Before(f.expires) {
		return fact{}, nil
	}
	return f, nil
}

// put puts a fact into the young half.
func (m *memory) put(key string, f fact) error {
	size := f.size(key)
	if size > m.limit {
		return fmt.Errorf("%w: it takes %d bytes of %d", ErrNoSpace, size, m.limit)
	}
	m.remove(key)
	if m.used+size > m.limit {
		m.young, m.old, m.used = map[string]fact{}, m.young, 0
	}
	m.young[key] = f
	m.used += size
	return nil
}

// remove removes a fact from its half.
func (m *memory) remove(key string) {
	if f, found := m.young[key]; found {
		m.used -= f.size(key)
	}
	delete(m.young, key)
	delete(m.old, key)
}

func (m *memory) Get(key string) (value []byte, found bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f, err := m.find(key)
	return bytes.Clone(f.value), f.value != nil, wrapped("read", key, err)
}

func (m *memory) GetMany(keys []string) ([][]byte, error) { return getEach(m, keys) }

func (m *memory) Swap(key string, old, value []byte, keep time.Duration) (standing []byte, err error) {
	if err := check(key, value, keep); err != nil {
		return nil, wrapped("swap", key, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	f, err := m.find(key)
	if err != nil {
		return nil, wrapped("swap", key, err)
	}
	if !bytes.Equal(f.value, old) { // another writer was first
		return bytes.Clone(f.value), nil
	}
	if err := m.put(key, fact{value: bytes.Clone(value), expires: time.Now().Add(keep)}); err != nil {
		return nil, wrapped("swap", key, err)
	}
	return bytes.Clone(value), nil
}

func (m *memory) Touch(key string, keep time.Duration) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	f, err := m.find(key)
	if err != nil || f.value == nil {
		return wrapped("touch", key, err)
	}
	if until := time.Now().Add(keep); until.After(f.expires) {
		f.expires = until
	}
	return wrapped("touch", key, m.put(key, f))
}

func (m *memory) Delete(keys ...string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, key := range keys {
		if m.young == nil {
			return wrapped("delete", key, ErrClosed)
		}
		m.remove(key)
	}
	return nil
}

func (m *memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.young, m.old = nil, nil
	return nil
}
