// Package storetest holds a store to the contract of package store. Every store runs TestStore in a test of its own:
//
//	func TestContract(t *testing.T) {
//		storetest.TestStore(t, func(t testing.TB, c *storetest.Clock) (store.Store, func() store.Store) {
//			return memory.New(64<<20, c.Now), nil
//		})
//	}
//
// It does not hold what only one kind of store promises, such as what is left after a crash or within a limit: that is
// for the tests beside that store.
package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"epitome/store"
)

const (
	// Month is how long most facts of tests are kept.
	Month = 30 * 24 * time.Hour

	// Moment is more than a test takes. A store that goes by the clock on the wall, which is moved with OnPass, is not
	// held to less.
	Moment = time.Minute

	// manyFacts are more than a store would read at a time.
	manyFacts = 385
)

// Clock is a time that tests move by hand. It may be used from any goroutine.
type Clock struct {
	nanos  atomic.Int64
	passed func(d time.Duration) // nil if nobody else's time passes
}

// NewClock returns a clock that stands at the beginning of November 2026.
func NewClock() *Clock {
	c := new(Clock)
	c.nanos.Store(time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC).UnixNano())
	return c
}

// Now returns the time that the clock shows.
func (c *Clock) Now() time.Time { return time.Unix(0, c.nanos.Load()) }

// Pass lets d pass.
func (c *Clock) Pass(d time.Duration) {
	c.nanos.Add(int64(d))
	if c.passed != nil {
		c.passed(d)
	}
}

// OnPass has passed called with all that passes from now on: a server does not go by this clock.
func (c *Clock) OnPass(passed func(d time.Duration)) { c.passed = passed }

// Open makes an empty store that tells the time by c; the test closes it. reopen closes the store and opens another one
// over what it has kept; it is nil for a store that ends with its process.
type Open func(t testing.TB, c *Clock) (s store.Store, reopen func() store.Store)

// TestStore holds the stores that open makes to the contract.
func TestStore(t *testing.T, open Open) {
	f := func(name string, test func(t *testing.T, s store.Store, c *Clock)) {
		t.Run(name, func(t *testing.T) {
			c := NewClock()
			s, _ := open(t, c)
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
			test(t, s, c)
		})
	}
	f("PutGetDelete", testPutGetDelete)
	f("EmptyAndLargestValues", testEmptyAndLargestValues)
	f("Refusals", testRefusals)
	f("PutIfAbsentAndCompareAndSwap", testPutIfAbsentAndCompareAndSwap)
	f("Expiry", testExpiry)
	f("TouchMayMissASixteenth", testTouchMayMissASixteenth)
	f("Scan", testScan)
	f("NobodySharesBytes", testNobodySharesBytes)
	f("Races", testRaces)
	f("AfterClose", testAfterClose)
	t.Run("AgreesWithModel", func(t *testing.T) { testModel(t, open) })
}

// TestOwnClock holds stores to what those promise that go by a clock of their own, and count their versions: a fact
// lives to the nanosecond, and each replacement has a higher version than all before, that of an equal value too.
func TestOwnClock(t *testing.T, open Open) {
	c := NewClock()
	s, reopen := open(t, c)
	defer func() { _ = s.Close() }()
	top := uint64(0)
	rises := func(version uint64) {
		t.Helper()
		if version <= top {
			t.Fatalf("version %d after %d", version, top)
		}
		top = version
	}
	for _, value := range []string{"one", "one", "two", "one"} {
		rises(Put(t, s, "a", value))
		fact, _, err := s.CompareAndSwap("a", top, []byte(value), Month)
		if err != nil {
			t.Fatal(err)
		}
		rises(fact.Version)
		if err := s.Delete("a"); err != nil {
			t.Fatal(err)
		}
		if reopen != nil {
			c.Pass(time.Second) // versions begin at the clock
			s = reopen()
		}
	}
	Put(t, s, "a", "one")
	c.Pass(Month - 1)
	Want(t, s, "a", "one")
	if found, err := s.Touch("a", Month); !found || err != nil {
		t.Fatal(found, err)
	}
	c.Pass(Month - 1)
	Want(t, s, "a", "one")
	c.Pass(1)
	Want(t, s, "a", "")
}

// Want checks what is under key; the empty string means nothing.
func Want(t testing.TB, s store.Store, key, value string) store.Fact {
	t.Helper()
	fact, found := s.Get(key)
	if found != (value != "") || string(fact.Bytes) != value || found != (fact.Version != 0) {
		t.Fatalf("under %q: %q, version %d, found %v; want %q", key, fact.Bytes, fact.Version, found, value)
	}
	return fact
}

