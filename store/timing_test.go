package store

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestAllocationsAreBounded holds what one call costs in allocations, whatever the value's size.
func TestAllocationsAreBounded(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector allocates")
	}
	c := newClock()
	f := func(s Store, what string, limit float64, call func(key string)) {
		t.Helper()
		put(t, s, "here", strings.Repeat("v", 2000))
		if got := testing.AllocsPerRun(200, func() { call("here") }); got > limit {
			t.Errorf("%T: %s: %.0f allocations, at most %.0f", s, what, got, limit)
		}
	}
	for _, s := range []Store{NewMemory(1<<20, c.now), opened(t, c)} {
		f(s, "get", 13, func(key string) { s.Get(key) })
		f(s, "touch", 13, func(key string) { _, _ = s.Touch(key, month) })
		f(s, "put", 60, func(key string) { _, _ = s.Put(key, []byte("value"), month) })
	}
}

func BenchmarkStore(b *testing.B) {
	const keys = 20_000
	value := []byte(strings.Repeat("v", 2048))
	name := func(i int) string { return fmt.Sprintf("%064d", i%keys) }
	f := func(b *testing.B, s Store, what string, call func(i int)) {
		b.Run(what, func(b *testing.B) {
			b.SetBytes(int64(len(value)))
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				call(i * 7919)
			}
		})
	}
	for _, s := range []Store{NewMemory(1<<30, newClock().now), opened(b, newClock())} {
		b.Run(strings.TrimPrefix(fmt.Sprintf("%T", s), "*store."), func(b *testing.B) {
			for i := range keys {
				if _, err := s.Put(name(i), value, month); err != nil {
					b.Fatal(err)
				}
			}
			f(b, s, "put", func(i int) { _, _ = s.Put(name(i), value, month) })
			f(b, s, "get", func(i int) { s.Get(name(i)) })
			f(b, s, "miss", func(i int) { s.Get("missing") })
			f(b, s, "touch", func(i int) { _, _ = s.Touch(name(i), month) })
			f(b, s, "absent", func(i int) { _, _, _ = s.PutIfAbsent(name(i), value, month) })
		})
	}
}

// BenchmarkOpen opens and closes a store with 20 MB in it, all of whose tables are verified, and an empty one.
func BenchmarkOpen(b *testing.B) {
	f := func(b *testing.B, facts int) {
		o := Options{Folder: filepath.Join(b.TempDir(), "store"), Free: plenty}
		for i := -1; b.Loop(); i++ {
			d, err := Open(o)
			if err != nil {
				b.Fatal(err)
			}
			for n := range facts {
				if i >= 0 {
					break
				}
				if _, err := d.Put(fmt.Sprint(n), []byte(expected(fmt.Sprint(n))), month); err != nil {
					b.Fatal(err)
				}
			}
			if err := d.Close(); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("empty", func(b *testing.B) { f(b, 0) })
	b.Run("20MB", func(b *testing.B) { f(b, 10_000) })
}
