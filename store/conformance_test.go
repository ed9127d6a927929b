package store

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const month = 30 * 24 * time.Hour

// clock is a time that tests move by hand.
type clock struct{ nanos atomic.Int64 }

func newClock() *clock {
	c := new(clock)
	c.nanos.Store(time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC).UnixNano())
	return c
}

func (c *clock) now() time.Time       { return time.Unix(0, c.nanos.Load()) }
func (c *clock) pass(d time.Duration) { c.nanos.Add(int64(d)) }
func plenty(string) (uint64, error)   { return math.MaxUint64, nil }
func opened(t testing.TB, c *clock) *Disk {
	t.Helper()
	return openedAt(t, Options{Folder: filepath.Join(t.TempDir(), "store"), Now: c.now})
}

func openedAt(t testing.TB, o Options) *Disk {
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

// both runs f against each Store.
func both(t *testing.T, f func(t *testing.T, s Store, c *clock)) {
	t.Run("Memory", func(t *testing.T) {
		c := newClock()
		f(t, NewMemory(64<<20, c.now), c)
	})
	t.Run("Disk", func(t *testing.T) {
		c := newClock()
		f(t, opened(t, c), c)
	})
}

// want checks what is under key; the empty string means nothing.
func want(t *testing.T, s Store, key, value string) Fact {
	t.Helper()
	fact, found := s.Get(key)
	if found != (value != "") || string(fact.Bytes) != value || found != (fact.Version != 0) {
		t.Fatalf("under %q: %q, version %d, found %v; want %q", key, fact.Bytes, fact.Version, found, value)
	}
	return fact
}

func put(t *testing.T, s Store, key, value string) uint64 {
	t.Helper()
	version, err := s.Put(key, []byte(value), month)
	if err != nil {
		t.Fatal(err)
	}
	return version
}

func TestPutGetDelete(t *testing.T) {
	both(t, func(t *testing.T, s Store, c *clock) {
		want(t, s, "a", "")
		first := put(t, s, "a", "one")
		if got := want(t, s, "a", "one").Version; got != first {
			t.Fatalf("version %d; put said %d", got, first)
		}
		second := put(t, s, "a", "two")
		want(t, s, "a", "two")
		if err := s.Delete("a"); err != nil {
			t.Fatal(err)
		}
		want(t, s, "a", "")
		third := put(t, s, "a", "one")
		if !(0 < first && first < second && second < third) {
			t.Fatalf("versions do not rise: %d, %d, %d", first, second, third)
		}
		if err := s.Delete("never there"); err != nil {
			t.Fatal(err)
		}
		if err := s.Sync(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestEmptyAndLargestValues(t *testing.T) {
	both(t, func(t *testing.T, s Store, c *clock) {
		put(t, s, "empty", "")
		if fact, found := s.Get("empty"); !found || len(fact.Bytes) != 0 {
			t.Fatalf("an empty value: %q, %v", fact.Bytes, found)
		}
		large := strings.Repeat("x", MaxValue)
		key := strings.Repeat("k", MaxKey)
		put(t, s, key, large)
		want(t, s, key, large)
		put(t, s, "!badger!txn", "ours")
		want(t, s, "!badger!txn", "ours")
		put(t, s, "\x00\xff", "binary")
		want(t, s, "\x00\xff", "binary")
	})
}

func TestRefusals(t *testing.T) {
	both(t, func(t *testing.T, s Store, c *clock) {
		f := func(what string, is error, err error) {
			t.Helper()
			if err == nil || is != nil && !errors.Is(err, is) {
				t.Errorf("%s: %v; want an error that is %v", what, err, is)
			}
		}
		_, err := s.Put("large", make([]byte, MaxValue+1), month)
		f("too large a value", ErrTooLarge, err)
		_, _, err = s.PutIfAbsent("large", make([]byte, MaxValue+1), month)
		f("too large a value", ErrTooLarge, err)
		_, err = s.Put("", nil, month)
		f("no key", nil, err)
		_, err = s.Put(strings.Repeat("k", MaxKey+1), nil, month)
		f("too long a key", nil, err)
		_, err = s.Put("a", nil, 0)
		f("no time", nil, err)
		_, err = s.Touch("a", -time.Second)
		f("negative time", nil, err)
		f("no key", nil, s.Delete(""))
		want(t, s, "large", "")
		want(t, s, "", "")
		want(t, s, "a", "")
	})
}

func TestPutIfAbsentAndCompareAndSwap(t *testing.T) {
	both(t, func(t *testing.T, s Store, c *clock) {
		f := func(standing Fact, done bool, err error) func(value string, want bool) Fact {
			return func(value string, want bool) Fact {
				t.Helper()
				if err != nil || done != want || string(standing.Bytes) != value || (standing.Version == 0) != (value == "") {
					t.Fatalf("%q, version %d, %v, %v; want %q, %v", standing.Bytes, standing.Version, done, err, value, want)
				}
				return standing
			}
		}
		f(s.CompareAndSwap("a", 7, []byte("x"), month))("", false)
		first := f(s.PutIfAbsent("a", []byte("one"), month))("one", true)
		same := f(s.PutIfAbsent("a", []byte("two"), month))("one", false)
		if same.Version != first.Version {
			t.Fatalf("the loser holds version %d, the winner %d", same.Version, first.Version)
		}
		f(s.CompareAndSwap("a", 0, []byte("two"), month))("one", false)
		second := f(s.CompareAndSwap("a", first.Version, []byte("two"), month))("two", true)
		f(s.CompareAndSwap("a", first.Version, []byte("three"), month))("two", false)
		if second.Version <= first.Version {
			t.Fatalf("version %d after %d", second.Version, first.Version)
		}
		want(t, s, "a", "two")
		c.pass(month)
		f(s.PutIfAbsent("a", []byte("again"), month))("again", true)
	})
}

func TestExpiry(t *testing.T) {
	both(t, func(t *testing.T, s Store, c *clock) {
		version := put(t, s, "a", "one")
		if _, err := s.Put("long", []byte("x"), math.MaxInt64); err != nil {
			t.Fatal(err)
		}
		c.pass(month - 1)
		want(t, s, "a", "one")
		if found, err := s.Touch("a", month); !found || err != nil {
			t.Fatal(found, err)
		}
		if found, err := s.Touch("a", time.Minute); !found || err != nil {
			t.Fatal("a shorter time", found, err)
		}
		c.pass(month - 1)
		if got := want(t, s, "a", "one").Version; got != version {
			t.Fatalf("touched, the version is %d; was %d", got, version)
		}
		c.pass(1)
		want(t, s, "a", "")
		if found, err := s.Touch("a", month); found || err != nil {
			t.Fatal("an expired fact", found, err)
		}
		err := s.Scan("", func(key string, _ Fact) bool { return key == "long" })
		if err != nil {
			t.Fatal(err)
		}
		want(t, s, "long", "x")
	})
}

func TestTouchMayMissASixteenth(t *testing.T) {
	both(t, func(t *testing.T, s Store, c *clock) {
		put(t, s, "a", "one")
		for range 100 {
			c.pass(month / 40)
			if found, err := s.Touch("a", month); !found || err != nil {
				t.Fatal(found, err)
			}
		}
		c.pass(month - month/16 - 1)
		want(t, s, "a", "one")
	})
}

func TestScan(t *testing.T) {
	both(t, func(t *testing.T, s Store, c *clock) {
		var expected []string
		for i := range 3*pageFacts + 1 {
			key := fmt.Sprintf("b/%04d", i)
			put(t, s, key, strings.Repeat(key, 100))
			expected = append(expected, key)
		}
		put(t, s, "a", "before")
		put(t, s, "c", "behind")
		var got []string
		err := s.Scan("b/", func(key string, fact Fact) bool {
			if string(fact.Bytes) != strings.Repeat(key, 100) {
				t.Errorf("under %q: %q", key, fact.Bytes)
			}
			got = append(got, key)
			return s.Delete(key) == nil
		})
		if err != nil || !slices.Equal(got, expected) {
			t.Fatalf("%d keys, %v; want %d in order", len(got), err, len(expected))
		}
		got = nil
		err = s.Scan("", func(key string, _ Fact) bool { got = append(got, key); return false })
		if err != nil || !slices.Equal(got, []string{"a"}) {
			t.Fatalf("%q, %v; want the first key alone", got, err)
		}
		if err := s.Scan("d", func(string, Fact) bool { t.Error("found"); return true }); err != nil {
			t.Fatal(err)
		}
	})
}

func TestNobodySharesBytes(t *testing.T) {
	both(t, func(t *testing.T, s Store, c *clock) {
		mine := []byte("value")
		standing, _, err := s.PutIfAbsent("a", mine, month)
		if err != nil {
			t.Fatal(err)
		}
		copy(mine, "XXXXX")
		copy(standing.Bytes, "YYYYY")
		copy(want(t, s, "a", "value").Bytes, "ZZZZZ")
		err = s.Scan("", func(_ string, fact Fact) bool { copy(fact.Bytes, "WWWWW"); return true })
		if err != nil {
			t.Fatal(err)
		}
		want(t, s, "a", "value")
	})
}

func TestRaces(t *testing.T) {
	both(t, func(t *testing.T, s Store, c *clock) {
		const writers, keys = 8, 20
		var wins [keys]atomic.Int32
		var stood [keys][writers]string
		var all sync.WaitGroup
		for w := range writers {
			all.Go(func() {
				for k := range keys {
					fact, won, err := s.PutIfAbsent(fmt.Sprint("k", k), fmt.Appendf(nil, "writer %d", w), month)
					if err != nil {
						t.Error(err)
					}
					if won {
						wins[k].Add(1)
					}
					stood[k][w] = string(fact.Bytes)
					for swapped := false; !swapped && err == nil; {
						old, _ := s.Get("counter")
						_, swapped, err = s.CompareAndSwap("counter", old.Version, append(old.Bytes, 'x'), month)
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
		want(t, s, "counter", strings.Repeat("x", writers*keys))
	})
}

func TestAfterClose(t *testing.T) {
	both(t, func(t *testing.T, s Store, c *clock) {
		put(t, s, "a", "one")
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for i := range 100 {
					s.Get("a")
					if _, err := s.Put("b", bytes.Repeat([]byte("x"), i), month); err != nil && !errors.Is(err, ErrClosed) {
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
		want(t, s, "a", "")
		_, err1 := s.Put("a", nil, month)
		_, _, err2 := s.PutIfAbsent("a", nil, month)
		_, err3 := s.Touch("a", month)
		err4 := s.Scan("", func(string, Fact) bool { return true })
		for i, err := range []error{err1, err2, err3, err4, s.Delete("a"), s.Sync()} {
			if !errors.Is(err, ErrClosed) {
				t.Errorf("call %d: %v; want %v", i, err, ErrClosed)
			}
		}
	})
}
