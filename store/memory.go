package store

import (
	"container/heap"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// overhead is what one fact costs beside its key and value, about, in bytes.
const overhead = 160

// Memory is a Store that forgets everything with its process. Over its limit it gives up the facts that would expire
// first, which are those put or touched longest ago where all are kept equally long.
type Memory struct {
	facts
	limit int // bytes

	mu     sync.Mutex // guards all below
	byKey  map[string]*entry
	due    expiries
	size   int // bytes, overhead included
	closed bool
}

// entry is one fact of a Memory.
type entry struct {
	key string
	record
	place int // in due
}

func (e *entry) size() int { return len(e.key) + len(e.value) + overhead }

// NewMemory returns a Store in memory that takes about limit bytes at most. now tells the time of expiry.
func NewMemory(limit int, now func() time.Time) *Memory {
	m := &Memory{limit: limit, byKey: map[string]*entry{}}
	m.begin(m, now, func(error) {})
	return m
}

// Sync does nothing: there is nothing that could survive.
func (m *Memory) Sync() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return ErrClosed
	}
	return nil
}

func (m *Memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	m.byKey, m.due, m.size = nil, nil, 0
	return nil
}

func (m *Memory) read(key string) (record, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return record{}, false, ErrClosed
	}
	e, found := m.byKey[key]
	if !found {
		return record{}, false, nil
	}
	r := e.record
	r.value = append([]byte(nil), r.value...)
	return r, true, nil
}

func (m *Memory) write(key string, r record) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return ErrClosed
	}
	r.value = append([]byte(nil), r.value...)
	e := &entry{key: key, record: r}
	if e.size() > m.limit {
		return fmt.Errorf("%w: the fact takes %d bytes of %d", ErrNoSpace, e.size(), m.limit)
	}
	m.dropLocked(key)
	for m.size+e.size() > m.limit {
		m.dropLocked(m.due[0].key)
	}
	m.byKey[key] = e
	heap.Push(&m.due, e)
	m.size += e.size()
	return nil
}

func (m *Memory) remove(key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return ErrClosed
	}
	m.dropLocked(key)
	return nil
}

func (m *Memory) dropLocked(key string) {
	e, found := m.byKey[key]
	if !found {
		return
	}
	heap.Remove(&m.due, e.place)
	delete(m.byKey, key)
	m.size -= e.size()
}

func (m *Memory) walk(prefix string, visit func(string, record, error) bool) error {
	keys, err := m.keys(prefix)
	if err != nil {
		return err
	}
	for _, key := range keys {
		r, found, err := m.read(key)
		if err != nil {
			return err
		}
		if found && !visit(key, r, nil) {
			return nil
		}
	}
	return nil
}

func (m *Memory) keys(prefix string) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, ErrClosed
	}
	var keys []string
	for key := range m.byKey {
		if strings.HasPrefix(key, prefix) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys, nil
}

// expiries is a heap with the entry that expires first on top.
type expiries []*entry

func (x expiries) Len() int           { return len(x) }
func (x expiries) Less(i, j int) bool { return x[i].expires < x[j].expires }
func (x expiries) Swap(i, j int) {
	x[i], x[j] = x[j], x[i]
	x[i].place, x[j].place = i, j
}

// Push is for package heap.
func (x *expiries) Push(e any) {
	e.(*entry).place = len(*x)
	*x = append(*x, e.(*entry))
}

// Pop is for package heap.
func (x *expiries) Pop() any {
	last := len(*x) - 1
	e := (*x)[last]
	(*x)[last] = nil
	*x = (*x)[:last]
	return e
}
