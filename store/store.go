// Package store keeps facts, which are small values by key: in Badger (embedded, the default), in Redis (for several
// replicas), or in memory. The tests hold each of them to this contract.
//
// A fact that a write has acknowledged survives the death of the process, byte for byte, until it expires. A store may
// lose facts earlier where a disk is damaged or a limit of memory is reached. All methods may be called from any
// goroutine, after Close too.
package store

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"time"
)

const (
	MaxKey   = 1 << 10         // bytes of a key
	MaxValue = 1<<20 - 4*1<<10 // bytes of a value; more belongs in a file
)

var (
	// ErrInUse says that another process, or another store of this one, holds the folder.
	ErrInUse = errors.New("the store is in use by another process")

	// ErrNoSpace says that too little of the disk or of the memory is free for a write.
	ErrNoSpace = errors.New("too little free space")

	// ErrAway says that a server does not answer. Nothing was read or written.
	ErrAway = errors.New("the server does not answer")

	// ErrFailed says that the disk has failed. Nothing is read or written until the next start.
	ErrFailed = errors.New("the disk has failed under the store")

	// ErrClosed says that the store was closed before.
	ErrClosed = errors.New("the store is closed")
)

// Store is what every store does. Keys and values must not be empty. keep is how long a fact lives from now, to the
// second; it must be positive. Values that are passed are not kept, and those that are returned belong to the caller.
type Store interface {
	// GetMany returns the values under keys, in their order, and nil where there is none. After an error it returns
	// none. It is one round trip, and no snapshot: of what is written meanwhile, it may see a part.
	GetMany(keys []string) (values [][]byte, err error)

	// Swap sets the value under a key if the one that is there equals old; a nil old wants none. It returns the value
	// that is there afterwards, nil if none. Of two writers that swap the same old, one wins, and both get the winner's
	// value.
	Swap(key string, old, value []byte, keep time.Duration) (standing []byte, err error)

	// Touch lets the fact under a key live for keep from now, unless it lives about as long anyway: a sixteenth of keep
	// may be missing.
	Touch(key string, keep time.Duration) error

	// Delete removes the facts under keys, in one round trip. Keys that have none do not matter. After an error some
	// may be removed.
	Delete(keys ...string) error

	// Close closes the store. Afterwards calls return ErrClosed; a second Close does nothing.
	Close() error
}

// Get returns the value under a key; nil if there is none. After an error it is not known whether there is one.
func Get(s Store, key string) (value []byte, err error) {
	values, err := s.GetMany([]string{key})
	if err != nil {
		return nil, err
	}
	return values[0], nil
}

// check returns what is wrong with a fact that is to be put.
func check(key string, value []byte, keep time.Duration) error {
	switch {
	case key == "" || len(key) > MaxKey:
		return fmt.Errorf("its key has %d bytes; want 1 to %d", len(key), MaxKey)
	case len(value) == 0 || len(value) > MaxValue:
		return fmt.Errorf("its value has %d bytes; want 1 to %d", len(value), MaxValue)
	case keep <= 0:
		return fmt.Errorf("it is to be kept for %v; want a time above 0", keep)
	}
	return nil
}

// wrapped returns err with what was done to the fact under a key; nil if err is nil.
func wrapped(verb, key string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("cannot %s fact %q: %w", verb, key[:min(len(key), 100)], err)
}

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

func (m *memory) GetMany(keys []string) ([][]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	values := make([][]byte, len(keys))
	for i, key := range keys {
		f, err := m.find(key)
		if err != nil {
			return nil, wrapped("read", key, err)
		}
		values[i] = bytes.Clone(f.value)
	}
	return values, nil
}

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
