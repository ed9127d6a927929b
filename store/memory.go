package store

import (
	"bytes"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"
)

// memory is a store that ends with its process. Facts that were put or touched longest ago make room for others: they
// are in two halves, and when the young one is full, it takes the place of the old one.
type memory struct {
	limit int // bytes of a half

	mu         sync.Mutex // guards all below
	young, old map[string]remembered
	used       int // bytes of young
	closed     bool
}

type remembered struct {
	value   []byte
	expires time.Time
}

// sizeOf returns the bytes that a fact takes, with its part of the map, about.
func sizeOf(key string, r remembered) int { return len(key) + len(r.value) + 120 }

// NewMemory returns a store in memory of about so many bytes at most.
func NewMemory(limit int) Store {
	return &memory{limit: limit / 2, young: map[string]remembered{}}
}

// use calls do with the live value under a key, nil if there is none, and when it expires.
func (m *memory) use(verb, key string, do func(value []byte, expires time.Time) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return wrapped(verb, key, ErrClosed)
	}
	r, found := m.young[key]
	if !found {
		r = m.old[key]
	}
	if !time.Now().Before(r.expires) {
		r.value = nil
	}
	return wrapped(verb, key, do(r.value, r.expires))
}

// set puts a fact into the young half. The caller holds m.mu.
func (m *memory) set(key string, r remembered) error {
	size := sizeOf(key, r)
	if size > m.limit {
		return fmt.Errorf("%w: it takes %d bytes of %d", ErrNoSpace, size, m.limit)
	}
	m.remove(key)
	if m.used+size > m.limit {
		m.young, m.old, m.used = map[string]remembered{}, m.young, 0
	}
	m.young[key] = r
	m.used += size
	return nil
}

// remove removes what is under a key, expired or not. The caller holds m.mu.
func (m *memory) remove(key string) {
	if r, found := m.young[key]; found {
		m.used -= sizeOf(key, r)
	}
	delete(m.young, key)
	delete(m.old, key)
}

func (m *memory) Get(key string) (value []byte, found bool, err error) {
	err = m.use("read", key, func(there []byte, _ time.Time) error {
		value = bytes.Clone(there)
		return nil
	})
	return value, value != nil, err
}

func (m *memory) Put(key string, value []byte, keep time.Duration) error {
	return m.use("put", key, func([]byte, time.Time) error {
		if err := check(key, value, keep); err != nil {
			return err
		}
		return m.set(key, remembered{bytes.Clone(value), time.Now().Add(keep)})
	})
}

func (m *memory) Swap(key string, old, value []byte, keep time.Duration) (standing []byte, err error) {
	err = m.use("swap", key, func(there []byte, _ time.Time) error {
		if err := check(key, value, keep); err != nil || !bytes.Equal(there, old) {
			standing = bytes.Clone(there)
			return err
		}
		standing = bytes.Clone(value)
		return m.set(key, remembered{bytes.Clone(value), time.Now().Add(keep)})
	})
	if err != nil {
		return nil, err
	}
	return standing, nil
}

func (m *memory) Touch(key string, keep time.Duration) error {
	return m.use("touch", key, func(there []byte, expires time.Time) error {
		if there == nil {
			return nil
		}
		if until := time.Now().Add(keep); until.After(expires) {
			expires = until
		}
		return m.set(key, remembered{there, expires})
	})
}

func (m *memory) Delete(key string) error {
	return m.use("delete", key, func([]byte, time.Time) error {
		m.remove(key)
		return nil
	})
}

func (m *memory) Scan(prefix string, visit func(key string, value []byte) bool) error {
	var all map[string]remembered // visit may use the store
	err := m.use("scan", prefix, func([]byte, time.Time) error {
		all = maps.Clone(m.young)
		maps.Copy(all, m.old)
		return nil
	})
	for key := range all {
		if !strings.HasPrefix(key, prefix) {
			continue
		}
		if value, found, _ := m.Get(key); found && !visit(key, value) {
			break
		}
	}
	return err
}

func (m *memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed, m.young, m.old = true, nil, nil
	return nil
}