// Put sets what is under key, for a month, and returns its version.
func Put(t testing.TB, s store.Store, key, value string) uint64 {
	t.Helper()
	version, err := s.Put(key, []byte(value), Month)
	if err != nil {
		t.Fatal(err)
	}
	return version
}

func testPutGetDelete(t *testing.T, s store.Store, _ *Clock) {
	Want(t, s, "a", "")
	first := Put(t, s, "a", "one")
	if got := Want(t, s, "a", "one").Version; got != first {
		t.Fatalf("version %d; put said %d", got, first)
	}
	second := Put(t, s, "a", "two")
	Want(t, s, "a", "two")
	if err := s.Delete("a"); err != nil {
		t.Fatal(err)
	}
	Want(t, s, "a", "")
	third := Put(t, s, "a", "one")
	if first == 0 || second == 0 || third == 0 || first == second || second == third {
		t.Fatalf("versions of one, two, one: %d, %d, %d", first, second, third)
	}
	if err := s.Delete("never there"); err != nil {
		t.Fatal(err)
	}
	if err := s.Sync(); err != nil {
		t.Fatal(err)
	}
}

func testEmptyAndLargestValues(t *testing.T, s store.Store, _ *Clock) {
	Put(t, s, "empty", "")
	if fact, found := s.Get("empty"); !found || len(fact.Bytes) != 0 {
		t.Fatalf("an empty value: %q, %v", fact.Bytes, found)
	}
	large := strings.Repeat("x", store.MaxValue)
	key := strings.Repeat("k", store.MaxKey)
	Put(t, s, key, large)
	Want(t, s, key, large)
	Put(t, s, "!badger!txn", "ours")
	Want(t, s, "!badger!txn", "ours")
	Put(t, s, "\x00\xff", "binary")
	Want(t, s, "\x00\xff", "binary")
}

func testRefusals(t *testing.T, s store.Store, _ *Clock) {
	f := func(what string, is error, err error) {
		t.Helper()
		if err == nil || is != nil && !errors.Is(err, is) {
			t.Errorf("%s: %v; want an error that is %v", what, err, is)
		}
	}
	_, err := s.Put("large", make([]byte, store.MaxValue+1), Month)
	f("too large a value", store.ErrTooLarge, err)
	_, _, err = s.PutIfAbsent("large", make([]byte, store.MaxValue+1), Month)
	f("too large a value", store.ErrTooLarge, err)
	_, err = s.Put("", nil, Month)
	f("no key", nil, err)
	_, err = s.Put(strings.Repeat("k", store.MaxKey+1), nil, Month)
	f("too long a key", nil, err)
	_, err = s.Put("a", nil, 0)
	f("no time", nil, err)
	_, err = s.Touch("a", -time.Second)
	f("negative time", nil, err)
	f("no key", nil, s.Delete(""))
	Want(t, s, "large", "")
	Want(t, s, "", "")
	Want(t, s, "a", "")
}

func testPutIfAbsentAndCompareAndSwap(t *testing.T, s store.Store, c *Clock) {
	f := func(standing store.Fact, done bool, err error) func(value string, want bool) store.Fact {
		return func(value string, want bool) store.Fact {
			t.Helper()
			if err != nil || done != want || string(standing.Bytes) != value ||
				(standing.Version == 0) != (value == "") {
				t.Fatalf("%q, version %d, %v, %v; want %q, %v", standing.Bytes, standing.Version, done, err, value,
					want)
			}
			return standing
		}
	}
	f(s.CompareAndSwap("a", 7, []byte("x"), Month))("", false)
	first := f(s.PutIfAbsent("a", []byte("one"), Month))("one", true)
	same := f(s.PutIfAbsent("a", []byte("two"), Month))("one", false)
	if same.Version != first.Version {
		t.Fatalf("the loser holds version %d, the winner %d", same.Version, first.Version)
	}
	f(s.CompareAndSwap("a", 0, []byte("two"), Month))("one", false)
	second := f(s.CompareAndSwap("a", first.Version, []byte("two"), Month))("two", true)
	f(s.CompareAndSwap("a", first.Version, []byte("three"), Month))("two", false)
	if second.Version == first.Version {
		t.Fatalf("version %d of both", first.Version)
	}
	Want(t, s, "a", "two")
	c.Pass(Month)
	f(s.PutIfAbsent("a", []byte("again"), Month))("again", true)
}

