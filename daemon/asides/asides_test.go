package asides

import (
	"errors"
	"strings"
	"testing"
	"time"

	"epitome/store"
	"epitome/store/memory"
)

// keeping makes facts over a store, with a clock of their own.
func keeping(s store.Store) (f *facts, clock *time.Time) {
	clock = new(time.Now())
	f = &facts{now: func() time.Time { return *clock }, known: map[string]fact{}}
	f.options = Options{Store: s, Keep: time.Hour}
	return f, clock
}

// watched is a store that counts how often it is asked, and may be away.
type watched struct {
	store.Store
	asked int
	away  error
}

func (w *watched) Find(key string) (store.Fact, bool, error) {
	if w.asked++; w.away != nil {
		return store.Fact{}, false, w.away
	}
	fact, found := w.Get(key)
	return fact, found, nil
}

func TestTheFirstRecordStands(t *testing.T) {
	s := &watched{Store: memory.New(1<<20, time.Now)}
	f, _ := keeping(s)
	other, _ := keeping(s)
	for _, try := range []struct {
		by    *facts
		value string
	}{{f, "one"}, {other, "two"}, {f, "three"}} {
		if err := try.by.Keep("k", []byte(try.value)); err != nil {
			t.Fatal(err)
		}
		if got, found, err := try.by.Find("k"); string(got) != "one" || !found || err != nil {
			t.Errorf("behind %s: %s, %v, %v", try.value, got, found, err)
		}
	}
	if s.asked != 0 {
		t.Errorf("the store was asked %d times for what is known", s.asked)
	}
}

func TestWhatIsNotThereIsLookedForAgain(t *testing.T) {
	s := &watched{Store: memory.New(1<<20, time.Now)}
	f, clock := keeping(s)
	for range 3 {
		if _, found, _ := f.Find("k"); found {
			t.Fatal("found what is not there")
		}
	}
	if _, err := s.Put("k", []byte("by another"), time.Hour); err != nil {
		t.Fatal(err)
	}
	*clock = clock.Add(2 * absentFor)
	if got, found, _ := f.Find("k"); !found || string(got) != "by another" || s.asked != 2 {
		t.Errorf("%s, %v, after %d questions", got, found, s.asked)
	}
}

func TestWhatIsKnownOutlivesTheStore(t *testing.T) {
	away := errors.New("away")
	f, _ := keeping(&watched{Store: memory.New(1<<20, time.Now), away: away})
	if err := f.Keep("k", []byte("v")); err != nil {
		t.Fatal(err)
	}
	if got, found, err := f.Find("k"); string(got) != "v" || !found || err != nil {
		t.Errorf("%s, %v, %v", got, found, err)
	}
	for range 2 {
		if _, found, err := f.Find("other"); found || !errors.Is(err, away) {
			t.Errorf("%v, %v", found, err)
		}
	}
}

func TestMemoryOfRecordsIsBounded(t *testing.T) {
	f, _ := keeping(memory.New(1<<30, time.Now))
	large := []byte(strings.Repeat("x", 1<<19))
	for n := range 200 {
		if err := f.Keep(strings.Repeat("k", n+1), large); err != nil {
			t.Fatal(err)
		}
	}
	if f.bytes > mostBytes || len(f.known) > mostBytes>>19 {
		t.Errorf("%d bytes of %d records are remembered", f.bytes, len(f.known))
	}
	if got, found, err := f.Find("k"); len(got) != len(large) || !found || err != nil {
		t.Errorf("what was forgotten is not found in the store: %v, %v", found, err)
	}
}
