package disk

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/dgraph-io/badger/v4"

	"epitome/store/records"
)

// A sealed record lies under sealedPrefix and the name that package seal gives its key. Its value is the sealed form of
// the key and of what a plain record has. A key has one record, sealed or plain: whoever writes one drops the other.

func (d *Store) sealedKey(key string) []byte {
	return append([]byte{sealedPrefix}, d.seal.RecordName(key)...)
}

// hasPlain reports whether any record lies there that was written without a seal.
func (d *Store) hasPlain() (has bool) {
	err := d.use(func() error {
		txn := d.db.NewTransaction(false)
		defer txn.Discard()
		it := txn.NewIterator(badger.IteratorOptions{Prefix: []byte{keyPrefix}})
		defer it.Close()
		it.Rewind()
		has = it.Valid()
		return nil
	})
	return has || err != nil
}

// lookUp reads the record that has the key, sealed or plain.
func (d *Store) lookUp(txn *badger.Txn, key string) (records.Record, error) {
	if d.seal != nil {
		item, err := txn.Get(d.sealedKey(key))
		if err == nil {
			r, _, err := d.unseal(item)
			return r, err
		}
		if !d.both || !errors.Is(err, badger.ErrKeyNotFound) {
			return records.Record{}, err
		}
	}
	item, err := txn.Get(diskKey(key))
	if err != nil {
		return records.Record{}, err
	}
	return recordOf(key, item)
}

// unseal opens the record in item, and says which key it has.
func (d *Store) unseal(item *badger.Item) (r records.Record, key string, err error) {
	var stored []byte
	err = item.Value(func(sealed []byte) error {
		key, stored, err = d.seal.OpenRecord(item.Key(), sealed)
		return err
	})
	if err != nil {
		return records.Record{}, "", fmt.Errorf("%w: %.300s", records.ErrDamaged, err.Error())
	}
	r, err = parseRecord(key, stored)
	return r, key, err
}

// dropOther deletes the record that has the key and is not of the kind that is written now.
func (d *Store) dropOther(txn *badger.Txn, key string) error {
	switch {
	case d.seal == nil:
		return nil
	case d.seal.Writes():
		return d.dropPlain(txn, key)
	}
	return drop(txn, d.sealedKey(key))
}

func (d *Store) dropPlain(txn *badger.Txn, key string) error {
	if !d.both {
		return nil
	}
	return drop(txn, diskKey(key))
}

// drop deletes what is under a key of Badger's, if there is anything: else nothing is written.
func drop(txn *badger.Txn, at []byte) error {
	if _, err := txn.Get(at); err != nil { // what cannot be read does not keep the new one from its place
		return nil
	}
	return txn.Delete(at)
}

// walkSealed visits records of both kinds. Names of sealed ones are in no order, so their keys are sorted first.
func (d *Store) walkSealed(prefix string, visit func(string, records.Record, error) bool) error {
	keys, damaged, err := d.keys(prefix)
	if err != nil {
		return err
	}
	for _, err := range damaged {
		if !visit(prefix, records.Record{}, err) {
			return nil
		}
	}
	for _, key := range keys {
		r, found, err := d.readStored(key)
		if !found && err == nil {
			continue
		}
		if !visit(key, r, err) {
			return nil
		}
	}
	return nil
}

// keys returns the keys that begin with prefix, in their order, and why some of the records cannot be read. Of those
// nothing is known but their kind.
func (d *Store) keys(prefix string) (keys []string, damaged []error, err error) {
	kind := prefix[:min(1, len(prefix))] // it stands in a sealed record's name
	for next := []byte(string(sealedPrefix) + kind); next != nil; {
		err = d.use(func() (err error) {
			var page []string
			var failed []error
			page, failed, next = d.sealedPage([]byte(string(sealedPrefix)+kind), next, prefix)
			keys, damaged = append(keys, page...), append(damaged, failed...)
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
	}
	for next := diskKey(prefix); d.both && next != nil; {
		err = d.use(func() (err error) {
			var page []sheet
			page, next = d.page(diskKey(prefix), next)
			for _, s := range page {
				keys = append(keys, s.key)
			}
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys), damaged, nil
}

// sealedPage opens some sealed records of a kind, from the name on, and returns those keys that begin with prefix. next
// is where the next page begins, nil after the last.
func (d *Store) sealedPage(kind, from []byte, prefix string) (keys []string, damaged []error, next []byte) {
	txn := d.db.NewTransaction(false)
	defer txn.Discard()
	it := txn.NewIterator(badger.IteratorOptions{Prefix: kind})
	defer it.Close()
	n := 0
	for it.Seek(from); it.Valid(); it.Next() {
		if n == pageFacts {
			return keys, damaged, bytes.Clone(it.Item().Key())
		}
		n++
		_, key, err := d.unseal(it.Item())
		switch {
		case err != nil:
			damaged = append(damaged, err)
		case len(key) >= len(prefix) && key[:len(prefix)] == prefix:
			keys = append(keys, key)
		}
	}
	return keys, damaged, nil
}
