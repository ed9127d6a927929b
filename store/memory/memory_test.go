package memory

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"epitome/store"
	"epitome/store/storetest"
)

func open(_ testing.TB, c *storetest.Clock) (store.Store, func() store.Store) {
	return New(64<<20, c.Now), nil
}

func TestContract(t *testing.T) { storetest.TestStore(t, open) }

func TestOwnClock(t *testing.T) { storetest.TestOwnClock(t, open) }

// TestMemoryIsBounded fills a Store far over its limit.
func TestMemoryIsBounded(t *testing.T) {
	const limit = 100_000
	c := storetest.NewClock()
	m := New(limit, c.Now)
	for i := range 10_000 {
		storetest.Put(t, m, string(rune('a'+i%26))+string(rune(i)), strings.Repeat("v", i%3000))
		c.Pass(time.Second)
		if m.rows.size > limit || len(m.rows.byKey) != len(m.rows.due) {
			t.Fatalf("%d bytes, %d keys, %d due", m.rows.size, len(m.rows.byKey), len(m.rows.due))
		}
	}
	storetest.Put(t, m, "kept", "x")
	for i := range 100 {
		c.Pass(storetest.Month / 10)
		if found, err := m.Touch("kept", storetest.Month); !found || err != nil {
			t.Fatal(i, found, err)
		}
		storetest.Put(t, m, "other", strings.Repeat("v", limit/2))
		storetest.Put(t, m, "another", strings.Repeat("v", limit/3))
	}
	storetest.Want(t, m, "kept", "x")
	if _, err := m.Put("kept", bytes.Repeat([]byte("v"), limit), storetest.Month); err == nil {
		t.Fatal("a fact larger than the limit was taken")
	}
	storetest.Want(t, m, "kept", "x")
}
