// Package turns is the ledger of a store that others share: each request asks it in a turn of its own, with as few
// questions as there are waits.
//
// It promises that what is not known is never told as not found without Failure saying so, that a request waits for no
// more than two questions which are not answered, and then for none, and that records stand only behind what they need.
// It remembers forms and lists, which never change under their keys, and nothing else.
package turns

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"epitome/rewrite/decision"
	"epitome/store"
	"epitome/store/shared"
)

const (
	mostTries   = 2           // questions of one turn that may stay without an answer
	mostForms   = 32 << 20    // bytes of forms and lists that are remembered
	mostLater   = 4096        // changes that wait, of which nobody waits for the outcome
	mostAtOnce  = 256         // of these in one question
	boundFor    = time.Minute // for which it is remembered what is known of a model
	touchShare  = 32          // of keep, for which a touch holds
	touchEvery  = 10 * time.Minute
	mostTouched = 100_000
)

// The kinds of keys, by their first byte, as package decision makes them.
const (
	kindForm, kindList = 'f', 'l' // named by what they say
	kindName, kindNext = 'c', 'n' // of a conversation
	kindDecision       = 'd'      // for a prefix
	kindAddition       = 'a'      // to conversations that begin with a prefix
	kindBound          = 't'      // of a model, whoever asks it
)

// Ledger is a decision.Turns over a shared store. Make one with New.
type Ledger struct {
	store *shared.Store
	keep  time.Duration
	now   func() time.Time
	forms *recent
	later chan shared.Later
	done  chan struct{} // closed when nothing is done later any more
	asked atomic.Uint64 // questions for whose answer a turn has waited

	mu      sync.Mutex // guards all below
	touched map[string]time.Time
	bounds  map[string]bound
	closed  bool
}

// bound is what is known of a model, since then.
type bound struct {
	fact store.Fact
	at   time.Time
}

var _ decision.Turns = (*Ledger)(nil)

// New returns the ledger in s, where what is written lives for keep after it was used last.
func New(s *shared.Store, keep time.Duration) *Ledger {
	l := &Ledger{store: s, keep: keep, now: time.Now, forms: newRecent(mostForms),
		later: make(chan shared.Later, mostLater), done: make(chan struct{}),
		touched: map[string]time.Time{}, bounds: map[string]bound{}}
	go l.work()
	return l
}

// Close ends what is done later. What waits is done first.
func (l *Ledger) Close() {
	l.mu.Lock()
	closed := l.closed
	if l.closed = true; !closed {
		close(l.later)
	}
	l.mu.Unlock()
	<-l.done
}

// work makes changes of which nobody waits for the outcome, many at a time.
func (l *Ledger) work() {
	defer close(l.done)
	for c := range l.later {
		list := append(make([]shared.Later, 0, mostAtOnce), c)
		for len(l.later) > 0 && len(list) < mostAtOnce { // nobody else takes any
			list = append(list, <-l.later)
		}
		if l.store.Do(list) != nil {
			l.untouch(list)
		}
	}
}

// untouch forgets that facts were touched: they have to be again.
func (l *Ledger) untouch(list []shared.Later) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range list {
		delete(l.touched, c.Name)
	}
}

// put has a change made later; if too many wait, it is not made.
func (l *Ledger) put(c shared.Later) (taken bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	select {
	case l.later <- c:
		return true
	default:
		return false
	}
}

// CountAsked is for how many answers of the store requests have waited.
func (l *Ledger) CountAsked() uint64 { return l.asked.Load() }

// touch lets a fact live on. due says that this was not done for long.
func (l *Ledger) touch(k shared.Key) (due bool) {
	now := l.now().Round(0) // by the wall clock, as facts expire: it goes on while a machine sleeps
	l.mu.Lock()
	last, known := l.touched[k.Name]
	due = !known || now.Sub(last) > min(l.keep/touchShare, touchEvery) || now.Before(last)
	if due {
		if len(l.touched) >= mostTouched {
			clear(l.touched)
		}
		l.touched[k.Name] = now
	}
	l.mu.Unlock()
	if due && !l.put(shared.Later{Key: k, Keep: l.keep}) {
		l.untouch([]shared.Later{{Key: k}})
	}
	return due
}

// Turn begins a turn.
func (l *Ledger) Turn(tag string) decision.Turn {
	return &turn{ledger: l, tag: tag, known: map[string]store.Fact{}, added: map[string]bool{}, tries: mostTries}
}

// Get returns what stands under a key that no conversation has.
func (l *Ledger) Get(key string) (value []byte, version uint64, found bool) {
	return l.Turn("").Get(key)
}

