// Package memory is a store that ends with its process.
//
// It promises what package store says, as long as the process lives, in about so many bytes as it is given. Over that
// limit it gives up the facts that would expire first, which are those put or touched longest ago where all are kept
// equally long.
package memory

import (
	"container/heap"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"epitome/store"
	"epitome/store/records"
)

// Store is a store.Store in memory. Make one with New.
type Store struct {
	*records.Facts
	rows *rows
}

var _ store.Store = (*Store)(nil)

// New returns a Store that takes about limit bytes at most. now tells the time of expiry.
func New(limit int, now func() time.Time) *Store {
	r := &rows{limit: limit, byKey: map[string]*entry{}}
	return &Store{records.New(r, now, func(error) {}), r}
}

// Sync does nothing: there is nothing that could survive.
func (s *Store) Sync() error {
	s.rows.mu.Lock()
	defer s.rows.mu.Unlock()
	if s.rows.closed {
		return store.ErrClosed
	}
	return nil
}

// Close forgets everything.
func (s *Store) Close() error {
	s.rows.mu.Lock()
	defer s.rows.mu.Unlock()
	s.rows.closed = true
	s.rows.byKey, s.rows.due, s.rows.size = nil, nil, 0
	return nil
}

// rows are the records of a Store.
type rows struct {
	limit int // bytes

	mu     sync.Mutex // guards all below
	byKey  map[string]*entry
	due    expiries
	size   int // bytes, records.Overhead included
	closed bool
}

// entry is one record of a Store.
type entry struct {
	key string
	records.Record
	place int // in due
}

func (e *entry) size() int { return len(e.key) + len(e.Value) + records.Overhead }

// Read does what records.Rows says.
func (m *rows) Read(key string) (records.Record, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return records.Record{}, false, store.ErrClosed
	}
	e, found := m.byKey[key]
	if !found {
		return records.Record{}, false, nil
	}
	r := e.Record
	r.Value = append([]byte(nil), r.Value...)
	return r, true, nil
}

// Write does what records.Rows says.
func (m *rows) Write(key string, r records.Record) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return store.ErrClosed
	}
	r.Value = append([]byte(nil), r.Value...)
	e := &entry{key: key, Record: r}
	if e.size() > m.limit {
		return fmt.Errorf("%w: the fact takes %d bytes of %d", store.ErrNoSpace, e.size(), m.limit)
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

// Remove does what records.Rows says.
func (m *rows) Remove(key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return store.ErrClosed
	}
	m.dropLocked(key)
	return nil
}

func (m *rows) dropLocked(key string) {
	e, found := m.byKey[key]
	if !found {
		return
	}
	heap.Remove(&m.due, e.place)
	delete(m.byKey, key)
	m.size -= e.size()
}

// Walk does what records.Rows says.
func (m *rows) Walk(prefix string, visit func(string, records.Record, error) bool) error {
	keys, err := m.keys(prefix)
	if err != nil {
		return err
	}
	for _, key := range keys {
		r, found, err := m.Read(key)
		if err != nil {
			return err
		}
		if found && !visit(key, r, nil) {
			return nil
		}
	}
	return nil
}

func (m *rows) keys(prefix string) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, store.ErrClosed
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
func (x expiries) Less(i, j int) bool { return x[i].Expires < x[j].Expires }
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
