package inject

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"epitome/rewrite/activity"
	"epitome/rewrite/conversation"
	"epitome/rewrite/recap"
	"epitome/summarize/prose"
)

// Session is a conversation as its newest request came.
type Session struct {
	Dialect         conversation.Dialect
	Body            []byte
	Scope, Project  string
	Conversation    string // its ID
	Upstream, Model string

	at    time.Time
	timer *time.Timer
}

func (s *Session) key() string { return s.Scope + " " + s.Conversation }

// minTurns is how often user and model must have spoken in turn before a session is worth a question, and how much
// oftener before it is worth another one.
const minTurns = 4

// question asks what a session teaches; false if there is not enough of it. Equal conversations of about equal length
// have equal questions, whichever process has seen them.
func (s *Session) question() (q prose.Question, ok bool) {
	r, err := s.Dialect.Read(s.Body, nil)
	if err != nil {
		return q, false
	}
	turns := 0
	for i := r.Lead; i < len(r.Items); i++ {
		if it := &r.Items[i]; it.StartsAnswer || r.Speaks(it) {
			turns++
		}
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "memory 2 %q %q %d", s.key(), s.Project, turns/minTurns))
	return prose.Question{
		Key: string(sum[:16]), Conversation: s.Conversation, Scope: s.Scope, Project: s.Project,
		Upstream: s.Upstream, Model: s.Model, Dialect: s.Dialect.Name(), ForMemory: true,
		Transcript: recap.Entries(r, activity.Of(r, nil), r.Lead, len(r.Items)),
	}, turns >= minTurns
}

// Sessions watches conversations, and has a model asked what a quiet one teaches. Its methods may be called from any
// goroutine.
type Sessions struct {
	study func(prose.Question) (taken bool)
	log   *slog.Logger

	mu    sync.Mutex
	after time.Duration // of quiet; 0: nothing is watched
	held  map[string]*Session
	bytes int // of all bodies
}

// What is held at most. The sessions that have been quiet for longest go first.
const (
	maxSessions     = 64
	maxSessionBytes = 32 << 20
)

// WatchSessions returns Sessions that ask by study, which works in the background and is asked again a minute later
// while it takes nothing more.
func WatchSessions(study func(q prose.Question) (taken bool), log *slog.Logger) *Sessions {
	return &Sessions{study: study, log: log, held: map[string]*Session{}}
}

// Configure says for how long a conversation is quiet before it is asked about; 0 ends all watching.
func (w *Sessions) Configure(after time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.after = after
	for _, s := range w.held {
		if after == 0 {
			w.dropLocked(s.key())
		} else {
			s.timer.Reset(time.Until(s.at.Add(after)))
		}
	}
}

// Watch holds a copy of a session until it is quiet, in the place of an earlier request of it.
func (w *Sessions) Watch(s Session) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dropLocked(s.key())
	if w.after > 0 && len(s.Body) <= maxSessionBytes {
		s.Body = bytes.Clone(s.Body)
		w.holdLocked(&s, w.after)
	}
}

// Drop forgets a session: it was compacted, so it has been learned from, or its client wants no model to be asked.
func (w *Sessions) Drop(s Session) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dropLocked(s.key())
}

func (w *Sessions) holdLocked(s *Session, wait time.Duration) {
	w.held[s.key()] = s
	w.bytes += len(s.Body)
	s.at, s.timer = time.Now(), time.AfterFunc(wait, func() { w.ask(s) })
	for len(w.held) > maxSessions || w.bytes > maxSessionBytes {
		oldest := s
		for _, other := range w.held {
			if other.at.Before(oldest.at) {
				oldest = other
			}
		}
		w.dropLocked(oldest.key())
	}
}

func (w *Sessions) dropLocked(key string) (dropped bool) {
	s := w.held[key]
	if s == nil {
		return false
	}
	s.timer.Stop()
	delete(w.held, key)
	w.bytes -= len(s.Body)
	return true
}

// ask has a quiet session learned from.
func (w *Sessions) ask(s *Session) {
	const again = time.Minute
	defer func() {
		if caught := recover(); caught != nil { // what it says may be of a conversation
			w.log.Error("a bug kept a session from being learned from", "stack", string(debug.Stack()))
		}
	}()
	w.mu.Lock()
	isQuiet := w.held[s.key()] == s && w.dropLocked(s.key())
	w.mu.Unlock()
	if !isQuiet {
		return
	}
	q, ok := s.question()
	if !ok || w.study(q) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.held[s.key()] == nil && w.after > 0 {
		w.holdLocked(s, again)
	}
}
