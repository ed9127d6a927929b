// Package records makes the facts of package store out of any place that keeps records by key: versions, expiry, and
// the order of changes. So every store that keeps its bytes here has one reading of the contract.
//
// It promises what store.Store says of Get, Put, PutIfAbsent, CompareAndSwap, Delete, Scan and Touch, if the Rows
// promise what they say.
//
// It assumes that nobody else changes the Rows: the changes of a key are put in order within this process alone.
package records

import (
	"errors"
	"fmt"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"epitome/store"
)

const (
	// longest bounds a keep: nanoseconds since 1970 end in 2262.
	longest = 100 * 365 * 24 * time.Hour

	// Overhead is what one record costs in memory beside its key and value, about, in bytes.
	Overhead = 160
)

// ErrDamaged says that what lies under a key is not what was written there.
var ErrDamaged = errors.New("the value is damaged")

// Record is a fact with its expiry.
type Record struct {
	Version uint64
	Expires int64 // nanoseconds since 1970
	Value   []byte
}

func (r Record) fact() store.Fact { return store.Fact{Bytes: r.Value, Version: r.Version} }

// Rows keeps records by key, expired ones included. Its methods may be called at the same time; the changes of one key
// come one after another.
type Rows interface {
	// Read returns a record that belongs to the caller; damage is ErrDamaged.
	Read(key string) (r Record, found bool, err error)

	// Write does not keep r.Value.
	Write(key string, r Record) error

	// Remove takes the record away. Removing what is not there is no error.
	Remove(key string) error

	// Walk calls visit in the order of keys, with an error for each record that cannot be read.
	Walk(prefix string, visit func(key string, r Record, err error) bool) error
}

// Facts is the contract over Rows. Make one with New.
type Facts struct {
	rows  Rows
	now   func() time.Time
	fault func(error)

	seed  maphash.Seed
	locks [64]sync.Mutex // each makes the changes of its share of the keys happen one after another

	last atomic.Uint64 // the highest version given so far
}

// New returns the facts that rows hold. now is the clock of expiry; fault hears of each read that failed for another
// reason than absence. Versions start at the clock, so that they rise over restarts too.
func New(rows Rows, now func() time.Time, fault func(error)) *Facts {
	f := &Facts{rows: rows, now: now, fault: fault, seed: maphash.MakeSeed()}
	f.last.Store(uint64(max(now().UnixNano(), 0)))
	return f
}

// version returns a version higher than old and than every one given before.
func (f *Facts) version(old uint64) uint64 {
	for {
		last := f.last.Load()
		next := max(last, old) + 1
		if f.last.CompareAndSwap(last, next) {
			return next
		}
	}
}

func (f *Facts) lock(key string) *sync.Mutex {
	mu := &f.locks[maphash.String(f.seed, key)%uint64(len(f.locks))]
	mu.Lock()
	return mu
}

// live returns the record under key unless it has expired. A damaged one is reported and absent: a new value may take
// its place.
func (f *Facts) live(key string) (Record, bool, error) {
	r, found, err := f.rows.Read(key)
	if errors.Is(err, ErrDamaged) {
		f.fault(fmt.Errorf("cannot read fact %q: %w", store.Shown(key), err))
		return Record{}, false, nil
	}
	if err != nil || !found || r.Expires <= f.now().UnixNano() {
		return Record{}, false, err
	}
	return r, true, nil
}

// Get does what store.Store says.
func (f *Facts) Get(key string) (store.Fact, bool) {
	if store.CheckKey(key) != nil {
		return store.Fact{}, false
	}
	r, found, err := f.live(key)
	if err != nil {
		f.fault(fmt.Errorf("cannot read fact %q: %w", store.Shown(key), err))
	}
	if err != nil || !found {
		return store.Fact{}, false
	}
	return r.fact(), true
}

