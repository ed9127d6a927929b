package store

import (
	"bytes"
	"container/list"
	"fmt"
	"strings"
	"sync"
	"time"
)

// memory is a store that ends with its process. Facts that were put or touched longest ago make room for others.
type memory struct {
	limit int // bytes

	mu     sync.Mutex // guards all below
	facts  map[string]*list.Element
	order  *list.List // of *remembered, the one put or touched last in front
	used   int        // bytes
	closed bool
}

type remembered struct {
	key     string
	value   []byte
	expires time.Time
}

func (r *remembered) size() int { return len(r.key) + len(r.value) + 160 } // what map and list take, about

// NewMemory returns a store in memory of about so many bytes at most.
func NewMemory(limit int) Store {
	return &memory{limit: limit, facts: map[string]*list.Element{}, order: list.New()}
}

// find returns the live fact under a key; nil if there is none. The caller holds m.mu.
func (m *memory) find(key string) *remembered {
	e, found := m.facts[key]
	if !found {
		return nil
	}
	r := e.Value.(*remembered)
	if !time.Now().Before(r.expires) {
		m.remove(key)
		return nil
	}
	return r
}

// remove removes what is under a key, expired or not. The caller holds m.mu.
func (m *memory) remove(key string) {
	if e, found := m.facts[key]; found {
		m.used -= e.Value.(*remembered).size()
		m.order.Remove(e)
		delete(m.facts, key)
	}
}

func (m *memory) Get(key string) (value []byte, found bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, false, ErrClosed
	}
	r := m.find(key)
	if r == nil {
		return nil, false, nil
	}
	return bytes.Clone(r.value), true, nil
}

func (m *memory) Put(key string, value []byte, keep time.Duration) error {
	_, err := m.change("put", key, value, keep, func([]byte) bool { return true })
	return err
}

func (m *memory) Swap(key string, old, value []byte, keep time.Duration) ([]byte, error) {
	return m.change("swap", key, value, keep, func(there []byte) bool { return bytes.Equal(there, old) })
}

// change sets the value under a key if may allows it for the value that is there, nil if none. It returns the value that
// is there afterwards.
func (m *memory) change(
	verb, key string, value []byte, keep time.Duration, may func(there []byte) bool,
) (standing []byte, err error) {
	if err := check(key, value, keep); err != nil {
		return nil, wrapped(verb, key, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, wrapped(verb, key, ErrClosed)
	}
	if r := m.find(key); r != nil {
		standing = r.value
	}
	if !may(standing) {
		return bytes.Clone(standing), nil
	}
	r := &remembered{key, bytes.Clone(value), time.Now().Add(keep)}
	if r.size() > m.limit {
		return bytes.Clone(standing), wrapped(verb, key, fmt.Errorf("%w: it takes %d bytes of %d", ErrNoSpace, r.size(), m.limit))
	}
	m.remove(key)
	for m.used+r.size() > m.limit {
		m.remove(m.order.Back().Value.(*remembered).key)
	}
	m.facts[key] = m.order.PushFront(r)
	m.used += r.size()
	return bytes.Clone(value), nil
}

func (m *memory) Touch(key string, keep time.Duration) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return wrapped("touch", key, ErrClosed)
	}
	if r := m.find(key); r != nil {
		m.order.MoveToFront(m.facts[key])
		if until := time.Now().Add(keep); until.After(r.expires) {
			r.expires = until
		}
	}
	return nil
}

func (m *memory) Delete(key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return wrapped("delete", key, ErrClosed)
	}
	m.remove(key)
	return nil
}

func (m *memory) Scan(prefix string, visit func(key string, value []byte) bool) error {
	m.mu.Lock()
	var keys []string
	for key := range m.facts {
		if strings.HasPrefix(key, prefix) {
			keys = append(keys, key)
		}
	}
	closed := m.closed
	m.mu.Unlock()
	if closed {
		return wrapped("scan", prefix, ErrClosed)
	}
	for _, key := range keys {
		if value, found, _ := m.Get(key); found && !visit(key, value) {
			break
		}
	}
	return nil
}

func (m *memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed, m.facts, m.order = true, nil, list.New()
	return nil
}
