package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"
)

func TestRestartKeepsEverything(t *testing.T) {
	c := newClock()
	o := Options{Folder: filepath.Join(t.TempDir(), "store"), Now: c.now, Free: plenty}
	random := rand.New(rand.NewPCG(1, 2))
	facts := map[string]Fact{}
	for range 3 {
		d := mustOpen(t, o)
		for key, fact := range facts {
			if got := want(t, d, key, string(fact.Bytes)); got.Version != fact.Version {
				t.Fatalf("%q has version %d after the restart; had %d", key, got.Version, fact.Version)
			}
		}
		for range 300 {
			value := make([]byte, 1+random.IntN(20_000))
			for i := range value {
				value[i] = byte(random.Uint32())
			}
			key := fmt.Sprint(random.IntN(500))
			facts[key] = Fact{value, put(t, d, key, string(value))}
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		c.pass(time.Minute)
	}
}

func TestSecondOpenIsRefused(t *testing.T) {
	d := opened(t, newClock())
	put(t, d, "a", "one")
	if _, err := Open(Options{Folder: d.room.folder, Free: plenty}); !errors.Is(err, ErrInUse) {
		t.Fatalf("a second open: %v; want %v", err, ErrInUse)
	}
	out, err := child("inspect", d.room.folder, 0).Output()
	if err != nil || !strings.Contains(string(out), ErrInUse.Error()) {
		t.Fatalf("another process: %v, %q; want %v", err, out, ErrInUse)
	}
	if aside := quarantined(t, d.room.folder); len(aside) != 0 {
		t.Fatalf("%q was moved aside", aside)
	}
	want(t, d, "a", "one")
}

// TestLittleSpaceRefusesWrites plays a disk that fills up and is cleared again.
func TestLittleSpaceRefusesWrites(t *testing.T) {
	c := newClock()
	var free atomic.Uint64
	free.Store(reserve)
	looks := 0
	d := openedAt(t, Options{Folder: filepath.Join(t.TempDir(), "store"), Now: c.now, Free: func(string) (uint64, error) {
		looks++
		return free.Load(), nil
	}})
	put(t, d, "a", "one")
	free.Store(reserve - 1)
	for range 50 {
		put(t, d, "a", "two") // the last look still holds
	}
	if looks != 1 {
		t.Fatalf("looked %d times in one moment", looks)
	}
	c.pass(recheck)
	_, err1 := d.Put("a", []byte("three"), month)
	_, _, err2 := d.PutIfAbsent("b", nil, month)
	_, err3 := d.Touch("a", 2*month)
	for i, err := range []error{err1, err2, err3, d.Delete("a")} {
		if !errors.Is(err, ErrNoSpace) {
			t.Errorf("write %d: %v; want %v", i, err, ErrNoSpace)
		}
	}
	want(t, d, "a", "two")
	if err := d.Scan("", func(key string, f Fact) bool { return key == "a" && string(f.Bytes) == "two" }); err != nil {
		t.Fatal(err)
	}
	if err := d.Sync(); err != nil {
		t.Fatal(err)
	}
	free.Store(reserve)
	c.pass(recheck)
	put(t, d, "a", "three")
	c.pass(-time.Hour) // a clock that is set back
	free.Store(0)
	if _, err := d.Put("a", nil, month); !errors.Is(err, ErrNoSpace) {
		t.Fatalf("after the clock was set back: %v; want %v", err, ErrNoSpace)
	}
	free.Store(reserve)
}

func TestSpaceThatCannotBeKnownRefusesWrites(t *testing.T) {
	c := newClock()
	broken := errors.New("no answer")
	var answer atomic.Pointer[error]
	d := openedAt(t, Options{Folder: filepath.Join(t.TempDir(), "store"), Now: c.now, Free: func(string) (uint64, error) {
		if err := answer.Load(); err != nil {
			return 0, *err
		}
		return reserve, nil
	}})
	answer.Store(&broken)
	c.pass(recheck)
	if _, err := d.Put("a", nil, month); !errors.Is(err, broken) {
		t.Fatalf("%v; want %v", err, broken)
	}
	answer.Store(nil)
}

func TestFullDiskIsNotOpened(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "store")
	d := mustOpen(t, Options{Folder: folder, Free: plenty})
	put(t, d, "a", "one")
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	full := func(string) (uint64, error) { return reserve - 1, nil }
	if _, err := Open(Options{Folder: folder, Free: full}); !errors.Is(err, ErrNoSpace) {
		t.Fatalf("%v; want %v", err, ErrNoSpace)
	}
	want(t, openedAt(t, Options{Folder: folder}), "a", "one")
}

func TestCloseOnAFullDiskLeavesWhatWasThere(t *testing.T) {
	var full atomic.Bool
	folder := filepath.Join(t.TempDir(), "store")
	d := mustOpen(t, Options{Folder: folder, Free: func(string) (uint64, error) {
		if full.Load() {
			return 0, nil
		}
		return reserve, nil
	}})
	put(t, d, "a", "one")
	full.Store(true)
	if err := d.Close(); !errors.Is(err, ErrNoSpace) {
		t.Fatalf("%v; want %v", err, ErrNoSpace)
	}
	if _, err := Open(Options{Folder: folder, Free: plenty}); !errors.Is(err, ErrInUse) {
		t.Fatalf("the folder is free although its files are open: %v", err)
	}
	next := filepath.Join(t.TempDir(), "store")
	copyFolder(t, folder, next) // as another process finds it
	want(t, openedAt(t, Options{Folder: next}), "a", "one")
	if err := errors.Join(d.db.Close(), d.lock.Close()); err != nil {
		t.Fatal(err)
	}
}

