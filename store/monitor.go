package store

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"
)

// The states of a server.
const (
	Answers = "answers"
	Slow    = "slow"    // it answers, but in the last minute many calls in a row took long
	Refuses = "refuses" // it answers, but has refused a call in the last minute
	Away    = "away"
)

const (
	pingEvery = 250 * time.Millisecond
	callRest  = 5 * time.Second // without calls of a server that has answered a ping, and no call
	noteSpan  = time.Minute     // how long slow calls and a refusal count, and the time between two log lines about them
	slowRun   = 16              // calls in a row that take long until the server counts as slow
)

// Server is what a Monitor watches.
type Server struct {
	Name string // for the log, as in "the shared store"
	Log  *slog.Logger
	Ping func(ctx context.Context) error
	// NoAnswer reports whether an error of a call or a ping means that the server gave no answer; else it has refused.
	NoAnswer func(err error) bool
	AtOnce   int           // calls that may be under way; others wait for them
	Long     time.Duration // a call that takes longer is slow
	Observe  Observer      // nil: none
}

// Observer gets the outcome of each call, which is ok, refused or unanswered, and how long the server took.
type Observer func(outcome string, took time.Duration)

// Monitor watches a server that many requests need, so that none of them waits for one that is known to be away. A
// call without an answer may have waited for a processor of this machine, and not for the server: so the server is
// pinged, and if it answers, the call is made again. If either has no answer, the server is away: from then on calls
// fail at once, until it has answered a ping, which is sent a few times a second. An answer that refuses a call is an
// error of that call alone.
type Monitor struct {
	Server
	calls chan struct{} // has an entry for each call under way

	away          atomic.Bool
	run           atomic.Int64 // slow calls since the last one that was not
	slow, refused atomic.Int64 // when that was last logged, in nanoseconds since 1970
	life          context.Context
	end           context.CancelFunc
}

// NewMonitor returns a monitor that takes the server for answering.
func NewMonitor(s Server) *Monitor {
	m := &Monitor{Server: s, calls: make(chan struct{}, s.AtOnce)}
	m.life, m.end = context.WithCancel(context.Background())
	return m
}

// Do makes a call and returns its error, or ErrAway or ErrClosed without making it. A call may be made twice; its
// context ends with Close.
func (m *Monitor) Do(call func(ctx context.Context) error) error {
	if m.life.Err() != nil {
		return ErrClosed
	}
	if m.away.Load() {
		return ErrAway
	}
	m.calls <- struct{}{}
	defer func() { <-m.calls }()
	if m.away.Load() { // it is known since the call waits
		return ErrAway
	}
	rest := pingEvery
	err := m.observe(call)
	if err != nil && m.NoAnswer(err) && m.answersPing() {
		rest = callRest
		err = m.observe(call)
	}
	switch {
	case err != nil && m.life.Err() != nil:
		return ErrClosed
	case err != nil && m.NoAnswer(err) && !m.away.Swap(true):
		m.Log.Warn(m.Name+" does not answer: nothing new is decided until it does, unless a window is full",
			"error", err.Error())
		go m.awaitAnswer(rest)
	}
	return err
}

// answersPing reports whether the server answers a ping, if only with a refusal.
func (m *Monitor) answersPing() bool {
	err := Try(func() error { return m.Ping(m.life) })
	return err == nil || !m.NoAnswer(err)
}

// observe makes a call and notes how it ended.
func (m *Monitor) observe(call func(ctx context.Context) error) error {
	began := time.Now()
	err := call(m.life)
	took := time.Since(began)
	outcome := "ok"
	switch {
	case m.life.Err() != nil:
		return err
	case err != nil && m.NoAnswer(err):
		outcome = "unanswered"
	case err != nil:
		outcome = "refused"
		m.note(&m.refused, "refuses requests: nothing new is decided until it accepts them, unless a window is full",
			"error", err.Error())
	}
	if took < m.Long {
		m.run.Store(0)
	} else if m.run.Add(1) >= slowRun {
		m.note(&m.slow, "is slow, or this machine is busy: requests wait for its answers", "took", took.String())
	}
	if m.Observe != nil {
		m.Observe(outcome, took)
	}
	return err
}

// note logs something about the server, once in a while.
func (m *Monitor) note(last *atomic.Int64, what string, args ...any) {
	now, before := time.Now().UnixNano(), last.Load()
	if now-before > int64(noteSpan) && last.CompareAndSwap(before, now) {
		m.Log.Warn(m.Name+" "+what, args...)
	}
}

// awaitAnswer pings the server in the background until it answers, from a rest on.
func (m *Monitor) awaitAnswer(rest time.Duration) {
	for isAway := true; isAway; rest = pingEvery {
		select {
		case <-m.life.Done():
			return
		case <-time.After(rest):
		}
		isAway = !m.answersPing()
	}
	m.away.Store(false)
	m.Log.Warn(m.Name + " answers again")
}

// State returns Answers, Slow, Refuses or Away.
func (m *Monitor) State() string {
	isRecent := func(at *atomic.Int64) bool { return time.Now().UnixNano()-at.Load() < int64(noteSpan) }
	switch {
	case m.away.Load():
		return Away
	case isRecent(&m.refused):
		return Refuses
	case isRecent(&m.slow):
		return Slow
	}
	return Answers
}

// Close ends the calls and pings under way.
func (m *Monitor) Close() { m.end() }