// Put does what store.Store says.
func (f *Facts) Put(key string, value []byte, keep time.Duration) (uint64, error) {
	if err := store.Check(key, value, keep); err != nil {
		return 0, fmt.Errorf("cannot put fact %q: %w", store.Shown(key), err)
	}
	defer f.lock(key).Unlock()
	old, _, err := f.rows.Read(key) // an expired one too: its version must not come again
	if err != nil && !errors.Is(err, ErrDamaged) {
		return 0, fmt.Errorf("cannot put fact %q: %w", store.Shown(key), err)
	}
	r := Record{f.version(old.Version), f.until(keep), value}
	if err := f.rows.Write(key, r); err != nil {
		return 0, fmt.Errorf("cannot put fact %q: %w", store.Shown(key), err)
	}
	return r.Version, nil
}

// PutIfAbsent does what store.Store says.
func (f *Facts) PutIfAbsent(key string, value []byte, keep time.Duration) (store.Fact, bool, error) {
	return f.CompareAndSwap(key, 0, value, keep)
}

// CompareAndSwap does what store.Store says.
func (f *Facts) CompareAndSwap(key string, old uint64, value []byte, keep time.Duration) (store.Fact, bool, error) {
	if err := store.Check(key, value, keep); err != nil {
		return store.Fact{}, false, fmt.Errorf("cannot swap fact %q: %w", store.Shown(key), err)
	}
	defer f.lock(key).Unlock()
	there, _, err := f.live(key)
	if err != nil {
		return store.Fact{}, false, fmt.Errorf("cannot swap fact %q: %w", store.Shown(key), err)
	}
	if there.Version != old {
		return there.fact(), false, nil
	}
	r := Record{f.version(old), f.until(keep), value}
	if err := f.rows.Write(key, r); err != nil {
		return there.fact(), false, fmt.Errorf("cannot swap fact %q: %w", store.Shown(key), err)
	}
	return store.Fact{Bytes: append([]byte(nil), value...), Version: r.Version}, true, nil
}

// Delete does what store.Store says.
func (f *Facts) Delete(key string) error {
	err := store.CheckKey(key)
	if err == nil {
		defer f.lock(key).Unlock()
		err = f.rows.Remove(key)
	}
	if err != nil {
		return fmt.Errorf("cannot delete fact %q: %w", store.Shown(key), err)
	}
	return nil
}

// Expire takes the record under key away if it has expired. It returns whether it did.
func (f *Facts) Expire(key string) (gone bool, err error) {
	defer f.lock(key).Unlock()
	r, found, err := f.rows.Read(key)
	if err == nil && found && r.Expires <= f.now().UnixNano() {
		err = f.rows.Remove(key)
		gone = err == nil
	}
	if err != nil {
		return false, fmt.Errorf("cannot delete expired fact %q: %w", store.Shown(key), err)
	}
	return gone, nil
}

// Touch does what store.Store says.
func (f *Facts) Touch(key string, keep time.Duration) (bool, error) {
	if err := store.Check(key, nil, keep); err != nil {
		return false, fmt.Errorf("cannot touch fact %q: %w", store.Shown(key), err)
	}
	defer f.lock(key).Unlock()
	r, found, err := f.live(key)
	if err == nil && found {
		until := f.until(keep)
		if r.Expires >= until-int64(min(keep, longest)/16) {
			return true, nil
		}
		r.Expires = until
		err = f.rows.Write(key, r)
	}
	if err != nil {
		return found, fmt.Errorf("cannot touch fact %q: %w", store.Shown(key), err)
	}
	return found, nil
}

// Scan does what store.Store says.
func (f *Facts) Scan(prefix string, visit func(key string, fact store.Fact) bool) error {
	err := f.rows.Walk(prefix, func(key string, r Record, err error) bool {
		if err != nil {
			f.fault(fmt.Errorf("cannot read fact %q: %w", store.Shown(key), err))
			return true
		}
		return r.Expires <= f.now().UnixNano() || visit(key, r.fact())
	})
	if err != nil {
		return fmt.Errorf("cannot scan facts %q: %w", store.Shown(prefix), err)
	}
	return nil
}

// until returns when a fact expires that is to be kept from now on.
func (f *Facts) until(keep time.Duration) int64 { return f.now().Add(min(keep, longest)).UnixNano() }
