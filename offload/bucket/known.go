package bucket

import (
	"sync"
	"time"
)

const (
	knownMost = 1 << 14          // entries of some hundred bytes; when there are more, all are forgotten
	knownFor  = 10 * time.Minute // how long an entry is believed: only the bucket's rule removes objects
	absentFor = time.Second      // how long it is believed that there is no object: another process may write it
)

// known remembers the objects that were seen lately, because each turn of a conversation asks for all its artifacts.
type known struct {
	mu       *sync.Mutex
	entries  map[string]seen
	renewing map[string]bool
}

type seen struct {
	entry Entry     // with a zero Until if there is no object
	stale time.Time // when the entry is no longer believed
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

// begin reports whether the caller may renew the object, because nobody else does. The caller calls done afterwards.
func (k *known) begin(name string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.renewing[name] {
		return false
	}
	k.renewing[name] = true
	return true
}

func (k *known) done(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.renewing, name)
}
