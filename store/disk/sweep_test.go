package disk

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"epitome/store/storetest"
)

// lying is how many records Badger has, expired ones included.
func lying(d *Store) (n int) {
	txn := d.db.NewTransaction(false)
	defer txn.Discard()
	it := txn.NewIterator(badger.IteratorOptions{})
	defer it.Close()
	for it.Rewind(); it.Valid(); it.Next() {
		n++
	}
	return n
}

func mustSweep(t *testing.T, d *Store) Swept {
	t.Helper()
	swept, err := d.Sweep(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return swept
}

func TestSweepDeletesWhatHasExpiredByTheGivenClock(t *testing.T) {
	clock := storetest.NewClock()
	d := openedAt(t, Options{Folder: filepath.Join(t.TempDir(), "store"), Now: clock.Now})
	for i := range 300 {
		keep := time.Duration(1+i%3) * storetest.Month
		if _, err := d.Put(fmt.Sprint("fact ", i), []byte("value"), keep); err != nil {
			t.Fatal(err)
		}
	}
	want := func(gone, left int) {
		t.Helper()
		if swept := mustSweep(t, d); swept.Gone != gone || lying(d) != left {
			t.Errorf("%d are gone and %d lie there; want %d and %d", swept.Gone, lying(d), gone, left)
		}
	}
	want(0, 300)
	clock.Pass(storetest.Month + slack - time.Second)
	want(0, 300)
	clock.Pass(time.Second)
	want(100, 200)
	want(0, 200)
	storetest.Want(t, d, "fact 1", "value")
	clock.Pass(storetest.Month)
	if found, err := d.Touch("fact 2", 2*storetest.Month); !found || err != nil {
		t.Error(found, err)
	}
	want(100, 100)
	if _, err := d.Put("fact 0", []byte("anew"), 2*storetest.Month); err != nil {
		t.Fatal(err)
	}
	clock.Pass(storetest.Month)
	want(99, 2)
	storetest.Want(t, d, "fact 2", "value")
	storetest.Want(t, d, "fact 0", "anew")
}

func TestSweepsAreBoundedAndComeRound(t *testing.T) {
	clock := storetest.NewClock()
	d := opened(t, clock)
	d.sweeper.most = 100
	for i := range 1000 {
		storetest.Put(t, d, fmt.Sprintf("fact %03d", i), "value")
	}
	clock.Pass(2 * storetest.Month)
	for i := range 10 {
		if swept := mustSweep(t, d); swept.Looked != 100 || swept.Gone != 100 {
			t.Errorf("sweep %d: %+v", i, swept)
		}
	}
	if n := lying(d); n != 0 {
		t.Errorf("%d records lie there", n)
	}
	storetest.Put(t, d, "fact 000", "value")
	clock.Pass(2 * storetest.Month)
	if gone := mustSweep(t, d).Gone + mustSweep(t, d).Gone; gone != 1 {
		t.Errorf("%d are gone behind the last record; want the first one", gone)
	}
}

func TestSweepLeavesWhatIsWrittenMeanwhile(t *testing.T) {
	clock := storetest.NewClock()
	d := opened(t, clock)
	storetest.Put(t, d, "fact", "old")
	clock.Pass(2 * storetest.Month)
	storetest.Put(t, d, "fact", "new") // a sweep may have seen the old one
	if gone, err := d.Expire("fact"); gone || err != nil {
		t.Errorf("gone is %v, %v", gone, err)
	}
	storetest.Want(t, d, "fact", "new")
}

func TestWhatASweepCannotReadGoesByBadgersClock(t *testing.T) {
	clock := storetest.NewClock()
	d := opened(t, clock)
	before := time.Now().Add(storetest.Month + wallSlack)
	storetest.Put(t, d, "fact", "value")
	after := time.Now().Add(storetest.Month + wallSlack)
	var until time.Time
	err := d.db.Update(func(txn *badger.Txn) error {
		item, err := txn.Get(diskKey("fact"))
		if err != nil {
			return err
		}
		until = time.Unix(int64(item.ExpiresAt()), 0)
		return txn.SetEntry(badger.NewEntry(diskKey("fact"), []byte("damaged beyond reading")))
	})
	if err != nil || until.Before(before.Truncate(time.Second)) || until.After(after) {
		t.Errorf("Badger lets it go at %v, %v; want a time from %v to %v", until, err, before, after)
	}
	clock.Pass(2 * storetest.Month)
	if swept := mustSweep(t, d); swept.Looked != 1 || swept.Gone != 0 || lying(d) != 1 {
		t.Errorf("%+v, %d records lie there; want the damaged one left alone", swept, lying(d))
	}
}
