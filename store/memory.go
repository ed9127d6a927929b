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

	mu         sync.Mutex // guards all below
	young, old map[string]fact
	used       int // bytes of young
	closed     bool
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

// use calls do with the live fact under a key; its value is nil if there is none. do may call put.
func (m *memory) use(verb, key string, do func(there fact) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return wrapped(verb, key, ErrClosed)
	}
	f, found := m.young[key]
	if !found {
		f = m.old[key]
	}
	if !time.Now().Before(f.expires) {
		f = fact{}
	}
	return wrapped(verb, key, do(f))
}

// put puts a fact into the young half. The caller holds m.mu.
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

// remove removes a fact from its half. The caller holds m.mu.
func (m *memory) remove(key string) {
	if f, found := m.young[key]; found {
		m.used -= f.size(key)
	}
	delete(m.young, key)
	delete(m.old, key)
}

func (m *memory) Get(key string) (value []byte, found bool, err error) {
	err = m.use("read", key, func(there fact) error {
		value = bytes.Clone(there.value)
		return nil
	})
	return value, value != nil, err
}

func (m *memory) GetMany(keys []string) ([][]byte, error) { return getEach(m, keys) }

func (m *memory) Swap(key string, old, value []byte, keep time.Duration) (standing []byte, err error) {
	err = m.use("swap", key, func(there fact) error {
		if err := check(key, value, keep); err != nil || !bytes.Equal(there.value, old) {
			standing = bytes.Clone(there.value)
			return err
		}
		standing = bytes.Clone(value)
		return m.put(key, fact{bytes.Clone(value), time.Now().Add(keep)})
	})
	if err != nil {
		return nil, err
	}
	return standing, nil
}

func (m *memory) Touch(key string, keep time.Duration) error {
	return m.use("touch", key, func(there fact) error {
		if there.value == nil {
			return nil
		}
		if until := time.Now().Add(keep); until.After(there.expires) {
			there.expires = until
		}
		return m.put(key, there)
	})
}

func (m *memory) Delete(keys ...string) error {
	for _, key := range keys {
		err := m.use("delete", key, func(fact) error {
			m.remove(key)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (m *memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed, m.young, m.old = true, nil, nil
	return nil
}
