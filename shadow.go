package main

import (
	"time"

	"epitome/rewrite"
	"epitome/store"
)

// shadowed are means by which nothing is written where m would write.
func shadowed(m rewrite.Means, keep time.Duration) rewrite.Means {
	m.Ledger = &shadowLedger{Ledger: m.Ledger, notes: newLedger(store.NewMemory(shadowMemory, time.Now), keep)}
	m.Shelf = shadowShelf{m.Shelf}
	return m
}

// shadowLedger reads what is live, and writes beside it.
type shadowLedger struct {
	rewrite.Ledger
	notes *ledger
}

// Get prefers what is live.
func (s *shadowLedger) Get(key string) (value []byte, version uint64, found bool) {
	if value, version, found = s.Ledger.Get(key); found {
		return value, version, found
	}
	return s.notes.Get(key)
}

// Add writes beside what is live.
func (s *shadowLedger) Add(key string, value []byte) (standing []byte, version uint64, err error) {
	if value, version, found := s.Ledger.Get(key); found {
		return value, version, nil
	}
	return s.notes.Add(key, value)
}

// Swap writes beside what is live, which stays as it is.
func (s *shadowLedger) Swap(key string, old uint64, value []byte) (standing []byte, version uint64, swapped bool, err error) {
	if _, _, found := s.notes.Get(key); found {
		return s.notes.Swap(key, old, value)
	}
	standing, version, err = s.notes.Add(key, value)
	return standing, version, err == nil, err
}

// Touch leaves everything as it is.
func (s *shadowLedger) Touch(string) bool { return false }

// shadowShelf names what would be put there, and keeps nothing.
type shadowShelf struct{ rewrite.Shelf }

// Put keeps nothing.
func (shadowShelf) Put(string, []byte, bool) error { return nil }

// Touch pretends that all is there.
func (shadowShelf) Touch(string) bool { return true }
