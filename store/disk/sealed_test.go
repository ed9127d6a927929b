package disk

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"epitome/store"
	"epitome/store/records"
	"epitome/store/seal"
	"epitome/store/storetest"
)

const planted = "what the user said in confidence"

// sealOf is the seal of a folder beside the store's.
func sealOf(t testing.TB, folder, key string, writes bool) *seal.Seal {
	t.Helper()
	k, err := seal.FindKey(func(string) (string, bool) { return key, true }, "", folder)
	if err != nil {
		t.Fatal(err)
	}
	s, err := seal.Open(folder, k, writes)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func freshSealed(t testing.TB, c *storetest.Clock) (store.Store, func() store.Store) {
	data := t.TempDir()
	o := Options{Folder: filepath.Join(data, "store"), Now: c.Now, Free: plenty, Seal: sealOf(t, data, seal.FreshKey(), true)}
	d := mustOpen(t, o)
	return d, func() store.Store {
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		d = mustOpen(t, o)
		return d
	}
}

func TestContractSealed(t *testing.T) { storetest.TestStore(t, freshSealed) }

func BenchmarkSealedStore(b *testing.B) { storetest.Benchmark(b, freshSealed) }

// holding returns the files in the folder in which the text stands.
func holding(t testing.TB, folder, text string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if bytes.Contains(content, []byte(text)) {
			files = append(files, filepath.Base(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestSealedStoreShowsNothing looks for keys and values in all files, while the store is open and afterwards. Without a
// seal they are there.
func TestSealedStoreShowsNothing(t *testing.T) {
	f := func(sealed bool) {
		data := t.TempDir()
		o := Options{Folder: filepath.Join(data, "store"), Free: plenty}
		if sealed {
			o.Seal = sealOf(t, data, seal.FreshKey(), true)
		}
		d := mustOpen(t, o)
		for i := range 200 {
			storetest.Put(t, d, fmt.Sprint("a hash of a guess ", i), planted+strings.Repeat("x", i*20))
		}
		check := func(when string) {
			t.Helper()
			values, keys := holding(t, data, planted), holding(t, data, "hash of a guess")
			if sealed != (len(values)+len(keys) == 0) {
				t.Errorf("sealed %v, %s: the value stands in %v, the key in %v", sealed, when, values, keys)
			}
		}
		check("open")
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		if sealed {
			check("closed")
		}
	}
	f(false)
	f(true)
}

func TestPlainRecordsStayReadable(t *testing.T) {
	data := t.TempDir()
	key := seal.FreshKey()
	o := Options{Folder: filepath.Join(data, "store"), Free: plenty}
	reopen := func(d *Store) *Store {
		t.Helper()
		if d != nil {
			if err := d.Close(); err != nil {
				t.Fatal(err)
			}
		}
		return mustOpen(t, o)
	}
	d := reopen(nil)
	version := storetest.Put(t, d, "a/old", "old")
	storetest.Put(t, d, "a/changed", "old")
	storetest.Put(t, d, "a/gone", "old")

	o.Seal = sealOf(t, data, key, true)
	d = reopen(d)
	if got := storetest.Want(t, d, "a/old", "old"); got.Version != version {
		t.Errorf("it has version %d, had %d", got.Version, version)
	}
	if standing, won, err := d.PutIfAbsent("a/old", []byte("new"), storetest.Month); won || string(standing.Bytes) != "old" {
		t.Errorf("an old record does not stand: %q, %v, %v", standing.Bytes, won, err)
	}
	storetest.Put(t, d, "a/changed", "new")
	storetest.Put(t, d, "a/new", "new")
	if err := d.Delete("a/gone"); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{"a/old": "old", "a/changed": "new", "a/new": "new", "a/gone": ""}
	check := func(d *Store) {
		t.Helper()
		for key, want := range all {
			storetest.Want(t, d, key, want)
		}
		seen := ""
		err := d.Scan("a/", func(key string, f store.Fact) bool { seen += key + "=" + string(f.Bytes) + " "; return true })
		if want := "a/changed=new a/new=new a/old=old "; err != nil || seen != want {
			t.Errorf("a scan gives %q, %v; want %q", seen, err, want)
		}
	}
	check(d)
	d = reopen(d)
	check(d)

	o.Seal = sealOf(t, data, key, false) // what was sealed stays readable too
	d = reopen(d)
	check(d)
	storetest.Put(t, d, "a/new", "plain")
	all["a/new"] = "plain"
	d = reopen(d)
	storetest.Want(t, d, "a/new", "plain")
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	o.Seal = nil // what was written without a seal needs none
	d = mustOpen(t, o)
	storetest.Want(t, d, "a/new", "plain")
	storetest.Want(t, d, "a/changed", "")
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestChangedSealedRecordsAreDamaged changes records, and puts one into the place of another, past the contract.
func TestChangedSealedRecordsAreDamaged(t *testing.T) {
	var faults []error
	data := t.TempDir()
	d := openedAt(t, Options{Folder: filepath.Join(data, "store"), Seal: sealOf(t, data, seal.FreshKey(), true),
		Fault: func(err error) { faults = append(faults, err) }})
	storetest.Put(t, d, "key", "value")
	storetest.Put(t, d, "kept", "other value")
	stored := func(key string) (sealed []byte) {
		err := d.db.View(func(txn *badger.Txn) error {
			item, err := txn.Get(d.sealedKey(key))
			if err == nil {
				sealed, err = item.ValueCopy(nil)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return sealed
	}
	flipped := stored("key")
	flipped[len(flipped)/2] ^= 1
	plain := appendRecord(nil, "key", records.Record{Version: 1, Expires: 1 << 62, Value: []byte("forged")})
	for _, bad := range [][]byte{flipped, stored("kept"), plain, {}} {
		faults = nil
		if err := d.change(func(txn *badger.Txn) error { return txn.Set(d.sealedKey("key"), bad) }); err != nil {
			t.Fatal(err)
		}
		d.recent.forget("key")
		storetest.Want(t, d, "key", "")
		seen := ""
		err := d.Scan("k", func(key string, _ store.Fact) bool { seen += key; return true })
		if err != nil || seen != "kept" {
			t.Errorf("a scan sees %q, %v", seen, err)
		}
		if len(faults) != 2 || !errors.Is(faults[0], records.ErrDamaged) || !errors.Is(faults[1], records.ErrDamaged) {
			t.Errorf("faults %v; want two of damage", faults)
		}
	}
	if _, won, err := d.PutIfAbsent("key", []byte("new"), storetest.Month); !won || err != nil {
		t.Error("a damaged record does not count as absent", won, err)
	}
	storetest.Want(t, d, "key", "new")
}