// Add does what decision.Ledger says, with such a key.
func (l *Ledger) Add(key string, value []byte) (standing []byte, version uint64, err error) {
	return l.Turn("").Add(key, value)
}

// Swap does what decision.Ledger says, with such a key.
func (l *Ledger) Swap(key string, old uint64, value []byte) ([]byte, uint64, bool, error) {
	return l.Turn("").Swap(key, old, value)
}

// Touch does what decision.Ledger says, with such a key.
func (l *Ledger) Touch(key string) (due bool) { return l.touch(shared.Key{Name: key}) }

// turn is one request's.
type turn struct {
	ledger *Ledger
	tag    string
	known  map[string]store.Fact // what was read or written; with version 0, what is not there
	added  map[string]bool       // what waits for Commit, or did
	adds   []shared.Add          // that wait for Commit
	tries  int                   // questions that may still stay without an answer
	lost   error

	bare map[string]store.Fact // what was found without a tag; nil: nothing
}

// at is the key of a fact in the store.
func (t *turn) at(key string) shared.Key {
	if key[0] == kindBound {
		return shared.Key{Name: key}
	}
	return shared.Key{Tag: t.tag, Name: key}
}

// ask puts a question, and once more if there is no answer. A try that may have done something stays told: whatever
// the next one fails by, the error is shared.ErrUnknown.
func (t *turn) ask(question func() error) error {
	if t.lost != nil {
		return t.lost
	}
	var unknown error
	for {
		err := question()
		if !errors.Is(err, shared.ErrAway) {
			t.ledger.asked.Add(1)
		}
		if err == nil {
			return nil
		}
		if !errors.Is(err, shared.ErrUnknown) && unknown == nil {
			return err
		}
		if t.tries--; t.tries <= 0 || unknown != nil {
			t.lost = errors.Join(unknown, err)
			return t.lost
		}
		unknown = err
	}
}

// Failure does what decision.Turn says.
func (t *turn) Failure() error { return t.lost }

// Knows does what decision.Turn says.
func (t *turn) Knows(key string) bool {
	_, known := t.known[key]
	return known || t.lost != nil
}

// Read does what decision.Turn says.
func (t *turn) Read(keys []string) {
	var missing []shared.Key
	for _, key := range keys {
		if _, known := t.known[key]; known || t.recall(key) {
			continue
		}
		t.known[key] = store.Fact{}
		missing = append(missing, t.at(key))
	}
	if len(missing) == 0 {
		return
	}
	var facts []store.Fact
	err := t.ask(func() (err error) {
		facts, err = t.ledger.store.FindAll(missing)
		return err
	})
	if err != nil {
		t.lost = err
		return
	}
	for i, k := range missing {
		t.known[k.Name] = facts[i]
		t.ledger.remember(k.Name, facts[i])
	}
}

// recall takes what the ledger remembers.
func (t *turn) recall(key string) bool {
	fact, known := t.ledger.recall(key)
	if known {
		t.known[key] = fact
	}
	return known
}

func (l *Ledger) recall(key string) (store.Fact, bool) {
	switch key[0] {
	case kindForm, kindList:
		return l.forms.get(key)
	case kindBound:
		l.mu.Lock()
		defer l.mu.Unlock()
		b, known := l.bounds[key]
		return b.fact, known && (b.fact.Version != 0 || l.now().Round(0).Sub(b.at) < boundFor)
	}
	return store.Fact{}, false
}

const mostBounds = 1024

func (l *Ledger) remember(key string, fact store.Fact) {
	switch key[0] {
	case kindForm, kindList:
		if fact.Version != 0 {
			l.forms.put(key, fact)
		}
	case kindBound:
		l.mu.Lock()
		defer l.mu.Unlock()
		if len(l.bounds) >= mostBounds {
			clear(l.bounds)
		}
		l.bounds[key] = bound{fact, l.now().Round(0)}
	}
}

// Get does what decision.Ledger says.
func (t *turn) Get(key string) (value []byte, version uint64, found bool) {
	if _, known := t.known[key]; !known {
		t.Read([]string{key})
	}
	fact := t.known[key]
	return fact.Bytes, fact.Version, fact.Version != 0
}

