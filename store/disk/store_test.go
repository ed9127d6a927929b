package disk

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"epitome/store"
	"epitome/store/records"
	"epitome/store/storetest"
)

func plenty(string) (uint64, error) { return math.MaxUint64, nil }

func opened(t testing.TB, c *storetest.Clock) *Store {
	t.Helper()
	return openedAt(t, Options{Folder: filepath.Join(t.TempDir(), "store"), Now: c.Now})
}

// openedAt opens a store that the end of the test closes.
func openedAt(t testing.TB, o Options) *Store {
	t.Helper()
	if o.Free == nil {
		o.Free = plenty
	}
	d, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// mustOpen opens a store of which there is nothing to tell; the test closes it.
func mustOpen(t testing.TB, o Options) *Store {
	t.Helper()
	d, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	if d.Notice() != "" {
		t.Fatal(d.Notice())
	}
	return d
}

func fresh(t testing.TB, c *storetest.Clock) (store.Store, func() store.Store) {
	o := Options{Folder: filepath.Join(t.TempDir(), "store"), Now: c.Now, Free: plenty}
	d := mustOpen(t, o)
	return d, func() store.Store {
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		d = mustOpen(t, o)
		return d
	}
}

func TestContract(t *testing.T) { storetest.TestStore(t, fresh) }

func TestOwnClock(t *testing.T) { storetest.TestOwnClock(t, fresh) }

func TestRestartKeepsEverything(t *testing.T) {
	c := storetest.NewClock()
	o := Options{Folder: filepath.Join(t.TempDir(), "store"), Now: c.Now, Free: plenty}
	random := rand.New(rand.NewPCG(1, 2))
	facts := map[string]store.Fact{}
	for range 3 {
		d := mustOpen(t, o)
		for key, fact := range facts {
			if got := storetest.Want(t, d, key, string(fact.Bytes)); got.Version != fact.Version {
				t.Fatalf("%q has version %d after the restart; had %d", key, got.Version, fact.Version)
			}
		}
		for range 300 {
			value := make([]byte, 1+random.IntN(20_000))
			for i := range value {
				value[i] = byte(random.Uint32())
			}
			key := fmt.Sprint(random.IntN(500))
			facts[key] = store.Fact{Bytes: value, Version: storetest.Put(t, d, key, string(value))}
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		c.Pass(time.Minute)
	}
}

func TestSecondOpenIsRefused(t *testing.T) {
	d := opened(t, storetest.NewClock())
	storetest.Put(t, d, "a", "one")
	if _, err := Open(Options{Folder: d.room.folder, Free: plenty}); !errors.Is(err, store.ErrInUse) {
		t.Fatalf("a second open: %v; want %v", err, store.ErrInUse)
	}
	out, err := child("inspect", d.room.folder, 0).Output()
	if err != nil || !strings.Contains(string(out), store.ErrInUse.Error()) {
		t.Fatalf("another process: %v, %q; want %v", err, out, store.ErrInUse)
	}
	if aside := quarantined(t, d.room.folder); len(aside) != 0 {
		t.Fatalf("%q was moved aside", aside)
	}
	storetest.Want(t, d, "a", "one")
}

// TestLittleSpaceRefusesWrites plays a disk that fills up and is cleared again.
func TestLittleSpaceRefusesWrites(t *testing.T) {
	c := storetest.NewClock()
	var free atomic.Uint64
	free.Store(reserve)
	looks := 0
	d := openedAt(t, Options{Folder: filepath.Join(t.TempDir(), "store"), Now: c.Now,
		Free: func(string) (uint64, error) {
			looks++
			return free.Load(), nil
		}})
	storetest.Put(t, d, "a", "one")
	free.Store(reserve - 1)
	for range 50 {
		storetest.Put(t, d, "a", "two") // the last look still holds
	}
	if looks != 1 {
		t.Fatalf("looked %d times in one moment", looks)
	}
	c.Pass(recheck)
	_, err1 := d.Put("a", []byte("three"), storetest.Month)
	_, _, err2 := d.PutIfAbsent("b", nil, storetest.Month)
	_, err3 := d.Touch("a", 2*storetest.Month)
	for i, err := range []error{err1, err2, err3, d.Delete("a")} {
		if !errors.Is(err, store.ErrNoSpace) {
			t.Errorf("write %d: %v; want %v", i, err, store.ErrNoSpace)
		}
	}
	storetest.Want(t, d, "a", "two")
	err := d.Scan("", func(key string, f store.Fact) bool { return key == "a" && string(f.Bytes) == "two" })
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Sync(); err != nil {
		t.Fatal(err)
	}
	free.Store(reserve)
	c.Pass(recheck)
	storetest.Put(t, d, "a", "three")
	c.Pass(-time.Hour) // a clock that is set back
	free.Store(0)
	if _, err := d.Put("a", nil, storetest.Month); !errors.Is(err, store.ErrNoSpace) {
		t.Fatalf("after the clock was set back: %v; want %v", err, store.ErrNoSpace)
	}
	free.Store(reserve)
}

func TestFullDiskIsNotOpened(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "store")
	d := mustOpen(t, Options{Folder: folder, Free: plenty})
	storetest.Put(t, d, "a", "one")
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	full := func(string) (uint64, error) { return reserve - 1, nil }
	if _, err := Open(Options{Folder: folder, Free: full}); !errors.Is(err, store.ErrNoSpace) {
		t.Fatalf("%v; want %v", err, store.ErrNoSpace)
	}
	storetest.Want(t, openedAt(t, Options{Folder: folder}), "a", "one")
}

// quarantined returns the folders moved aside, in the order of time.
func quarantined(t *testing.T, folder string) []string {
	t.Helper()
	names, err := filepath.Glob(folder + ".bad-*")
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// TestDamagedStoresAreMovedAside damages a store again and again; the newest two stay.
func TestDamagedStoresAreMovedAside(t *testing.T) {
	c := storetest.NewClock()
	folder := filepath.Join(t.TempDir(), "store")
	f := func(value string, spoil func() error) {
		t.Helper()
		d := mustOpen(t, Options{Folder: folder, Now: c.Now, Free: plenty})
		storetest.Put(t, d, "a", value)
		if err := errors.Join(d.Close(), spoil()); err != nil {
			t.Fatal(err)
		}
		d, err := Open(Options{Folder: folder, Now: c.Now, Free: plenty})
		if err != nil {
			t.Fatal(err)
		}
		storetest.Want(t, d, "a", "")
		aside := quarantined(t, folder)
		newest := aside[len(aside)-1]
		if !strings.Contains(d.Notice(), newest) || !strings.HasPrefix(newest, folder+".bad-20261101T") ||
			len(aside) > 2 {
			t.Fatalf("notice %q, aside %q", d.Notice(), aside)
		}
		if _, err := os.Stat(filepath.Join(folder, markerName)); !os.IsNotExist(err) {
			t.Fatalf("the marker: %v", err)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
	marker := func() error { return os.WriteFile(filepath.Join(folder, markerName), nil, 0o600) }
	manifest := filepath.Join(folder, "MANIFEST")
	f("marker", marker)
	c.Pass(time.Hour)
	f("no manifest", func() error { return os.Remove(manifest) })
	c.Pass(time.Hour)
	f("no manifest in it", func() error { return os.WriteFile(manifest, []byte("nothing"), 0o600) })
	f("twice in a second", marker)
}

func TestForeignFolderIsLeftAlone(t *testing.T) {
	folder := t.TempDir()
	letter := filepath.Join(folder, "letter.txt")
	if err := os.WriteFile(letter, []byte("dear"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Options{Folder: folder, Free: plenty}); err == nil ||
		!strings.Contains(err.Error(), "letter.txt") {
		t.Fatalf("%v; want an error that names the file", err)
	}
	if text, err := os.ReadFile(letter); err != nil || string(text) != "dear" {
		t.Fatal(string(text), err)
	}
}

// TestDamagedValueIsNotFound writes past the contract, as damage would.
func TestDamagedValueIsNotFound(t *testing.T) {
	var mu sync.Mutex
	var faults []error
	c := storetest.NewClock()
	d := openedAt(t, Options{Folder: filepath.Join(t.TempDir(), "store"), Now: c.Now, Fault: func(err error) {
		mu.Lock()
		defer mu.Unlock()
		faults = append(faults, err)
	}})
	other := appendRecord(nil, "other key", records.Record{Version: 1, Expires: c.Now().Add(storetest.Month).UnixNano(),
		Value: []byte("other")})
	for _, stored := range [][]byte{{}, []byte("x"), make([]byte, 100), other} {
		faults = nil
		if err := d.change(func(txn *badger.Txn) error { return txn.Set(diskKey("a"), stored) }); err != nil {
			t.Fatal(err)
		}
		d.recent.forget("a")
		storetest.Want(t, d, "a", "")
		if err := d.Scan("", func(key string, _ store.Fact) bool { t.Error("seen", key); return true }); err != nil {
			t.Fatal(err)
		}
		if len(faults) != 2 || !errors.Is(faults[0], records.ErrDamaged) || !errors.Is(faults[1], records.ErrDamaged) {
			t.Fatalf("faults %v; want two of damage", faults)
		}
		if _, won, err := d.PutIfAbsent("a", []byte("new"), storetest.Month); !won || err != nil {
			t.Fatal(won, err)
		}
		storetest.Want(t, d, "a", "new")
	}
}
