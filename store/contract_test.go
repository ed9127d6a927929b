package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"epitome/internal/fakeapi"
	"epitome/store"
)

func TestBadgerKeepsTheContract(t *testing.T) {
	t.Parallel()
	holdContract(t, func(t testing.TB) store.Store {
		b, err := store.OpenBadger(filepath.Join(t.TempDir(), "store"), slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		return b
	})
}

// facts of most tests are kept for so long.
const kept = 30 * 24 * time.Hour

// holdContract holds the stores that open makes, which are empty, to the contract.
func holdContract(t *testing.T, open func(t testing.TB) store.Store) {
	for name, test := range map[string]func(*testing.T, store.Store){
		"Values": testValues, "Swaps": testSwaps, "Expiry": testExpiry,
		"Races": testRaces, "AgreesWithAMap": testModel, "Close": testClose,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			test(t, s)
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// want checks the value under a key; the empty string means none.
func want(t rapid.TB, s store.Store, key, value string) {
	t.Helper()
	got, err := store.Get(s, key)
	if found := got != nil; err != nil || found != (value != "") || string(got) != value {
		t.Fatalf("under %q: %.100q, found %v, %v; want %.100q", key, got, found, err, value)
	}
}

func put(t rapid.TB, s store.Store, key, value string) {
	t.Helper()
	old, err := store.Get(s, key)
	if err != nil {
		t.Fatal(err)
	}
	if standing, err := s.Swap(key, old, []byte(value), kept); err != nil || string(standing) != value {
		t.Fatalf("%.100q, %v", standing, err)
	}
}

func testValues(t *testing.T, s store.Store) {
	want(t, s, "a", "")
	want(t, s, "", "")
	put(t, s, "a", "one")
	want(t, s, "a", "one")
	put(t, s, "a", "two")
	want(t, s, "a", "two")
	long := strings.Repeat("k", store.MaxKey)
	put(t, s, long, strings.Repeat("x", store.MaxValue))
	want(t, s, long, strings.Repeat("x", store.MaxValue))
	put(t, s, "\x00\xff", "\x00\xff")
	want(t, s, "\x00\xff", "\x00\xff")

	values, err := s.GetMany([]string{"\x00\xff", "none", "", "a", "a"})
	if got := fmt.Sprintf("%q", values); err != nil || got != `["\x00\xff" "" "" "two" "two"]` || values[1] != nil {
		t.Fatalf("%s, %v", got, err)
	}
	many := make([]string, 3000)
	for i := range many {
		many[i] = fmt.Sprintf("%0*d", store.MaxKey, i)
	}
	put(t, s, many[0], "first")
	put(t, s, many[2999], "last")
	if values, err = s.GetMany(many); err != nil || string(values[0]) != "first" || string(values[2999]) != "last" {
		t.Fatal(err)
	}
	if err := errors.Join(s.Delete(append(many, "none", "", "a")...), s.Delete()); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{many[0], many[2999], "a"} {
		want(t, s, key, "")
	}
	want(t, s, "\x00\xff", "\x00\xff")
	put(t, s, "a", "three")
	want(t, s, "a", "three")
	if values, err = s.GetMany(nil); err != nil || len(values) > 0 {
		t.Fatalf("%q, %v", values, err)
	}
}

func testSwaps(t *testing.T, s store.Store) {
	f := func(standing []byte, err error) func(want string) {
		return func(want string) {
			t.Helper()
			if err != nil || string(standing) != want {
				t.Fatalf("%q, %v; want %q", standing, err, want)
			}
		}
	}
	f(s.Swap("a", []byte("x"), []byte("one"), kept))("")
	f(s.Swap("a", nil, []byte("one"), kept))("one")
	f(s.Swap("a", nil, []byte("two"), kept))("one")
	f(s.Swap("a", []byte("two"), []byte("three"), kept))("one")
	f(s.Swap("a", []byte("one"), []byte("two"), kept))("two")
	f(s.Swap("a", []byte("one"), []byte("three"), kept))("two")
	want(t, s, "a", "two")
}

// testExpiry has facts that live for seconds, and waits until those are gone that nobody touched.
func testExpiry(t *testing.T, s store.Store) {
	for key, keep := range map[string]time.Duration{"touched": 3 * time.Second, "left": 4 * time.Second, "long": kept} {
		if _, err := s.Swap(key, nil, []byte("one"), keep); err != nil {
			t.Fatal(err)
		}
	}
	for key, keep := range map[string]time.Duration{"touched": kept, "long": time.Second, "never": kept} {
		if err := s.Touch(key, keep); err != nil {
			t.Fatal(err)
		}
	}
	if !fakeapi.Eventually(func() bool { left, err := store.Get(s, "left"); return err == nil && left == nil }) {
		t.Fatal("a fact lives longer than it is kept")
	}
	want(t, s, "touched", "one")
	want(t, s, "long", "one") // a touch shortens nothing
	want(t, s, "never", "")
	if standing, err := s.Swap("left", nil, []byte("two"), kept); string(standing) != "two" || err != nil {
		t.Fatalf("%q, %v", standing, err)
	}
}

func testRaces(t *testing.T, s store.Store) {
	const writers, keys = 8, 20
	var wins [keys]atomic.Int32
	var stood [keys][writers]string
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for k := range keys {
				mine := fmt.Sprintf("writer %d", w)
				standing, err := s.Swap(fmt.Sprint("k", k), nil, []byte(mine), kept)
				if err != nil {
					t.Error(err)
				}
				if stood[k][w] = string(standing); stood[k][w] == mine {
					wins[k].Add(1)
				}
				for tail := fmt.Sprintf("[%d %d]", w, k); err == nil; {
					old, _ := store.Get(s, "list")
					if standing, err = s.Swap("list", old, append(old, tail...), kept); bytes.Contains(standing,
						[]byte(tail)) {
						break
					}
				}
			}
		})
	}
	all.Wait()
	for k := range keys {
		if wins[k].Load() != 1 {
			t.Errorf("key %d was won %d times", k, wins[k].Load())
		}
		for _, value := range stood[k] {
			want(t, s, fmt.Sprint("k", k), value)
		}
	}
	if list, err := store.Get(s, "list"); bytes.Count(list, []byte("[")) != writers*keys || err != nil {
		t.Errorf("%d of %d swaps are there, %v", bytes.Count(list, []byte("[")), writers*keys, err)
	}
}

