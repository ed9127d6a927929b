package daemon

import (
	"fmt"
	"testing"
	"time"
	"unsafe"

	"epitome/store/memory"
)

// ticking is a ledger over a store in memory, with a clock that both share.
func ticking(keep time.Duration) (l *ledger, now *time.Time) {
	at := time.Unix(1_800_000_000, 0)
	clock := func() time.Time { return at }
	l = newLedger(memory.New(1<<20, clock), keep)
	l.now = clock
	return l, &at
}

func TestLedgerTouchesOnceInAWhile(t *testing.T) {
	l, now := ticking(32 * time.Hour)
	f := func(after time.Duration, key string, want bool) {
		t.Helper()
		*now = now.Add(after)
		if got := l.Touch(key); got != want {
			t.Errorf("%s after %v: due is %v", key, after, got)
		}
	}
	f(0, "a", true)
	f(0, "a", false)
	f(0, "b", true)
	f(touchEvery, "a", false)
	f(time.Second, "a", true)
	f(0, "a", false)
	f(-2*time.Hour, "a", true) // the clock was set back
}

// Facts expire by the clock on the wall, which goes on while a machine sleeps; the monotonic clock does not.
func TestTouchIsDueAfterAMachineHasSlept(t *testing.T) {
	l, _ := ticking(32 * time.Hour)
	before := time.Now()
	after := before
	const sleep = 33 * time.Hour
	*(*uint64)(unsafe.Pointer(&after)) += uint64(sleep/time.Second) << 30 // the wall clock's seconds
	if after.Sub(before) != 0 || after.Round(0).Sub(before.Round(0)) != sleep {
		t.Skip("a time.Time is laid out in another way")
	}
	l.now = func() time.Time { return before }
	l.Touch("a")
	l.now = func() time.Time { return after }
	if !l.Touch("a") {
		t.Error("a fact that expired during the sleep needs no touch")
	}
}

func TestWhatIsTouchedLivesOn(t *testing.T) {
	l, now := ticking(32 * time.Hour)
	for _, key := range []string{"used", "left"} {
		if _, _, err := l.Add(key, []byte("1")); err != nil {
			t.Fatal(err)
		}
	}
	for range 6 {
		*now = now.Add(16 * time.Hour)
		l.Touch("used")
	}
	if _, _, found := l.Get("used"); !found {
		t.Error("what was touched has expired")
	}
	if _, _, found := l.Get("left"); found {
		t.Error("what was not touched lives on")
	}
}

func TestLedgerForgetsTouchesBeforeTheyFillTheMemory(t *testing.T) {
	l, _ := ticking(time.Hour)
	for i := range mostTouched + 10 {
		l.Touch(fmt.Sprint(i))
	}
	if n := len(l.touched); n > mostTouched {
		t.Errorf("%d touches are remembered", n)
	}
}

func TestLedgerKeepsTheFirstUntilItIsSwapped(t *testing.T) {
	l, _ := ticking(time.Hour)
	standing, version, err := l.Add("k", []byte("one"))
	if string(standing) != "one" || version == 0 || err != nil {
		t.Fatalf("got %q %d %v", standing, version, err)
	}
	if standing, again, err := l.Add("k", []byte("two")); string(standing) != "one" || again != version || err != nil {
		t.Errorf("added again: got %q %d %v", standing, again, err)
	}
	if standing, _, swapped, err := l.Swap("k", version+1, []byte("two")); swapped || string(standing) != "one" ||
		err != nil {
		t.Errorf("swapped another version: got %q %v %v", standing, swapped, err)
	}
	if standing, newer, swapped, err := l.Swap("k", version, []byte("two")); !swapped || string(standing) != "two" ||
		newer <= version || err != nil {
		t.Errorf("swapped: got %q %d %v %v", standing, newer, swapped, err)
	}
	if value, _, found := l.Get("k"); !found || string(value) != "two" {
		t.Errorf("got %q %v", value, found)
	}
}
