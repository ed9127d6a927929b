package bucket

import (
	"sync"
	"time"
)

const (
	knownMost = 1 << 14          // entries, of some hundred bytes each
	knownFor  = 10 * time.Minute // before an object is looked at again: only the rule of the bucket takes it away
	absentFor = time.Second      // that there was none: another epitome may put it
)

// known are the objects that were seen lately: a turn touches each of its artifacts.
type known struct {
	mu       *sync.Mutex
	entries  map[string]seen
	renewing map[string]bool
}

// seen is an entry, and until when it is believed.
type seen struct {
	entry Entry
	stale time.Time
}

func newKnown() known {
	return known{mu: new(sync.Mutex), entries: make(map[string]seen), renewing: make(map[string]bool)}
}

func (k *known) get(name string, now time.Time) (Entry, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	e, found := k.entries[name]
	return e.entry, found && now.Before(e.stale)
}

func (k *known) put(name string, e Entry, now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	life := knownFor
	if e.Until.IsZero() { // there is none
		life = absentFor
	}
	if len(k.entries) >= knownMost {
		clear(k.entries)
	}
	k.entries[name] = seen{e, now.Add(life)}
}

func (k *known) forget(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.entries, name)
}

// begin reports whether the name is to be renewed now: nobody else does.
func (k *known) begin(name string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.renewing[name] {
		return false
	}
	k.renewing[name] = true
	return true
}

// done ends that.
func (k *known) done(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.renewing, name)
}
