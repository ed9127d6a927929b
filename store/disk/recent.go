package disk

import (
	"bytes"
	"sync"

	"epitome/store/records"
)

const (
	recentBytes = 1 << 20  // of one generation of recent records, overhead included
	recentValue = 16 << 10 // bytes; larger values are read anew each time
)

// recent keeps small records that were read lately, until they change, and of which keys nothing was found. Each
// transaction of Badger's wakes a goroutine. For a request that is known already, that would cost more than all else
// that is done about it.
//
// It knows no record that nobody read: what was written is read once from where it will be read after a restart.
type recent struct {
	mu      sync.Mutex
	young   map[string]finding
	old     map[string]finding // what is not asked for again goes when young is full
	bytes   int                // of young
	changes uint64             // so far, of any key
	closed  bool
}

// finding is what was read under a key: a record, or that there is none.
type finding struct {
	records.Record
	found bool
}

// get returns what is known to stand under key; the record belongs to the caller. The caller hands at on to keep.
func (r *recent) get(key string) (f finding, known bool, at uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f, known = r.young[key]
	if !known {
		if f, known = r.old[key]; known {
			r.putLocked(key, f)
		}
	}
	f.Value = bytes.Clone(f.Value)
	return f, known, r.changes
}

// keep takes what was read after get gave at. It drops that if anything has changed since.
func (r *recent) keep(key string, read finding, at uint64) {
	if len(read.Value) > recentValue {
		return
	}
	read.Value = bytes.Clone(read.Value)
	r.mu.Lock()
	defer r.mu.Unlock()
	if at == r.changes && !r.closed {
		r.putLocked(key, read)
	}
}

func (r *recent) putLocked(key string, kept finding) {
	size := len(key) + len(kept.Value) + records.Overhead
	if r.young == nil || r.bytes+size > recentBytes {
		r.old, r.young, r.bytes = r.young, map[string]finding{}, 0
	}
	r.young[key] = kept
	r.bytes += size
}

// forget is called when the record under key has changed, or may have, before anybody is told.
func (r *recent) forget(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changes++
	delete(r.young, key)
	delete(r.old, key)
}

// close forgets everything, for good.
func (r *recent) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.young, r.old, r.closed = nil, nil, true
}
