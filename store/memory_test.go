package store_test

import (
	"strings"
	"testing"

	"epitome/store"
	"epitome/store/storetest"
)

func TestMemoryKeepsTheContract(t *testing.T) {
	storetest.Test(t, func(testing.TB) store.Store { return store.NewMemory(64 << 20) })
}

// A store in memory gives up what was put or touched longest ago.
func TestMemoryIsBounded(t *testing.T) {
	m := store.NewMemory(10_000)
	storetest.Put(t, m, "old", "x")
	storetest.Put(t, m, "touched", "x")
	for i := range 1000 {
		storetest.Put(t, m, string(rune('a'+i%26)), strings.Repeat("v", i%3000+1))
		if err := m.Touch("touched", 2*storetest.Month); err != nil {
			t.Fatal(err)
		}
		size := 0
		if err := m.Scan("", func(key string, value []byte) bool { size += len(key) + len(value); return true }); err != nil || size > 10_000 {
			t.Fatalf("%d bytes of 10,000, %v", size, err)
		}
	}
	storetest.Want(t, m, "old", "")
	storetest.Want(t, m, "touched", "x")
	if err := m.Put("touched", []byte(strings.Repeat("v", 10_000)), storetest.Month); err == nil {
		t.Fatal("a fact larger than the limit was taken")
	}
	storetest.Want(t, m, "touched", "x")
}
