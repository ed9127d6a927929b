package disk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/dgraph-io/badger/v4"

	"epitome/store/records"
)

const (
	// sweepRecords and sweepBytes bound what one Sweep looks at.
	sweepRecords = 50_000
	sweepBytes   = 128 << 20
)

// Swept is what a Sweep did.
type Swept struct {
	Looked int   // records that it has looked at
	Bytes  int64 // of these
	Gone   int   // of these records, those that it has deleted
	More   bool  // there are records behind these, which the next Sweep looks at
}

// sweeper remembers how far sweeps have come.
type sweeper struct {
	mu   sync.Mutex // held by the one Sweep that runs
	next []byte     // Badger's key that is looked at next; nil is the first one
	most int        // records of one Sweep
}

// Sweep deletes records that expired more than slack ago by Options.Now, so that Badger gives their space back. One
// Sweep looks at a bounded number of records and bytes. The next one goes on behind them, and the one after the last
// record begins anew. What cannot be read stays until Badger's own clock takes it. Other methods may run meanwhile; a
// second Sweep waits.
func (d *Store) Sweep(ctx context.Context) (done Swept, err error) {
	d.sweeper.mu.Lock()
	defer d.sweeper.mu.Unlock()
	for ctx.Err() == nil && done.Looked < d.sweeper.most && done.Bytes < sweepBytes {
		if err := sweepPage(d, &done); err != nil {
			return done, fmt.Errorf("cannot sweep store %s: %w", d.room.folder, err)
		}
		if done.More = d.sweeper.next != nil; !done.More {
			break
		}
	}
	return done, nil
}

// sweepPage deletes those of some records that may go.
func sweepPage(d *Store, done *Swept) error {
	var expired []string
	err := d.use(func() error {
		expired = d.sweeper.page(d, done)
		return nil
	})
	for _, key := range expired {
		gone, err := d.Expire(key)
		if err != nil { // where the disk is full, the next one would fail too
			return err
		}
		if gone {
			done.Gone++
		}
	}
	return err
}

// page looks at some records of d from next on, and returns the keys of those that may go.
func (s *sweeper) page(d *Store, done *Swept) (expired []string) {
	txn := d.db.NewTransaction(false)
	defer txn.Discard()
	it := txn.NewIterator(badger.IteratorOptions{})
	defer it.Close()
	over, size := d.now().Add(-slack).UnixNano(), int64(0)
	defer func() { done.Bytes += size }()
	it.Seek(s.next)
	for s.next = nil; it.Valid(); it.Next() {
		item := it.Item()
		if len(expired) == pageFacts || size >= pageBytes || done.Looked == s.most {
			s.next = bytes.Clone(item.Key())
			break
		}
		done.Looked++
		size += item.EstimatedSize()
		if key, until, err := expiryOf(item); err == nil && until <= over {
			expired = append(expired, key)
		}
	}
	return expired
}

// errOther says that what lies in Badger is no record that this Store can read.
var errOther = errors.New("it is no record of this store")

// expiryOf returns when a record expires , and its key.
func expiryOf(item *badger.Item) (key string, until int64, err error) {
	if item.Key()[0] != keyPrefix {
		return "", 0, errOther
	}
	var r records.Record
	key = string(item.Key()[1:])
	err = item.Value(func(stored []byte) error {
		r, err = parseRecord(key, stored)
		return err
	})
	return key, r.Expires, err
}
