package daemon

import (
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"epitome/inject"
	"epitome/prose"
	"epitome/rewrite"
	"epitome/store"
)

// memoryOptions is what memories need.
type memoryOptions struct {
	Store store.Store
	Log   *slog.Logger
	// Study has a model asked what a session teaches, in the background. It is false if it can be asked again later.
	Study func(q prose.Question) (taken bool)
	Now   func() time.Time
}

// wantedMemories is what is to be learned.
type wantedMemories struct {
	inject.MemoryConfig
	Quiet bool // of conversations that are quiet, too: there is a key of epitome's own to ask with
}

// memories are those of all projects, and the conversations that are watched for them. newMemories makes them.
type memories struct {
	options memoryOptions
	local   *inject.Memory

	mu     sync.Mutex // guards all below
	wanted wantedMemories
	held   heldSessions
	next   *time.Timer // looks for quiet conversations; nil while none is held
	closed bool
}

// newMemories returns memories over the store.
func newMemories(w wantedMemories, o memoryOptions) *memories {
	m := &memories{options: o, wanted: w, held: heldSessions{list: map[string]quietSession{}}}
	m.local = inject.NewMemory(o.Store, w.MemoryConfig, o.Now)
	return m
}

// now is what is to be learned as things stand.
func (m *memories) now() wantedMemories {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.wanted
}

// Configure says anew what is to be learned.
func (m *memories) Configure(w wantedMemories) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wanted = w
	m.local.Configure(w.MemoryConfig)
	if !w.Enabled || !w.Quiet {
		m.held.clear()
	}
	m.wakeLocked()
}

// Place is where memories are kept; nil if nothing is learned.
func (m *memories) Place() *inject.Memory {
	if !m.now().Enabled {
		return nil
	}
	return m.local
}

// Local is the place in the store, whether anything is learned or not: what lies there can be listed and forgotten.
func (m *memories) Local() *inject.Memory { return m.local }

// Watch holds the conversation of a request as it came, until it is quiet, in the place of an earlier one. What was
// compacted has been learned from.
func (m *memories) Watch(in *rewrite.Input, toldSession *rewrite.Report) {
	if in.Replay || in.Rescue != nil || toldSession.Project == "" || toldSession.Conversation == "" {
		return
	}
	if w := m.now(); !w.Enabled || !w.Quiet {
		return
	}
	key := in.Scope + " " + toldSession.Conversation
	if wasCompacted(toldSession) || !in.Style.MayAsk() || toldSession.Items < leastTurns || len(in.Body) > mostHeld {
		m.drop(key)
		return
	}
	s := quietSessionOf(in, toldSession)
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

func (m *memories) drop(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.held.drop(key)
}

// wakeLocked has somebody look when the first of those held may be quiet.
func (m *memories) wakeLocked() {
	if m.next != nil {
		m.next.Stop()
		m.next = nil
	}
	if m.closed || len(m.held.list) == 0 {
		return
	}
	m.next = time.AfterFunc(m.held.oldest().Add(m.wanted.After.D()).Sub(m.options.Now()), m.look)
}

// askAgain is after how long is asked again what nobody has taken.
const askAgain = time.Minute

// look has all questions asked about conversations that are quiet.
func (m *memories) look() {
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
			m.putBack(key, s, now.Add(askAgain-m.now().After.D()))
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wakeLocked()
}

// putBack holds a session again, unless a newer request of it has come.
func (m *memories) putBack(key string, s quietSession, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, newer := m.held.list[key]; !newer && !m.closed && m.wanted.Enabled && m.wanted.Quiet {
		s.at = at
		m.held.put(key, s)
	}
}

// Close drops all that is held.
func (m *memories) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	m.held.clear()
	m.wakeLocked()
}
