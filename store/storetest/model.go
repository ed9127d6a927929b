package storetest

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"epitome/store"
)

// model is a store.Store as a map, as one would explain it.
type model struct {
	t     *rapid.T
	s     store.Store
	c     *Clock
	facts map[string]modelFact
}

type modelFact struct {
	value   string
	version uint64
	expires time.Time
	slack   time.Duration // by how much a touch may have been left out
}

// testModel compares sequences of operations with a map.
func testModel(t *testing.T, open Open) {
	rapid.Check(t, func(rt *rapid.T) {
		c := NewClock()
		s, reopen := open(t, c)
		m := &model{t: rt, s: s, c: c, facts: map[string]modelFact{}}
		defer func() { _ = m.s.Close() }()
		actions := map[string]func(*rapid.T){
			"put": m.put, "get": m.get, "absent": m.absent, "swap": m.swap, "delete": m.delete,
			"touch": m.touch, "scan": m.scan, "pass": m.pass,
		}
		if reopen != nil {
			actions["reopen"] = func(rt *rapid.T) {
				if rapid.IntRange(0, 4).Draw(rt, "one in five") > 0 {
					return // it takes longer than all the rest
				}
				c.Pass(time.Second) // versions begin at the clock
				m.s = reopen()
			}
		}
		rt.Repeat(actions)
	})
}

func (m *model) key(t *rapid.T) string {
	return rapid.SampledFrom([]string{"a", "b", "ab", "abc", "b\x00", "\xff"}).Draw(t, "key")
}

func (m *model) value(t *rapid.T) []byte {
	return rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "value")
}

func (m *model) keep(t *rapid.T) time.Duration {
	return time.Duration(rapid.IntRange(1, 48).Draw(t, "keep")) * time.Hour
}

// live returns the fact under key, unless it has expired for certain.
func (m *model) live(key string) (modelFact, bool) {
	f, found := m.facts[key]
	if !found || !m.c.Now().Before(f.expires) {
		return modelFact{}, false
	}
	return f, true
}

// unsure reports whether the fact may have expired already, as a touch may have been left out.
func (m *model) unsure(key string) bool {
	f, found := m.live(key)
	return found && !m.c.Now().Before(f.expires.Add(-f.slack))
}

func (m *model) set(key string, value []byte, version uint64, keep time.Duration) {
	if old, found := m.live(key); version == 0 || found && old.value != string(value) && old.version == version {
		m.t.Fatalf("version %d after %d", version, old.version)
	}
	m.facts[key] = modelFact{string(value), version, m.c.Now().Add(keep), 0}
}

func (m *model) same(key string, got store.Fact, found bool) {
	f, expected := m.live(key)
	if m.unsure(key) && !found {
		delete(m.facts, key)
		return
	}
	if found != expected || string(got.Bytes) != f.value || got.Version != f.version {
		m.t.Fatalf("under %q: %q, version %d, %v; want %q, %d, %v", key, got.Bytes, got.Version, found, f.value,
			f.version, expected)
	}
}

func (m *model) get(t *rapid.T) {
	key := m.key(t)
	got, found := m.s.Get(key)
	m.same(key, got, found)
}

func (m *model) put(t *rapid.T) {
	key, value, keep := m.key(t), m.value(t), m.keep(t)
	version, err := m.s.Put(key, value, keep)
	if err != nil {
		t.Fatal(err)
	}
	m.set(key, value, version, keep)
}

func (m *model) absent(t *rapid.T) {
	key, value, keep := m.key(t), m.value(t), m.keep(t)
	standing, won, err := m.s.PutIfAbsent(key, value, keep)
	if err != nil {
		t.Fatal(err)
	}
	if _, found := m.live(key); won && (!found || m.unsure(key)) {
		m.set(key, value, standing.Version, keep)
	}
	m.same(key, standing, true)
}

func (m *model) swap(t *rapid.T) {
	key, value, keep := m.key(t), m.value(t), m.keep(t)
	there, found := m.s.Get(key)
	m.same(key, there, found)
	old := rapid.SampledFrom([]uint64{0, there.Version, there.Version + 1}).Draw(t, "old")
	standing, swapped, err := m.s.CompareAndSwap(key, old, value, keep)
	if err != nil || swapped != (old == there.Version) {
		t.Fatalf("%v, %v; version %d was there, %d expected", swapped, err, there.Version, old)
	}
	if swapped {
		m.set(key, value, standing.Version, keep)
	}
	m.same(key, standing, standing.Version != 0)
}

func (m *model) delete(t *rapid.T) {
	key := m.key(t)
	if err := m.s.Delete(key); err != nil {
		t.Fatal(err)
	}
	delete(m.facts, key)
}

func (m *model) touch(t *rapid.T) {
	key, keep := m.key(t), m.keep(t)
	found, err := m.s.Touch(key, keep)
	f, expected := m.live(key)
	if err != nil || found != expected && !m.unsure(key) {
		t.Fatalf("%q: %v, %v; want %v", key, found, err, expected)
	}
	if !found {
		delete(m.facts, key)
		return
	}
	// What is there may end anywhere between the earliest and the latest that the contract allows.
	earliest, latest := f.expires.Add(-f.slack), f.expires
	if end := m.c.Now().Add(keep); end.After(latest) {
		latest = end
	}
	if end := m.c.Now().Add(keep - keep/16); end.After(earliest) {
		earliest = end
	}
	f.expires, f.slack = latest, latest.Sub(earliest)
	m.facts[key] = f
}

func (m *model) scan(t *rapid.T) {
	prefix := rapid.SampledFrom([]string{"", "a", "ab", "b", "c", "\xff"}).Draw(t, "prefix")
	var keys []string
	err := m.s.Scan(prefix, func(key string, fact store.Fact) bool {
		m.same(key, fact, true)
		keys = append(keys, key)
		return true
	})
	if err != nil || !slices.IsSorted(keys) {
		t.Fatal(keys, err)
	}
	for _, key := range slices.Collect(maps.Keys(m.facts)) {
		_, found := m.live(key)
		if found && strings.HasPrefix(key, prefix) && !slices.Contains(keys, key) && !m.unsure(key) {
			t.Fatalf("%q is missing in %q", key, keys)
		}
	}
}

func (m *model) pass(t *rapid.T) {
	m.c.Pass(time.Duration(rapid.IntRange(1, 30).Draw(t, "hours")) * time.Hour)
}
