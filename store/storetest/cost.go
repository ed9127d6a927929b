package storetest

import (
	"fmt"
	"strings"
	"testing"
)

// TestAllocations bounds what one call costs in allocations, whatever the value's size, for a store that is reached
// without a network. The race detector allocates too: a test under it skips this.
func TestAllocations(t *testing.T, open Open) {
	s, _ := open(t, NewClock())
	defer func() { _ = s.Close() }()
	f := func(what string, limit float64, call func(key string)) {
		t.Helper()
		Put(t, s, "here", strings.Repeat("v", 2000))
		if got := testing.AllocsPerRun(200, func() { call("here") }); got > limit {
			t.Errorf("%s: %.0f allocations, at most %.0f", what, got, limit)
		}
	}
	f("get", 13, func(key string) { s.Get(key) })
	f("touch", 13, func(key string) { _, _ = s.Touch(key, Month) })
	f("put", 60, func(key string) { _, _ = s.Put(key, []byte("value"), Month) })
}

// Benchmark measures the calls of a store with 20 000 facts of 2 KB.
func Benchmark(b *testing.B, open Open) {
	const keys = 20_000
	value := []byte(strings.Repeat("v", 2048))
	name := func(i int) string { return fmt.Sprintf("%064d", i%keys) }
	s, _ := open(b, NewClock())
	defer func() { _ = s.Close() }()
	for i := range keys {
		Put(b, s, name(i), string(value))
	}
	f := func(what string, call func(i int)) {
		b.Run(what, func(b *testing.B) {
			b.SetBytes(int64(len(value)))
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				call(i * 7919)
			}
		})
	}
	f("put", func(i int) { _, _ = s.Put(name(i), value, Month) })
	f("get", func(i int) { s.Get(name(i)) })
	f("miss", func(i int) { s.Get("missing") })
	f("touch", func(i int) { _, _ = s.Touch(name(i), Month) })
	f("absent", func(i int) { _, _, _ = s.PutIfAbsent(name(i), value, Month) })
}