func testExpiry(t *testing.T, s store.Store, c *Clock) {
	version := Put(t, s, "a", "one")
	if _, err := s.Put("long", []byte("x"), math.MaxInt64); err != nil {
		t.Fatal(err)
	}
	c.Pass(Month - Moment)
	Want(t, s, "a", "one")
	if found, err := s.Touch("a", Month); !found || err != nil {
		t.Fatal(found, err)
	}
	if found, err := s.Touch("a", time.Minute); !found || err != nil {
		t.Fatal("a shorter time", found, err)
	}
	c.Pass(Month - Moment)
	if got := Want(t, s, "a", "one").Version; got != version {
		t.Fatalf("touched, the version is %d; was %d", got, version)
	}
	c.Pass(Moment)
	Want(t, s, "a", "")
	if found, err := s.Touch("a", Month); found || err != nil {
		t.Fatal("an expired fact", found, err)
	}
	err := s.Scan("", func(key string, _ store.Fact) bool { return key == "long" })
	if err != nil {
		t.Fatal(err)
	}
	Want(t, s, "long", "x")
}

func testTouchMayMissASixteenth(t *testing.T, s store.Store, c *Clock) {
	Put(t, s, "a", "one")
	for range 100 {
		c.Pass(Month / 40)
		if found, err := s.Touch("a", Month); !found || err != nil {
			t.Fatal(found, err)
		}
	}
	c.Pass(Month - Month/16 - Moment)
	Want(t, s, "a", "one")
}

func testScan(t *testing.T, s store.Store, _ *Clock) {
	var expected []string
	for i := range manyFacts {
		key := fmt.Sprintf("b/%04d", i)
		Put(t, s, key, strings.Repeat(key, 100))
		expected = append(expected, key)
	}
	Put(t, s, "a", "before")
	Put(t, s, "c", "behind")
	var got []string
	err := s.Scan("b/", func(key string, fact store.Fact) bool {
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
	err = s.Scan("", func(key string, _ store.Fact) bool { got = append(got, key); return false })
	if err != nil || !slices.Equal(got, []string{"a"}) {
		t.Fatalf("%q, %v; want the first key alone", got, err)
	}
	if err := s.Scan("d", func(string, store.Fact) bool { t.Error("found"); return true }); err != nil {
		t.Fatal(err)
	}
}

func testNobodySharesBytes(t *testing.T, s store.Store, _ *Clock) {
	mine := []byte("value")
	standing, _, err := s.PutIfAbsent("a", mine, Month)
	if err != nil {
		t.Fatal(err)
	}
	copy(mine, "XXXXX")
	copy(standing.Bytes, "YYYYY")
	copy(Want(t, s, "a", "value").Bytes, "ZZZZZ")
	err = s.Scan("", func(_ string, fact store.Fact) bool { copy(fact.Bytes, "WWWWW"); return true })
	if err != nil {
		t.Fatal(err)
	}
	Want(t, s, "a", "value")
}

func testRaces(t *testing.T, s store.Store, _ *Clock) {
	const writers, keys = 8, 20
	var wins [keys]atomic.Int32
	var stood [keys][writers]string
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for k := range keys {
				fact, won, err := s.PutIfAbsent(fmt.Sprint("k", k), fmt.Appendf(nil, "writer %d", w), Month)
				if err != nil {
					t.Error(err)
				}
				if won {
					wins[k].Add(1)
				}
				stood[k][w] = string(fact.Bytes)
				for swapped := false; !swapped && err == nil; {
					old, _ := s.Get("counter")
					_, swapped, err = s.CompareAndSwap("counter", old.Version, append(old.Bytes, 'x'), Month)
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
	Want(t, s, "counter", strings.Repeat("x", writers*keys))
}

func testAfterClose(t *testing.T, s store.Store, _ *Clock) {
	Put(t, s, "a", "one")
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range 100 {
				s.Get("a")
				if _, err := s.Put("b", bytes.Repeat([]byte("x"), i), Month); err != nil &&
					!errors.Is(err, store.ErrClosed) {
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
	Want(t, s, "a", "")
	_, err1 := s.Put("a", nil, Month)
	_, _, err2 := s.PutIfAbsent("a", nil, Month)
	_, err3 := s.Touch("a", Month)
	err4 := s.Scan("", func(string, store.Fact) bool { return true })
	for i, err := range []error{err1, err2, err3, err4, s.Delete("a"), s.Sync()} {
		if !errors.Is(err, store.ErrClosed) {
			t.Errorf("call %d: %v; want %v", i, err, store.ErrClosed)
		}
	}
}