// testModel compares a store with a map.
func testModel(t *testing.T, s store.Store) {
	run := 0
	rapid.Check(t, func(t *rapid.T) {
		run++
		prefix, facts := fmt.Sprintf("run %d/", run), map[string]string{}
		key := func(t *rapid.T) string {
			return prefix + rapid.SampledFrom([]string{"a", "ab", "b", "c"}).Draw(t, "key")
		}
		value := func(t *rapid.T) string { return rapid.SampledFrom([]string{"1", "2", "3"}).Draw(t, "value") }
		t.Repeat(map[string]func(*rapid.T){
			"set": func(t *rapid.T) {
				k, v := key(t), value(t)
				put(t, s, k, v)
				facts[k] = v
			},
			"swap": func(t *rapid.T) {
				k, old, v := key(t), value(t), value(t)
				if facts[k] == old { // a swap of a fact that is not there sets nothing, as old is not empty
					facts[k] = v
				}
				if standing, err := s.Swap(k, []byte(old), []byte(v), kept); err != nil ||
					string(standing) != facts[k] {
					t.Fatalf("%q, %v; want %q", standing, err, facts[k])
				}
			},
			"delete": func(t *rapid.T) {
				k := key(t)
				if err := s.Delete(k, prefix+"none"); err != nil {
					t.Fatal(err)
				}
				delete(facts, k)
			},
			"": func(t *rapid.T) {
				for _, k := range []string{"a", "ab", "b", "c"} {
					want(t, s, prefix+k, facts[prefix+k])
				}
			},
		})
	})
}

func testClose(t *testing.T, s store.Store) {
	put(t, s, "a", "one")
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	value, err1 := store.Get(s, "a")
	_, err2 := s.Swap("a", nil, []byte("x"), kept)
	values, err3 := s.GetMany([]string{"b", "a"})
	found := value != nil || values != nil
	for i, err := range []error{err1, err2, err3, s.Touch("a", kept), s.Delete("a")} {
		if !errors.Is(err, store.ErrClosed) || found {
			t.Errorf("call %d: %v; want %v", i, err, store.ErrClosed)
		}
	}
}
