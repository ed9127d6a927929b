package offload

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"epitome/store"
)

// These tests let something happen at the very moment at which it would do harm.

// hookedStore does what a test wants after a call and before the caller has its answer. Each hook is called once.
type hookedStore struct {
	Facts
	afterGet, afterScan, afterTouch func()
}

func once(hook *func()) {
	if do := *hook; do != nil {
		*hook = nil
		do()
	}
}

func (h *hookedStore) Get(key string) (store.Fact, bool) {
	defer once(&h.afterGet)
	return h.Facts.Get(key)
}

func (h *hookedStore) Scan(prefix string, visit func(string, store.Fact) bool) error {
	defer once(&h.afterScan)
	return h.Facts.Scan(prefix, visit)
}

func (h *hookedStore) Touch(key string, keep time.Duration) (bool, error) {
	defer once(&h.afterTouch)
	return h.Facts.Touch(key, keep)
}

func hookStore(s *Shelf) *hookedStore {
	h := &hookedStore{Facts: s.catalogue.facts}
	s.catalogue.facts = h
	return h
}

// hookedPlace is the same of a place.
type hookedPlace struct {
	Place
	afterNames, afterDrop func()
}

func (h *hookedPlace) Names() ([]string, error) {
	defer once(&h.afterNames)
	return h.Place.Names()
}

func (h *hookedPlace) Drop(name string, now time.Time) (bool, error) {
	defer once(&h.afterDrop)
	return h.Place.Drop(name, now)
}

func hookPlace(s *Shelf) *hookedPlace {
	h := &hookedPlace{Place: s.place}
	s.place = h
	return h
}

func TestSweepWaitsForAPutOfWhatHasExpired(t *testing.T) {
	both(t, func(t *testing.T, s *Shelf, c *clock) {
		name := put(t, s, "content")
		c.pass(2 * month)
		done := make(chan error, 1)
		hookStore(s).afterGet = func() { // Sweep has just learnt that it has expired
			go func() { done <- s.Put(name, []byte("content")) }()
			select {
			case err := <-done: // it must not come this far
				done <- err
			case <-time.After(20 * time.Millisecond):
			}
		}
		if _, _, err := s.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		has(t, s, name, "content")
	})
}

func TestSweepForgetsNothingThatIsPutMeanwhile(t *testing.T) {
	both(t, func(t *testing.T, s *Shelf, c *clock) {
		name := s.Name("tests", []byte("content"))
		if err := s.catalogue.record(name, metadata{size: 7}); err != nil { // of a Put that was killed
			t.Fatal(err)
		}
		hookStore(s).afterScan = func() {
			if err := s.catalogue.facts.Delete(keyOf(name)); err != nil {
				t.Error(err)
			}
			put(t, s, "content")
		}
		if _, _, err := s.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		has(t, s, name, "content")
	})
}

func TestSweepCountsWhatIsPutMeanwhile(t *testing.T) {
	both(t, func(t *testing.T, s *Shelf, c *clock) {
		put(t, s, "content")
		hookPlace(s).afterNames = func() { put(t, s, "more content") }
		if _, _, err := s.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		used(t, s, 19)
	})
}

func TestSweepThatIsEndedHasCountedWhatItDeleted(t *testing.T) {
	both(t, func(t *testing.T, s *Shelf, c *clock) {
		put(t, s, "1st of these")
		put(t, s, "2nd of these")
		c.pass(2 * month)
		ctx, cancel := context.WithCancel(t.Context())
		hookPlace(s).afterDrop = cancel
		if n, bytes, err := s.Sweep(ctx); n != 1 || bytes != 12 || !errors.Is(err, context.Canceled) {
			t.Fatal(n, bytes, err)
		}
		used(t, s, 12)
	})
}

func TestContentLivesByItsTimeWhereMetadataAreLost(t *testing.T) {
	both(t, func(t *testing.T, s *Shelf, c *clock) {
		name := put(t, s, "content")
		if err := s.catalogue.facts.Delete(keyOf(name)); err != nil { // a store in memory gives facts up
			t.Fatal(err)
		}
		unknown(t, s, name)
		if n, _, err := s.Sweep(t.Context()); n != 0 || err != nil || s.Touch(name) {
			t.Fatal(n, err)
		}
		used(t, s, 7)
		put(t, s, "content")
		has(t, s, name, "content")
		used(t, s, 7)
	})
}

func TestMachineThatSleepsInTheMiddleOfAPut(t *testing.T) {
	folder, c := t.TempDir(), newClock()
	s := opened(t, options(folder, c))
	s.place.(*filePlace).save = func(path string, content []byte) error {
		err := saveNew(path, content)
		c.pass(2 * tempAge)
		if n, _, failed := s.place.Tidy(c.now()); n != 0 || failed != nil { // what else Sweep does waits for Put
			t.Errorf("swept %d, %v", n, failed)
		}
		return err
	}
	has(t, s, put(t, s, "content"), "content")
}

// Another process may delete a file, as expired, at any moment until its time is written anew.
func TestFileThatGoesWhileItIsTouchedIsWrittenAgain(t *testing.T) {
	folder, c := t.TempDir(), newClock()
	s := opened(t, options(folder, c))
	name := put(t, s, "content")
	h := hookStore(s)
	remove := func() {
		if err := os.Remove(fileOf(folder, name)); err != nil {
			t.Error(err)
		}
	}
	c.pass(month / 2)
	h.afterTouch = remove
	if s.Touch(name) {
		t.Fatal("touched what is gone")
	}
	put(t, s, "content")
	has(t, s, name, "content")

	c.pass(month / 2)
	h.afterTouch = remove
	put(t, s, "content")
	has(t, s, name, "content")

	other := opened(t, options(folder, c))
	c.pass(month / 2)
	p := &vanishing{Place: other.place, before: remove}
	other.place = p
	put(t, other, "content") // which it wants to adopt
	has(t, other, name, "content")
}

// vanishing loses a file before it prolongs it.
type vanishing struct {
	Place
	before func()
}

func (v *vanishing) Prolong(name string, until time.Time) error {
	once(&v.before)
	return v.Place.Prolong(name, until)
}

func TestErrorsOfRemovalAreTold(t *testing.T) {
	folder, c := t.TempDir(), newClock()
	s := opened(t, options(folder, c))
	stuck, free := put(t, s, "stuck"), put(t, s, "free")
	c.pass(2 * month)
	s.place = &stubborn{Place: s.place, stuck: stuck}
	n, _, err := s.Sweep(t.Context())
	if n != 1 || !errors.Is(err, os.ErrPermission) || strings.Contains(err.Error(), stuck) {
		t.Fatal(n, err)
	}
	unknown(t, s, free)
	used(t, s, 5)
}

// stubborn does not let go of one content.
type stubborn struct {
	Place
	stuck string
}

func (p *stubborn) Drop(name string, now time.Time) (bool, error) {
	if name == p.stuck {
		return false, &os.PathError{Op: "remove", Path: name, Err: os.ErrPermission}
	}
	return p.Place.Drop(name, now)
}