// Add does what decision.Ledger says. What is named by what it says, or follows from what was read, waits for Commit.
func (t *turn) Add(key string, value []byte) (standing []byte, version uint64, err error) {
	fact := t.known[key]
	switch key[0] {
	case kindForm, kindList: // what is remembered may be lost on the server
		if !t.added[key] {
			fact = store.Fact{}
		}
	}
	if fact.Version != 0 {
		return fact.Bytes, fact.Version, nil
	}
	switch key[0] {
	case kindForm, kindList, kindName, kindNext, kindAddition:
		if t.lost != nil {
			return nil, 0, t.lost
		}
		must := key[0] == kindNext || key[0] == kindAddition
		t.adds, t.added[key] = append(t.adds, shared.Add{Key: key, Value: value, Must: must}), true
		t.known[key] = store.Fact{Bytes: value, Version: shared.Version(value)}
		return value, t.known[key].Version, nil
	}
	standing, version, _, err = t.Swap(key, 0, value)
	return standing, version, err
}

// Swap does what decision.Ledger says.
func (t *turn) Swap(key string, old uint64, value []byte) (standing []byte, version uint64, swapped bool, err error) {
	if fact, bare := t.bare[key]; bare { // it is swapped where it belongs
		t.adds = append(t.adds, shared.Add{Key: key, Value: fact.Bytes})
		delete(t.bare, key)
	}
	if err := t.flush(nil); err != nil {
		return nil, 0, false, err
	}
	var fact store.Fact
	asked := 0
	err = t.ask(func() (err error) {
		asked++
		fact, swapped, err = t.ledger.store.SwapIn(t.at(key), old, value, t.ledger.keep)
		return err
	})
	if err != nil {
		return nil, 0, false, err
	}
	if asked > 1 && fact.Version == shared.Version(value) { // the first question was answered, and that was lost
		swapped = true
	}
	t.known[key] = fact
	t.ledger.remember(key, fact)
	return fact.Bytes, fact.Version, swapped, nil
}

// Touch does what decision.Ledger says.
func (t *turn) Touch(key string) (due bool) { return t.ledger.touch(t.at(key)) }

// Commit does what decision.Turn says.
func (t *turn) Commit(records []decision.Entry) error {
	var adds []shared.Add
	for _, r := range records {
		if fact := t.known[r.Key]; fact.Version != 0 {
			if string(fact.Bytes) != string(r.Value) {
				break // it stands, and what is behind it depends on that
			}
			continue
		}
		adds = append(adds, shared.Add{Key: r.Key, Value: r.Value, Must: true})
	}
	return t.flush(adds)
}

// flush writes what waits, and then the records.
func (t *turn) flush(records []shared.Add) error {
	adds := append(t.adds, records...)
	if t.lost != nil {
		return fmt.Errorf("nothing is written: %s", t.lost)
	}
	if len(adds) == 0 {
		return nil
	}
	lost, standing := -1, store.Fact{}
	err := t.ask(func() (err error) {
		lost, standing, err = t.ledger.store.AddAll(t.tag, adds, t.ledger.keep)
		return err
	})
	switch {
	case errors.Is(err, shared.ErrUnknown):
		return errors.Join(decision.ErrUnsure, err)
	case err != nil:
		return err
	}
	for i, a := range adds {
		if i == lost {
			t.known[a.Key] = standing
			break
		}
		fact := store.Fact{Bytes: a.Value, Version: shared.Version(a.Value)}
		t.known[a.Key] = fact
		t.ledger.remember(a.Key, fact)
	}
	if lost >= 0 && (adds[lost].Key[0] == kindNext || adds[lost].Key[0] == kindAddition) {
		t.dropNames()
		return decision.ErrTie
	}
	t.adds = nil
	return nil
}

// dropNames takes back what the conversation was to be called, and what was to be added to it: it is another one. What
// is known to stand now stays known.
func (t *turn) dropNames() {
	kept := t.adds[:0]
	for _, a := range t.adds {
		switch a.Key[0] {
		case kindName, kindNext, kindAddition:
			delete(t.added, a.Key)
			if a.Key[0] == kindName {
				delete(t.known, a.Key)
			}
		default:
			kept = append(kept, a)
		}
	}
	t.adds = kept
}

// Stamp does what decision.Turn says: the moment is told by the server's clock.
func (t *turn) Stamp(key string, at time.Time) {
	value := binary.BigEndian.AppendUint64(nil, uint64(t.ledger.store.Now(at).UnixMilli())) //nolint:gosec // after 1970
	t.ledger.put(shared.Later{Key: t.at(key), Value: value, Keep: t.ledger.keep})
}

// Stamped does what decision.Turn says.
func (t *turn) Stamped(key string) (at time.Time, found bool) {
	value, _, found := t.Get(key)
	if !found || len(value) != 8 {
		return time.Time{}, false
	}
	theirs := time.UnixMilli(int64(binary.BigEndian.Uint64(value))) //nolint:gosec // as it was written
	at = theirs.Add(theirs.Sub(t.ledger.store.Now(theirs)))
	return at, at.After(t.ledger.store.State().Gap)
}