// quarantined are the folders moved aside, in the order of time.
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
	c := newClock()
	folder := filepath.Join(t.TempDir(), "store")
	f := func(value string, spoil func() error) {
		t.Helper()
		d := mustOpen(t, Options{Folder: folder, Now: c.now, Free: plenty})
		put(t, d, "a", value)
		if err := errors.Join(d.Close(), spoil()); err != nil {
			t.Fatal(err)
		}
		d, err := Open(Options{Folder: folder, Now: c.now, Free: plenty})
		if err != nil {
			t.Fatal(err)
		}
		want(t, d, "a", "")
		aside := quarantined(t, folder)
		newest := aside[len(aside)-1]
		if !strings.Contains(d.Notice(), newest) || !strings.HasPrefix(newest, folder+".bad-20261101T") || len(aside) > 2 {
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
	c.pass(time.Hour)
	f("no manifest", func() error { return os.Remove(manifest) })
	c.pass(time.Hour)
	f("no manifest in it", func() error { return os.WriteFile(manifest, []byte("nothing"), 0o600) })
	f("twice in a second", marker)
}

func TestMarkerInAnEmptyFolderSaysNothing(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, markerName), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	put(t, openedAt(t, Options{Folder: folder}), "a", "one")
	if aside := quarantined(t, folder); len(aside) != 0 {
		t.Fatalf("%q was moved aside", aside)
	}
}

// TestKilledWhileBeginningALog plays a process that died between making a log and giving it its size.
func TestKilledWhileBeginningALog(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "store")
	d := mustOpen(t, Options{Folder: folder, Free: plenty})
	put(t, d, "a", "one")
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"00001.mem", "00009.mem", "000002.vlog"} {
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		d := mustOpen(t, Options{Folder: folder, Free: plenty})
		want(t, d, "a", "one")
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestForeignFolderIsLeftAlone(t *testing.T) {
	folder := t.TempDir()
	letter := filepath.Join(folder, "letter.txt")
	if err := os.WriteFile(letter, []byte("dear"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Options{Folder: folder, Free: plenty}); err == nil || !strings.Contains(err.Error(), "letter.txt") {
		t.Fatalf("%v; want an error that names the file", err)
	}
	if text, err := os.ReadFile(letter); err != nil || string(text) != "dear" {
		t.Fatal(string(text), err)
	}
}

func TestErrorsOfTheSystemMoveNothing(t *testing.T) {
	asBadger := fmt.Errorf("Opening file err: %+v", syscall.ENOSPC)
	for _, err := range []error{os.ErrPermission, syscall.EMFILE, fmt.Errorf("cannot map: %w", syscall.ENOMEM), asBadger, ErrInUse} {
		if !outside(err) {
			t.Errorf("%v counts as damage", err)
		}
	}
	if outside(os.ErrNotExist) || outside(errDamaged) {
		t.Error("a missing table counts as the system's fault")
	}
	if _, err := Open(Options{Free: plenty}); err == nil {
		t.Error("a store without a folder was opened")
	}
}

// TestDamagedValueIsNotFound writes past the contract, as damage would.
func TestDamagedValueIsNotFound(t *testing.T) {
	var mu sync.Mutex
	var faults []error
	c := newClock()
	d := openedAt(t, Options{Folder: filepath.Join(t.TempDir(), "store"), Now: c.now, Fault: func(err error) {
		mu.Lock()
		defer mu.Unlock()
		faults = append(faults, err)
	}})
	other := appendRecord(nil, "other key", record{1, c.now().Add(month).UnixNano(), []byte("other")})
	for _, stored := range [][]byte{{}, []byte("x"), make([]byte, 100), other} {
		faults = nil
		if err := d.change(func(txn *badger.Txn) error { return txn.Set(diskKey("a"), stored) }); err != nil {
			t.Fatal(err)
		}
		d.recent.forget("a")
		want(t, d, "a", "")
		if err := d.Scan("", func(key string, _ Fact) bool { t.Error("seen", key); return true }); err != nil {
			t.Fatal(err)
		}
		if len(faults) != 2 || !errors.Is(faults[0], errDamaged) || !errors.Is(faults[1], errDamaged) {
			t.Fatalf("faults %v; want two of damage", faults)
		}
		if _, won, err := d.PutIfAbsent("a", []byte("new"), month); !won || err != nil {
			t.Fatal(won, err)
		}
		want(t, d, "a", "new")
	}
}

func TestPanicsBecomeErrors(t *testing.T) {
	d := opened(t, newClock())
	put(t, d, "a", "one")
	err := d.use(func() error { panic("BUG") })
	if err == nil || !strings.Contains(err.Error(), "BUG") {
		t.Fatal(err)
	}
	err = d.use(func() error {
		var nothing []byte
		_ = nothing[len(d.room.folder)]
		return nil
	})
	if err == nil {
		t.Fatal("no error of a runtime panic")
	}
	want(t, d, "a", "one")
}

func TestSyncsByItself(t *testing.T) {
	d := openedAt(t, Options{Folder: filepath.Join(t.TempDir(), "store"), SyncEvery: time.Millisecond})
	put(t, d, "a", "one")
	for d.unsynced.Load() { // the test's own time limit ends it
		time.Sleep(time.Millisecond)
	}
}

func TestFreeSpaceOfThisSystem(t *testing.T) {
	if free, err := freeSpace(t.TempDir()); err != nil || free == 0 {
		t.Fatal(free, err)
	}
	if _, err := freeSpace(filepath.Join(t.TempDir(), "missing")); err == nil {
		t.Skip("this system does not look")
	}
}
