// Package store keeps facts, which are small values by key: in Badger (embedded, the default), in Redis (for several
// replicas), or in memory. The tests hold each of them to this contract.
//
// A fact that a write has acknowledged survives the death of the process, byte for byte, until it expires. A store may
// lose facts earlier where a disk is damaged or a limit of memory is reached. All methods may be called from any
// goroutine, after Close too.
package store

import (
	"errors"
	"fmt"
	"time"
)

const (
	MaxKey   = 1 << 10         // bytes of a key
	MaxValue = 1<<20 - 4*1<<10 // bytes of a value; more belongs into a file
)

var (
	// ErrInUse says that another process, or another store of this one, holds the folder.
	ErrInUse = errors.New("the store is in use by another process")

	// ErrNoSpace says that too little of the disk or of the memory is free for a write.
	ErrNoSpace = errors.New("too little free space")

	// ErrAway says that a server does not answer. Nothing was read or written.
	ErrAway = errors.New("the server does not answer")

	// ErrClosed says that the store was closed before.
	ErrClosed = errors.New("the store is closed")
)

// Store is what every store does. Keys and values must not be empty. keep is how long a fact lives from now, to the
// second; it must be positive. Values that are passed are not kept, and those that are returned belong to the caller.
type Store interface {
	// Get returns the value under a key. After an error it is not known whether there is one.
	Get(key string) (value []byte, found bool, err error)

	// GetMany returns the values under keys, in their order, and nil where there is none. After an error it returns none.
	// It is one round trip, and no snapshot: of what is written meanwhile, it may see a part.
	GetMany(keys []string) (values [][]byte, err error)

	// Swap sets the value under a key if the one that is there equals old; a nil old wants none. It returns the value
	// that is there afterwards, nil if none. Of two writers that swap the same old, one wins, and both get the winner's
	// value.
	Swap(key string, old, value []byte, keep time.Duration) (standing []byte, err error)

	// Touch lets the fact under a key live for keep from now, unless it lives about as long anyway: a sixteenth of keep
	// may be missing.
	Touch(key string, keep time.Duration) error

	// Delete removes the facts under keys, in one round trip. Keys that have none do not matter. After an error some may
	// be removed.
	Delete(keys ...string) error

	// Close closes the store. Afterwards calls return ErrClosed; a second Close does nothing.
	Close() error
}

// getEach is GetMany of a store whose Get is no round trip.
func getEach(s Store, keys []string) ([][]byte, error) {
	values := make([][]byte, len(keys))
	for i, key := range keys {
		value, _, err := s.Get(key)
		if err != nil {
			return nil, err
		}
		values[i] = value
	}
	return values, nil
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
