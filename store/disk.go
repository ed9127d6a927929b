package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dgraph-io/badger/v4"
)

const (
	// keyPrefix keeps our keys apart from those that Badger has for itself.
	keyPrefix = 'f'

	// slack is added to a fact's time in Badger, so that our own expiry rules and Badger's only gives space back.
	slack = time.Hour

	// pageFacts and pageBytes are how much of a scan is read at a time.
	pageFacts = 128
	pageBytes = 1 << 20

	// closeNeeds is what Close may write, in bytes, before Badger's files are left as after a crash.
	closeNeeds = 8 * memTableSize
)

// Disk is a Store in a folder.
type Disk struct {
	facts
	db     *badger.DB
	recent recent
	room   *space
	lock   *os.File
	notice string

	life   sync.RWMutex // held for reading while Badger is used; guards closed
	closed bool

	unsynced atomic.Bool
	stop     chan struct{} // closed by Close
	stopped  chan struct{} // closed by the goroutine that syncs
}

// Notice is one sentence about what happened to the store at Open, empty if all is well.
func (d *Disk) Notice() string { return d.notice }

// start begins to sync once in a while.
func (d *Disk) start(every time.Duration) {
	d.stop, d.stopped = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(d.stopped)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-d.stop:
				return
			case <-tick.C:
				if err := d.syncUnsynced(); err != nil && !errors.Is(err, ErrClosed) {
					d.fault(err)
				}
			}
		}
	}()
}

func (d *Disk) syncUnsynced() error {
	if !d.unsynced.Load() {
		return nil
	}
	return d.Sync()
}

// Sync returns when everything acknowledged before would survive a power failure.
func (d *Disk) Sync() error {
	d.unsynced.Store(false)
	if err := d.use(func() error { return d.db.Sync() }); err != nil {
		d.unsynced.Store(true)
		return fmt.Errorf("cannot sync store %s: %w", d.room.folder, err)
	}
	return nil
}

// Close syncs and ends the store. On a full disk Badger's files stay as they are, which its next start can read, and
// the folder stays in use until the process ends: tidying up would be a fault that ends the process now.
func (d *Disk) Close() error {
	d.life.Lock()
	if d.closed {
		d.life.Unlock()
		return nil
	}
	d.closed = true
	d.recent.close()
	d.life.Unlock()
	close(d.stop)
	<-d.stopped
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
func (d *Disk) use(do func() error) error {
	d.life.RLock()
	defer d.life.RUnlock()
	if d.closed {
		return ErrClosed
	}
	return survive(do)
}

// survive makes an error of a panic in do, and of a fault in a mapped file, which a disk that cannot be read causes.
func survive(do func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("badger panicked: %.300s", fmt.Sprint(p))
		}
	}()
	return do()
}

func (d *Disk) read(key string) (record, bool, error) {
	r, found, at := d.recent.get(key)
	if found {
		return r, true, nil
	}
	r, found, err := d.readStored(key)
	if found {
		d.recent.keep(key, r, at)
	}
	return r, found, err
}

// readStored reads what Badger has.
func (d *Disk) readStored(key string) (r record, found bool, err error) {
	err = d.use(func() error {
		txn := d.db.NewTransaction(false)
		defer txn.Discard()
		item, err := txn.Get(diskKey(key))
		if err != nil {
			return err
		}
		r, err = recordOf(key, item)
		return err
	})
	switch {
	case err == nil:
		return r, true, nil
	case errors.Is(err, badger.ErrKeyNotFound):
		return record{}, false, nil
	case errors.Is(err, ErrClosed), errors.Is(err, errDamaged):
		return record{}, false, err
	}
	// What Badger cannot read counts as damaged, so that a new value may take its place.
	return record{}, false, fmt.Errorf("%w: %.300s", errDamaged, err.Error())
}

// recordOf copies the record out of item.
func recordOf(key string, item *badger.Item) (record, error) {
	stored, err := item.ValueCopy(nil)
	if err != nil {
		return record{}, fmt.Errorf("%w: %.300s", errDamaged, err.Error())
	}
	return parseRecord(key, stored)
}

func (d *Disk) write(key string, r record) error {
	if err := d.room.check(); err != nil {
		return err
	}
	stored := appendRecord(make([]byte, 0, headSize+len(r.value)), key, r)
	left := time.Duration(r.expires - d.now().UnixNano())
	entry := badger.NewEntry(diskKey(key), stored).WithTTL(left + slack)
	defer d.recent.forget(key)
	return d.change(func(txn *badger.Txn) error { return txn.SetEntry(entry) })
}

func (d *Disk) remove(key string) error {
	if err := d.room.check(); err != nil {
		return err
	}
	defer d.recent.forget(key)
	return d.change(func(txn *badger.Txn) error { return txn.Delete(diskKey(key)) })
}

func (d *Disk) change(set func(*badger.Txn) error) error {
	return d.use(func() error {
		txn := d.db.NewTransaction(true)
		defer txn.Discard()
		if err := set(txn); err != nil {
			return err
		}
		d.unsynced.Store(true)
		return txn.Commit()
	})
}

func (d *Disk) walk(prefix string, visit func(string, record, error) bool) error {
	for next := []byte(diskKey(prefix)); next != nil; {
		var page []sheet
		err := d.use(func() (err error) {
			page, next = d.page(diskKey(prefix), next)
			return nil
		})
		if err != nil {
			return err
		}
		for _, s := range page {
			if !visit(s.key, s.record, s.err) {
				return nil
			}
		}
	}
	return nil
}

// sheet is one record of a page.
type sheet struct {
	key string
	record
	err error
}

// page reads some records from a key on, and where the next page begins, nil after the last. What the caller does
// with them happens outside Badger, so it may take its time and change the store.
func (d *Disk) page(prefix, from []byte) (found []sheet, next []byte) {
	txn := d.db.NewTransaction(false)
	defer txn.Discard()
	o := badger.DefaultIteratorOptions
	o.PrefetchValues, o.Prefix = false, prefix
	it := txn.NewIterator(o)
	defer it.Close()
	size := 0
	for it.Seek(from); it.Valid(); it.Next() {
		item := it.Item()
		if len(found) == pageFacts || size >= pageBytes {
			return found, bytes.Clone(item.Key())
		}
		key := string(item.Key()[1:])
		r, err := recordOf(key, item)
		found = append(found, sheet{key, r, err})
		size += len(r.value)
	}
	return found, nil
}

func diskKey(key string) []byte {
	return append(append(make([]byte, 0, 1+len(key)), keyPrefix), key...)
}
