package disk

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/dgraph-io/badger/v4"

	"epitome/store"
	"epitome/store/records"
)

const (
	// keyPrefix keeps our keys apart from those that Badger has for itself.
	keyPrefix = 'f'

	// slack is how long a fact has been expired when Sweep deletes it, and wallSlack when Badger does at the latest, by
	// the wall clock: so what Sweep cannot read goes as well, such as damaged records.
	slack     = time.Hour
	wallSlack = 7 * 24 * time.Hour

	// pageFacts and pageBytes bound what of a scan is read at a time.
	pageFacts = 128
	pageBytes = 1 << 20
)

// rows are the records of a Store.
type rows struct{ disk *Store }

// Read does what records.Rows says.
func (r rows) Read(key string) (records.Record, bool, error) {
	f, known, at := r.disk.recent.get(key)
	if known {
		return f.Record, f.found, nil
	}
	read, found, err := r.disk.readStored(key)
	if err == nil {
		r.disk.recent.keep(key, finding{read, found}, at)
	}
	return read, found, err
}

// readStored reads what Badger has.
func (d *Store) readStored(key string) (r records.Record, found bool, err error) {
	err = d.use(func() error {
		txn := d.db.NewTransaction(false)
		defer txn.Discard()
		item, err := txn.Get(diskKey(key))
		if err == nil {
			r, err = recordOf(key, item)
		}
		return err
	})
	switch {
	case err == nil:
		return r, true, nil
	case errors.Is(err, badger.ErrKeyNotFound):
		return records.Record{}, false, nil
	case errors.Is(err, store.ErrClosed), errors.Is(err, records.ErrDamaged):
		return records.Record{}, false, err
	}
	// What Badger cannot read counts as damaged, so that a new value may take its place.
	return records.Record{}, false, fmt.Errorf("%w: %.300s", records.ErrDamaged, err.Error())
}

// recordOf copies the record out of item.
func recordOf(key string, item *badger.Item) (records.Record, error) {
	stored, err := item.ValueCopy(nil)
	if err != nil {
		return records.Record{}, fmt.Errorf("%w: %.300s", records.ErrDamaged, err.Error())
	}
	return parseRecord(key, stored)
}

// Write does what records.Rows says.
func (r rows) Write(key string, written records.Record) error {
	d := r.disk
	if err := d.room.allow(2*len(key) + len(written.Value)); err != nil {
		return err
	}
	stored := appendRecord(make([]byte, 0, headSize+len(written.Value)), key, written)
	left := time.Duration(written.Expires - d.now().UnixNano())
	defer d.recent.forget(key)
	return d.change(func(txn *badger.Txn) error {
		return txn.SetEntry(badger.NewEntry(diskKey(key), stored).WithTTL(left + wallSlack))
	})
}

// Remove does what records.Rows says.
func (r rows) Remove(key string) error {
	d := r.disk
	if err := d.room.allow(2 * len(key)); err != nil {
		return err
	}
	defer d.recent.forget(key)
	return d.change(func(txn *badger.Txn) error { return txn.Delete(diskKey(key)) })
}

func (d *Store) change(set func(*badger.Txn) error) error {
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

// Walk does what records.Rows says.
func (r rows) Walk(prefix string, visit func(string, records.Record, error) bool) error {
	for next := []byte(diskKey(prefix)); next != nil; {
		var page []sheet
		err := r.disk.use(func() (err error) {
			page, next = r.disk.page(diskKey(prefix), next)
			return nil
		})
		if err != nil {
			return err
		}
		for _, s := range page {
			if !visit(s.key, s.Record, s.err) {
				return nil
			}
		}
	}
	return nil
}

// sheet is one record of a page.
type sheet struct {
	key string
	records.Record
	err error
}

// page reads some records from the key from on. next is where the next page begins, nil after the last. The caller
// works on them outside Badger's transaction, so it may take its time and change the store.
func (d *Store) page(prefix, from []byte) (found []sheet, next []byte) {
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
		size += len(r.Value)
	}
	return found, nil
}

func diskKey(key string) []byte {
	return append(append(make([]byte, 0, 1+len(key)), keyPrefix), key...)
}
