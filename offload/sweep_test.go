package offload

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestSweepDeletesWhatHasExpired(t *testing.T) {
	both(t, func(t *testing.T, s *Shelf, c *clock) {
		old := put(t, s, "old one")
		c.pass(month)
		young := put(t, s, "young")
		f := func(wantN int, wantBytes, wantUsed int64) {
			t.Helper()
			n, bytes, err := s.Sweep(t.Context())
			if n != wantN || bytes != wantBytes || err != nil {
				t.Fatalf("swept %d, %d bytes, %v; want %d, %d bytes", n, bytes, err, wantN, wantBytes)
			}
			used(t, s, wantUsed)
		}
		f(0, 0, 12)
		c.pass(month / 8)
		f(1, 7, 5)
		unknown(t, s, old)
		has(t, s, young, "young")
		f(0, 0, 5)
		c.pass(2 * month)
		f(1, 5, 0)
		if names, err := s.place.Names(); len(names) != 0 || err != nil {
			t.Fatal(names, err)
		}
	})
}

func TestSweepFreesTheQuota(t *testing.T) {
	both(t, func(t *testing.T, s *Shelf, c *clock) {
		s.budget.quota = 10
		put(t, s, "0123456789")
		c.pass(2 * month)
		if _, _, err := s.Sweep(t.Context()); err != nil || s.Full() {
			t.Fatal(err, s.Full())
		}
		put(t, s, "9876543210")
	})
}

func TestSweepDeletesWhatACrashHasLeft(t *testing.T) {
	folder, c := t.TempDir(), newClock()
	s := opened(t, options(folder, c))
	name := put(t, s, "content")
	temp := s.place.(*filePlace).temp()
	foreign := filepath.Join(folder, "artifacts", "README.txt")
	for _, path := range []string{temp, foreign} {
		if err := os.WriteFile(path, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	orphan := s.Name("tests", []byte("orphan")) // metadata without a content
	if err := s.catalogue.record(orphan, metadata{size: 6}); err != nil {
		t.Fatal(err)
	}
	if n, _, err := s.Sweep(t.Context()); n != 0 || err != nil {
		t.Fatal("swept what is being written", n, err)
	}
	if _, found := s.catalogue.find(orphan); found {
		t.Fatal("metadata without a content stay")
	}
	c.pass(tempAge + time.Second)
	if n, bytes, err := s.Sweep(t.Context()); n != 1 || bytes != 4 || err != nil {
		t.Fatalf("swept %d, %d bytes, %v; want the temp alone", n, bytes, err)
	}
	if left := listing(t, folder); len(left) != 2 {
		t.Fatalf("there are %q", left)
	}
	has(t, s, name, "content")
	used(t, s, 7)
}

// What Put or Touch has just answered for is there, whatever is swept at the same time, and the count stays right.
func TestSweepNeverTakesWhatIsLive(t *testing.T) {
	both(t, func(t *testing.T, s *Shelf, c *clock) {
		ctx, cancel := context.WithCancel(t.Context())
		var sweeps, writers sync.WaitGroup
		var written atomic.Int64
		sweeps.Go(func() {
			for passed := int64(0); ctx.Err() == nil; {
				if passed <= 20*written.Load() { // else a writer that waits long meets 2262, the end of all expiries
					c.pass(month / 4)
					passed++
				}
				if _, _, err := s.Sweep(ctx); err != nil && ctx.Err() == nil {
					t.Error(err)
				}
			}
		})
		for w := range 4 {
			writers.Go(func() {
				for n := range 60 {
					content := fmt.Appendf(nil, "content %d of writer %d", n%7, w%2)
					name := s.Name("tests", content)
					before := c.now()
					if !s.Touch(name) {
						if err := s.Put(name, content); err != nil {
							t.Error(err)
						}
					}
					got, err := s.Get(name)
					if late := c.now().Sub(before) >= month; !late && (err != nil || string(got) != string(content)) {
						t.Errorf("%q, %v although it is live", got, err)
					}
					written.Add(1)
				}
			})
		}
		writers.Wait()
		cancel()
		sweeps.Wait()
		before := s.Used()
		if err := s.budget.recount(s.place); err != nil || s.Used() != before {
			t.Fatalf("%d bytes were counted while things went on, %d lie there, %v", before, s.Used(), err)
		}
	})
}

// TestShelfAgreesWithAModel compares the shelf with a table of contents and the times until which they must live, and
// must be gone.
func TestShelfAgreesWithAModel(t *testing.T) {
	type life struct{ atLeast, atMost time.Time }
	rapid.Check(t, func(rt *rapid.T) {
		c := newClock()
		folder := ""
		if rapid.Bool().Draw(rt, "on disk") {
			var err error
			if folder, err = os.MkdirTemp(t.TempDir(), "shelf"); err != nil {
				rt.Fatal(err)
			}
		}
		s := opened(t, options(folder, c))
		model := map[string]life{}
		content := rapid.Custom(func(rt *rapid.T) string {
			return strings.Repeat("x", rapid.IntRange(0, 5).Draw(rt, "size"))
		})
		renew := func(text string) {
			now := c.now()
			atMost := now.Add(month + month/8)
			if old := model[text]; old.atMost.After(atMost) {
				atMost = old.atMost
			}
			model[text] = life{now.Add(month), atMost}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"put": func(rt *rapid.T) {
				text := content.Draw(rt, "content")
				put(t, s, text)
				renew(text)
			},
			"touch": func(rt *rapid.T) {
				text := content.Draw(rt, "content")
				touched := s.Touch(s.Name("tests", []byte(text)))
				if l := model[text]; touched && !c.now().Before(l.atMost) || !touched && c.now().Before(l.atLeast) {
					rt.Fatalf("touched: %v; it lives from %v to %v, now %v", touched, l.atLeast, l.atMost, c.now())
				}
				if touched {
					renew(text)
				}
			},
			"pass": func(rt *rapid.T) { c.pass(time.Duration(rapid.Int64Range(0, int64(month)).Draw(rt, "time"))) },
			"sweep": func(rt *rapid.T) {
				if _, _, err := s.Sweep(t.Context()); err != nil {
					rt.Fatal(err)
				}
				most := int64(0)
				for text, l := range model {
					if c.now().Before(l.atMost) {
						most += int64(len(text))
					}
				}
				if s.Used() > most {
					rt.Fatalf("%d bytes are used, of at most %d", s.Used(), most)
				}
			},
			"": func(rt *rapid.T) {
				for text, l := range model {
					got, err := s.Get(s.Name("tests", []byte(text)))
					if err != nil && (err != ErrUnknown || c.now().Before(l.atLeast)) || err == nil &&
						(string(got) != text || !c.now().Before(l.atMost)) {
						rt.Fatalf("%q: %q, %v; it lives from %v to %v, now %v",
							text, got, err, l.atLeast, l.atMost, c.now())
					}
				}
			},
		})
	})
}
