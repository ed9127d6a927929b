// Package disk is a store in a folder, over Badger.
//
// It promises what package store says. A damaged store is moved aside, and an empty one begins; Options.Fault hears why
// a fact could not be read, once for each failed read.
//
// What has expired gives its space back after a Sweep.
//
// It assumes: one process uses a folder at a time, which a lock sees to; somebody calls Sweep now and again; and the
// clock that is passed runs no slower than the wall clock, by which Badger drops at last what no Sweep can read.
//
// It does not promise: that the last second survives a power failure (Badger's log is synced each Options.SyncEvery);
// protection against someone who writes into the folder; or survival of a disk that other programs fill within one
// second, as Badger's mapped files then end the process. The next start after such a death while opening moves the
// folder aside.
package disk

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/gofrs/flock"

	"epitome/store"
	"epitome/store/records"
)

// closeNeeds is what Close may write, in bytes. If less is free, it leaves Badger's files as after a crash.
const closeNeeds = 8 * memTableSize

// Store is a store.Store in a folder. Make one with Open.
type Store struct {
	*records.Facts
	db      *badger.DB
	recent  recent
	sweeper sweeper
	room    *space
	lock    *flock.Flock
	now     func() time.Time
	fault   func(error)
	notice  string

	life   sync.RWMutex // held for reading while Badger is used; guards closed
	closed bool

	unsynced atomic.Bool
	syncing  struct {
		stop    chan struct{} // closed by Close
		stopped chan struct{} // closed by the goroutine that syncs
	}
}

var _ store.Store = (*Store)(nil)

// Notice returns one sentence about what happened to the store at Open, empty if all is well.
func (d *Store) Notice() string { return d.notice }

// IsFull reports whether the disk of a store has too little room for another fact. Its look is not older than a second.
func IsFull(d *Store) bool { return errors.Is(d.room.check(), store.ErrNoSpace) }

// Size is how many bytes the store's tables have on the disk. What was put last is in none yet.
func (d *Store) Size() (n int64) {
	_ = d.use(func() error { // one that is closed has none
		for _, table := range d.db.Tables() {
			n += int64(table.OnDiskSize)
		}
		return nil
	})
	return n
}

// start begins to sync once in a while.
func (d *Store) start(every time.Duration) {
	d.syncing.stop, d.syncing.stopped = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(d.syncing.stopped)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-d.syncing.stop:
				return
			case <-tick.C:
				if err := d.syncUnsynced(); err != nil && !errors.Is(err, store.ErrClosed) {
					d.fault(err)
				}
			}
		}
	}()
}

func (d *Store) syncUnsynced() error {
	if !d.unsynced.Load() {
		return nil
	}
	return d.Sync()
}

// Sync returns when everything acknowledged before would survive a power failure.
func (d *Store) Sync() error {
	d.unsynced.Store(false)
	if err := d.use(func() error { return d.db.Sync() }); err != nil {
		d.unsynced.Store(true)
		return fmt.Errorf("cannot sync store %s: %w", d.room.folder, err)
	}
	return nil
}

// Close syncs and ends the store. On a full disk it leaves Badger's files as they are, as tidying up would be a fault
// that ends the process. The next start can read them; until the process ends, the folder stays in use.
func (d *Store) Close() error {
	d.life.Lock()
	if d.closed {
		d.life.Unlock()
		return nil
	}
	d.closed = true
	d.recent.close()
	d.life.Unlock()
	close(d.syncing.stop)
	<-d.syncing.stopped
	synced := survive(d.db.Sync)
	if err := d.room.atLeast(closeNeeds); err != nil {
		return fmt.Errorf("cannot close store %s: %w", d.room.folder, errors.Join(err, synced))
	}
	err := errors.Join(survive(d.db.Close), synced)
	if err = errors.Join(err, d.lock.Close()); err != nil {
		return fmt.Errorf("cannot close store %s: %w", d.room.folder, err)
	}
	return nil
}

// use calls do unless the store is closed; Close waits for it.
func (d *Store) use(do func() error) error {
	d.life.RLock()
	defer d.life.RUnlock()
	if d.closed {
		return store.ErrClosed
	}
	return survive(do)
}

// survive calls do and returns a panic in it as an error, and so a fault in a mapped file that cannot be read.
func survive(do func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("badger panicked: %.300s", fmt.Sprint(p))
		}
	}()
	return do()
}
