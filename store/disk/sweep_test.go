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
