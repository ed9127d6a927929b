package store_test

import (
	"strings"
	"testing"

	"epitome/store"
)

func TestMemoryKeepsTheContract(t *testing.T) {
	t.Parallel()
	holdContract(t, func(testing.TB) store.Store { return store.NewMemory(64 << 20) })
}

// A store in memory gives up what was put or touched longest ago.
func TestMemoryIsBounded(t *testing.T) {
	m := store.NewMemory(10_000)
	put(t, m, "old", "x")
	put(t, m, "touched", "x")
	for i := range 1000 {
		put(t, m, string(rune('a'+i%26)), strings.Repeat("v", i%3000+1))
		if err := m.Touch("touched", 2*kept); err != nil {
			t.Fatal(err)
		}
	}
	want(t, m, "old", "")
	want(t, m, "touched", "x")
	if _, err := m.Swap("touched", []byte("x"), []byte(strings.Repeat("v", 10_000)), kept); err == nil {
		t.Fatal("a fact larger than the limit was taken")
	}
	want(t, m, "touched", "x")
}
