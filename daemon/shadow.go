package daemon

import (
	"context"
	"errors"
	"time"

	"epitome/prose"
	"epitome/rewrite"
	"epitome/rewrite/decision"
	"epitome/rewrite/plan"
	"epitome/store/memory"
	"epitome/summarize"
)

// shadowed are means by which nothing is written where m would write, and nobody is asked.
func shadowed(m rewrite.Deps, keep time.Duration) rewrite.Deps {
	m.Ledger = beside(m.Ledger, &shadowLedger{notes: newLedger(memory.New(shadowMemory, time.Now), keep)})
	m.Shelf = shadowShelf{m.Shelf}
	m.Summariser = looking(m.Summariser)
	return m
}

// looking is a summariser that has what the live one has made, and asks nobody; nil if there is none.
func looking(live plan.Summariser) plan.Summariser {
	if s, ok := live.(*summariser); ok {
		return shadowSummariser{s.Summarizer}
	}
	return nil
}

// shadowLedger reads what is live, and writes beside it.
type shadowLedger struct {
	live      decision.Ledger
	notes     *ledger
	keepAlive bool // what is live lives on by being read here
}

// beside is the shadow of what is live.
func beside(live decision.Ledger, s *shadowLedger) decision.Ledger {
	s.live = live
	if far, ok := live.(decision.Turns); ok {
		return shadowTurns{s, far}
	}
	return s
}

// shadowTurns is the shadow of a ledger that others share.
type shadowTurns struct {
	*shadowLedger
	far decision.Turns
}

// Turn begins a turn of what is live, beside which is written.
func (s shadowTurns) Turn(tag string) decision.Turn {
	live := s.far.Turn(tag)
	return shadowTurn{&shadowLedger{live: live, notes: s.notes, keepAlive: s.keepAlive}, live}
}

// shadowTurn is one request's.
type shadowTurn struct {
	*shadowLedger
	turn decision.Turn
}

// Failure is that of what is live, and so are Read, Knows and Stamped.
func (s shadowTurn) Failure() error { return s.turn.Failure() }

// Read does what decision.Turn says.
func (s shadowTurn) Read(keys []string) { s.turn.Read(keys) }

// Knows does what decision.Turn says.
func (s shadowTurn) Knows(key string) bool { return s.turn.Knows(key) }

// Commit leaves the records to Add, which writes beside what is live, as what was added has.
func (s shadowTurn) Commit([]decision.Entry) error { return nil }

// Stamp notes nothing.
func (shadowTurn) Stamp(string, time.Time) {}

// Stamped does what decision.Turn says.
func (s shadowTurn) Stamped(key string) (time.Time, bool) { return s.turn.Stamped(key) }

// instead is where what was swapped stands in the notes: it goes before what is live.
func instead(key string) string { return "instead of " + key }

// Get prefers what is live, unless it was swapped here.
func (s *shadowLedger) Get(key string) (value []byte, version uint64, found bool) {
	if value, version, found = s.notes.Get(instead(key)); found {
		return value, version, found
	}
	if value, version, found = s.live.Get(key); found {
		return value, version, found
	}
	return s.notes.Get(key)
}

// Add writes beside what is live.
func (s *shadowLedger) Add(key string, value []byte) (standing []byte, version uint64, err error) {
	if value, version, found := s.Get(key); found {
		return value, version, nil
	}
	return s.notes.Add(key, value)
}

// Swap writes beside what is live, which stays as it is.
func (s *shadowLedger) Swap(key string, old uint64, value []byte) (
	standing []byte, version uint64, swapped bool, err error,
) {
	if _, _, found := s.notes.Get(instead(key)); found {
		return s.notes.Swap(instead(key), old, value)
	}
	if standing, version, _ = s.Get(key); version != old {
		return standing, version, false, nil
	}
	standing, version, err = s.notes.Add(instead(key), value)
	return standing, version, err == nil, err
}

// Touch leaves everything as it is, or lets what is live live on. due is the ledger's.
func (s *shadowLedger) Touch(key string) (due bool) { return s.keepAlive && s.live.Touch(key) }

// shadowShelf names what would be put there, and keeps nothing.
type shadowShelf struct{ decision.Shelf }

// Put keeps nothing.
func (shadowShelf) Put(string, []byte, bool) error { return nil }

// Touch pretends that all is there.
func (shadowShelf) Touch(string) bool { return true }

// shadowSummariser has what was made before, and lets nobody be asked.
type shadowSummariser struct{ *summarize.Summarizer }

// errNotAsked is why there is no prose.
var errNotAsked = errors.New("nothing is asked in this mode")

// Look leaves prose as it is, and knows nothing of what is being made.
func (s shadowSummariser) Look(key string) (p prose.Prose, found, pending bool) {
	p, found = s.Peek(key)
	return p, found, false
}

// Ask asks nobody.
func (shadowSummariser) Ask(context.Context, prose.Question) (prose.Prose, error) {
	return prose.Prose{}, errNotAsked
}

// Prepare does nothing.
func (shadowSummariser) Prepare(prose.Question) {}

// Prepares is false.
func (shadowSummariser) Prepares(string) bool { return false }
