package daemon

import (
	"sync"
	"time"

	"epitome/store"
)

// ledger keeps decisions in the store. What a prefix was sent as lives for keep from when the prefix was seen last.
type ledger struct {
	store store.Store
	keep  time.Duration
	now   func() time.Time

	mu      sync.Mutex
	touched map[string]time.Time // when each key was touched last; forgotten as a whole when it has grown
}

func newLedger(s store.Store, keep time.Duration) *ledger {
	return &ledger{store: s, keep: keep, now: time.Now, touched: map[string]time.Time{}}
}

// Get returns what stands under the key.
func (l *ledger) Get(key string) (value []byte, version uint64, found bool) {
	fact, found := l.store.Get(key)
	return fact.Bytes, fact.Version, found
}

// Add sets value if there is none, and returns what stands there afterwards.
func (l *ledger) Add(key string, value []byte) (standing []byte, version uint64, err error) {
	fact, _, err := l.store.PutIfAbsent(key, value, l.keep)
	return fact.Bytes, fact.Version, err
}

// Swap sets value in the place of version old, and returns what stands there afterwards.
func (l *ledger) Swap(key string, old uint64, value []byte) (standing []byte, version uint64, swapped bool, err error) {
	fact, swapped, err := l.store.CompareAndSwap(key, old, value, l.keep)
	return fact.Bytes, fact.Version, swapped, err
}

const (
	touchShare  = 32               // of keep, for which a touch holds
	touchEvery  = 10 * time.Minute // at most, so that a lost artifact is soon written again
	mostTouched = 100_000          // keys of which the last touch is remembered
)

// Touch lets what stands under the key live on. due says that what hangs on it needs a touch as well.
func (l *ledger) Touch(key string) (due bool) {
	now := l.now().Round(0) // by the wall clock, as facts expire: it goes on while a machine sleeps
	l.mu.Lock()
	last, known := l.touched[key]
	due = !known || now.Sub(last) > min(l.keep/touchShare, touchEvery) || now.Before(last)
	if due {
		if len(l.touched) >= mostTouched {
			clear(l.touched)
		}
		l.touched[key] = now
	}
	l.mu.Unlock()
	if due {
		_, _ = l.store.Touch(key, l.keep) // what cannot be touched dies earlier, and is decided anew
	}
	return due
}
