package fakeapi

import (
	"net/http"
	"slices"
	"sync"
)

// A Stage is what a scripted server has whatever API it plays: where it listens, what it answers next, and what it was
// asked. A T is what it answers, an R what it was asked. Its methods may be called from any goroutine, and call nothing
// that may come back to it while they hold its lock.
type Stage[T, R any] struct {
	listener *Listener
	done     chan struct{} // closed by Close

	mu       sync.Mutex // guards what follows
	turns    []T
	received []R
}

// NewStage returns a stage that listens nowhere.
func NewStage[T, R any]() *Stage[T, R] {
	return &Stage[T, R]{listener: &Listener{}, done: make(chan struct{})}
}

// Open has h answer on a free port of 127.0.0.1, until Close.
func (s *Stage[T, R]) Open(h http.Handler) (err error) {
	listener, err := Listen(h)
	if err == nil {
		s.listener = listener
	}
	return err
}

// URL returns scheme, host and port, without a slash at the end.
func (s *Stage[T, R]) URL() string { return s.listener.URL() }

// Close stops listening and cuts what is open.
func (s *Stage[T, R]) Close() {
	close(s.done)
	s.listener.Close()
}

// Next adds turns to what is answered next.
func (s *Stage[T, R]) Next(turns ...T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turns = append(s.turns, turns...)
}

// Take takes the next turn, or the one that otherwise makes if there is none.
func (s *Stage[T, R]) Take(otherwise func() T) T {
	s.mu.Lock()
	if len(s.turns) == 0 {
		s.mu.Unlock()
		return otherwise()
	}
	defer s.mu.Unlock()
	turn := s.turns[0]
	s.turns = s.turns[1:]
	return turn
}

// Record keeps a request, and gives it its number n, which is a part of it.
func (s *Stage[T, R]) Record(asked *R, n *int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*n = len(s.received) + 1
	s.received = append(s.received, *asked)
}

// Received returns all requests so far, in the order in which they were answered.
func (s *Stage[T, R]) Received() []R {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.received)
}

// Hold waits until hold is closed, the client leaves or the stage is closed; not at all where hold is nil.
func (s *Stage[T, R]) Hold(r *http.Request, hold <-chan struct{}) {
	if hold == nil {
		return
	}
	select {
	case <-hold:
	case <-r.Context().Done():
	case <-s.done:
	}
}
