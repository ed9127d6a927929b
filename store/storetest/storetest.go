// Package storetest holds stores to the contract of package store. It also starts Redis for tests, with a wire to it that
// can fail.
package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"epitome/store"
)

// Month is how long most facts of tests are kept.
const Month = 30 * 24 * time.Hour

// Test holds the stores that open makes, which are empty, to the contract.
func Test(t *testing.T, open func(t testing.TB) store.Store) {
	for name, test := range map[string]func(*testing.T, store.Store){
		"Values": testValues, "Refusals": testRefusals, "Swaps": testSwaps, "Expiry": testExpiry, "Scan": testScan,
		"Copies": testCopies, "Races": testRaces, "AgreesWithAMap": testModel, "Close": testClose,
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			test(t, s)
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// Want checks the value under a key; the empty string means none.
func Want(t testing.TB, s store.Store, key, value string) {
	t.Helper()
	got, found, err := s.Get(key)
	if err != nil || found != (value != "") || string(got) != value {
		t.Fatalf("under %q: %.100q, found %v, %v; want %.100q", key, got, found, err, value)
	}
}

// Put sets the value under a key for a month.
func Put(t testing.TB, s store.Store, key, value string) {
	t.Helper()
	if err := s.Put(key, []byte(value), Month); err != nil {
		t.Fatal(err)
	}
}

func testValues(t *testing.T, s store.Store) {
	Want(t, s, "a", "")
	Want(t, s, "", "")
	Put(t, s, "a", "one")
	Want(t, s, "a", "one")
	Put(t, s, "a", "two")
	Want(t, s, "a", "two")
	for range 2 {
		if err := s.Delete("a"); err != nil {
			t.Fatal(err)
		}
		Want(t, s, "a", "")
	}
	long := strings.Repeat("k", store.MaxKey)
	Put(t, s, long, strings.Repeat("x", store.MaxValue))
	Want(t, s, long, strings.Repeat("x", store.MaxValue))
	Put(t, s, "\x00\xff", "\x00\xff")
	Want(t, s, "\x00\xff", "\x00\xff")
}

func testRefusals(t *testing.T, s store.Store) {
	f := func(key string, size int, keep time.Duration) {
		t.Helper()
		value := make([]byte, size)
		_, err1 := s.Swap(key, nil, value, keep)
		_, err2 := s.Swap(key, []byte("x"), value, keep)
		for _, err := range []error{s.Put(key, value, keep), err1, err2} {
			if err == nil || len(err.Error()) > 1000 {
				t.Errorf("a key of %d bytes, a value of %d, for %v: %.100v", len(key), size, keep, err)
			}
		}
		Want(t, s, key, "")
	}
	f("", 1, Month)
	f(strings.Repeat("k", store.MaxKey+1), 1, Month)
	f("a", 0, Month)
	f("a", store.MaxValue+1, Month)
	f("a", 1, 0)
	f("a", 1, -time.Second)
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
	f(s.Swap("a", []byte("x"), []byte("one"), Month))("")
	f(s.Swap("a", nil, []byte("one"), Month))("one")
	f(s.Swap("a", nil, []byte("two"), Month))("one")
	f(s.Swap("a", []byte("two"), []byte("three"), Month))("one")
	f(s.Swap("a", []byte("one"), []byte("two"), Month))("two")
	f(s.Swap("a", []byte("one"), []byte("three"), Month))("two")
	Want(t, s, "a", "two")
}

// testExpiry has facts that live for seconds, and waits until those are gone that nobody touched.
func testExpiry(t *testing.T, s store.Store) {
	t.Parallel()
	for key, keep := range map[string]time.Duration{"touched": 5 * time.Second, "left": 6 * time.Second, "long": Month} {
		if err := s.Put(key, []byte("one"), keep); err != nil {
			t.Fatal(err)
		}
	}
	for key, keep := range map[string]time.Duration{"touched": Month, "long": time.Second, "never": Month} {
		if err := s.Touch(key, keep); err != nil {
			t.Fatal(err)
		}
	}
	for late := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if _, found, err := s.Get("left"); err == nil && !found {
			break
		}
		if time.Now().After(late) {
			t.Fatal("a fact lives longer than it is kept")
		}
	}
	Want(t, s, "touched", "one")
	Want(t, s, "long", "one") // a touch shortens nothing
	Want(t, s, "never", "")
	if standing, err := s.Swap("left", nil, []byte("two"), Month); string(standing) != "two" || err != nil {
		t.Fatalf("%q, %v", standing, err)
	}
}

func testScan(t *testing.T, s store.Store) {
	var expected []string
	for i := range 385 {
		key := fmt.Sprintf("b/%04d", i)
		Put(t, s, key, strings.Repeat(key, 100))
		expected = append(expected, key)
	}
	Put(t, s, "a", "before")
	Put(t, s, "c", "behind")
	var got []string
	err := s.Scan("b/", func(key string, value []byte) bool {
		if string(value) != strings.Repeat(key, 100) {
			t.Errorf("under %q: %q", key, value)
		}
		got = append(got, key)
		return s.Delete(key) == nil
	})
	if slices.Sort(got); err != nil || !slices.Equal(got, expected) {
		t.Fatalf("%d keys, %v; want %d", len(got), err, len(expected))
	}
	n := 0
	if err := s.Scan("", func(string, []byte) bool { n++; return false }); err != nil || n != 1 {
		t.Fatalf("%d facts, %v; want one", n, err)
	}
	if err := s.Scan("*", func(string, []byte) bool { t.Error("found"); return true }); err != nil {
		t.Fatal(err)
	}
}

// testCopies changes values that were given and received.
func testCopies(t *testing.T, s store.Store) {
	mine := []byte("value")
	standing, err := s.Swap("a", nil, mine, Month)
	if err != nil {
		t.Fatal(err)
	}
	copy(mine, "XXXXX")
	copy(standing, "YYYYY")
	got, _, _ := s.Get("a")
	copy(got, "ZZZZZ")
	if err := s.Scan("", func(_ string, value []byte) bool { copy(value, "WWWWW"); return true }); err != nil {
		t.Fatal(err)
	}
	Want(t, s, "a", "value")
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
				standing, err := s.Swap(fmt.Sprint("k", k), nil, []byte(mine), Month)
				if err != nil {
					t.Error(err)
				}
				if stood[k][w] = string(standing); stood[k][w] == mine {
					wins[k].Add(1)
				}
				for tail := fmt.Sprintf("[%d %d]", w, k); err == nil; {
					old, _, _ := s.Get("list")
					if standing, err = s.Swap("list", old, append(old, tail...), Month); bytes.Contains(standing, []byte(tail)) {
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
			Want(t, s, fmt.Sprint("k", k), value)
		}
	}
	if list, _, err := s.Get("list"); bytes.Count(list, []byte("[")) != writers*keys || err != nil {
		t.Errorf("%d of %d swaps are there, %v", bytes.Count(list, []byte("[")), writers*keys, err)
	}
}

// testModel compares a store with a map.
func testModel(t *testing.T, s store.Store) {
	rapid.Check(t, func(t *rapid.T) {
		facts := map[string]string{}
		if err := s.Scan("", func(key string, _ []byte) bool { return s.Delete(key) == nil }); err != nil {
			t.Fatal(err)
		}
		key := func(t *rapid.T) string { return rapid.SampledFrom([]string{"a", "ab", "b", "c"}).Draw(t, "key") }
		value := func(t *rapid.T) string { return rapid.SampledFrom([]string{"1", "2", "3"}).Draw(t, "value") }
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				k, v := key(t), value(t)
				if err := s.Put(k, []byte(v), Month); err != nil {
					t.Fatal(err)
				}
				facts[k] = v
			},
			"swap": func(t *rapid.T) {
				k, old, v := key(t), value(t), value(t)
				if facts[k] == old {
					facts[k] = v
				}
				if standing, err := s.Swap(k, []byte(old), []byte(v), Month); err != nil || string(standing) != facts[k] {
					t.Fatalf("%q, %v; want %q", standing, err, facts[k])
				}
			},
			"delete": func(t *rapid.T) {
				k := key(t)
				if delete(facts, k); s.Delete(k) != nil {
					t.Fatal("it cannot be deleted")
				}
			},
			"": func(t *rapid.T) {
				got := map[string]string{}
				err := s.Scan("", func(key string, value []byte) bool { got[key] = string(value); return true })
				for k, v := range facts {
					if v == "" {
						delete(facts, k)
					}
				}
				if err != nil || fmt.Sprint(got) != fmt.Sprint(facts) {
					t.Fatalf("%v, %v; want %v", got, err, facts)
				}
			},
		})
	})
}

func testClose(t *testing.T, s store.Store) {
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range 100 {
				_, _, _ = s.Get("a")
				if err := s.Put("b", bytes.Repeat([]byte("x"), i+1), Month); err != nil && !errors.Is(err, store.ErrClosed) {
					t.Error(err)
				}
			}
		})
		all.Go(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	_, found, err1 := s.Get("b")
	_, err2 := s.Swap("a", nil, []byte("x"), Month)
	scanned := s.Scan("", func(string, []byte) bool { return true })
	for i, err := range []error{
		err1, err2, scanned, s.Put("a", []byte("x"), Month), s.Touch("a", Month), s.Delete("a"),
	} {
		if !errors.Is(err, store.ErrClosed) || found {
			t.Errorf("call %d: %v; want %v", i, err, store.ErrClosed)
		}
	}
}
