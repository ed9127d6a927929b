// Package memories wires what sessions teach: where it is kept, and which conversations a model is asked about although
// they were never compacted, once they are quiet.
//
// It promises that nothing is kept, held or asked where memories are off or a conversation has no project; that what is
// held of conversations lies in memory alone, is bounded, and is gone when the program ends; and that nobody waits for
// a question about one that is quiet.
package memories

import (
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"epitome/prose"
	"epitome/rewrite"
	"epitome/store"
	"epitome/summarize/memory"
)

// Options is what memories need.
type Options struct {
	Store store.Store
	Log   *slog.Logger
	// Study has a model asked what a session teaches, in the background. It is false if it can be asked again later.
	Study func(q prose.Question) (taken bool)
	Now   func() time.Time
}

// Wanted is what is to be learned.
type Wanted struct {
	memory.Config
	Quiet bool // of conversations that are quiet, too: there is a key of epitome's own to ask with
}

// Memories are those of all projects, and the conversations that are watched for them. New makes them.
type Memories struct {
	options Options
	local   *memory.Local

	mu     sync.Mutex // guards all below
	wanted Wanted
	held   held
	next   *time.Timer // looks for quiet conversations; nil while none is held
	closed bool
}

// New returns memories over the store.
func New(w Wanted, o Options) *Memories {
	m := &Memories{options: o, wanted: w, held: held{list: map[string]session{}}}
	m.local = memory.NewLocal(o.Store, func() time.Duration { return m.now().Keep.D() }, o.Now)
	return m
}

// now is what is to be learned as things stand.
func (m *Memories) now() Wanted {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.wanted
}

// Configure says anew what is to be learned.
func (m *Memories) Configure(w Wanted) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wanted = w
	if !w.Enabled || !w.Quiet {
		m.held.clear()
	}
	m.wakeLocked()
}

// Place is where memories are kept; nil if nothing is learned.
func (m *Memories) Place() memory.Place {
	if !m.now().Enabled {
		return nil
	}
	return m.local
}

// Local is the place in the store, whether anything is learned or not: what lies there can be listed and forgotten.
func (m *Memories) Local() *memory.Local { return m.local }

// Watch holds the conversation of a request as it came, until it is quiet, in the place of an earlier one. What was
// compacted has been learned from.
func (m *Memories) Watch(in *rewrite.Input, told *rewrite.Report) {
	if in.Replay || in.Rescue != nil || told.Project == "" || told.Conversation == "" {
		return
	}
	if w := m.now(); !w.Enabled || !w.Quiet {
		return
	}
	key := in.Scope + " " + told.Conversation
	if wasCompacted(told) || !in.Style.MayAsk() || told.Items < leastTurns || len(in.Body) > mostHeld {
		m.drop(key)
		return
	}
	s := sessionOf(in, told)
	s.at = m.options.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return
	}
	m.held.put(key, s)
	m.wakeLocked()
}

// wasCompacted reports whether old turns of the conversation are left out, now or since earlier.
func wasCompacted(r *rewrite.Report) bool {
	return r.Action == rewrite.ActionCompact || r.Action == rewrite.ActionRescue
}

func (m *Memories) drop(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.held.drop(key)
}

// wakeLocked has somebody look when the first of those held may be quiet.
func (m *Memories) wakeLocked() {
	if m.next != nil {
		m.next.Stop()
		m.next = nil
	}
	if m.closed || len(m.held.list) == 0 {
		return
	}
	m.next = time.AfterFunc(m.held.oldest().Add(m.wanted.After.D()).Sub(m.options.Now()), m.look)
}

// again is after how long is asked again what nobody has taken.
const again = time.Minute

// look has all questions asked about conversations that are quiet.
func (m *Memories) look() {
	defer func() {
		if caught := recover(); caught != nil { // what it says may be of a conversation
			m.options.Log.Error("a bug kept sessions from being learned from", "stack", string(debug.Stack()))
		}
	}()
	now := m.options.Now()
	m.mu.Lock()
	quiet := m.held.takeQuiet(now.Add(-m.wanted.After.D()))
	m.mu.Unlock()
	for key, s := range quiet {
		q, worth := s.question(key)
		if worth && !m.options.Study(q) {
			m.putBack(key, s, now.Add(again-m.now().After.D()))
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wakeLocked()
}

// putBack holds a session again, unless a newer request of it has come.
func (m *Memories) putBack(key string, s session, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, newer := m.held.list[key]; !newer && !m.closed && m.wanted.Enabled && m.wanted.Quiet {
		s.at = at
		m.held.put(key, s)
	}
}

// Close drops all that is held.
func (m *Memories) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	m.held.clear()
	m.wakeLocked()
}
