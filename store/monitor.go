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
	Refuses = "refuses" // it answers, but has refused a call in the last minute
	Away    = "away"
)

const (
	pingEvery   = 250 * time.Millisecond
	refusedSpan = time.Minute // how long a refusal counts, and the time between two log lines about refusals
)

// Monitor watches a server that many requests need, so that none of them waits for one that is known to be down. The
// first call that gets no answer marks the server as away. From then on calls fail at once, until the server has
// answered a ping, which is sent a few times a second. An answer that refuses a call is an error of that call alone.
type Monitor struct {
	name     string // for the log, as in "the shared store"
	log      *slog.Logger
	ping     func(ctx context.Context) error
	noAnswer func(err error) bool // tells an error without an answer from a refusal

	away    atomic.Bool
	refused atomic.Int64 // time of the last refusal that was logged, in nanoseconds since 1970
	life    context.Context
	end     context.CancelFunc
}

// NewMonitor returns a monitor that takes the server for answering. noAnswer reports whether an error of a call or a
// ping means that the server gave no answer.
func NewMonitor(name string, log *slog.Logger, ping func(context.Context) error, noAnswer func(error) bool) *Monitor {
	m := &Monitor{name: name, log: log, ping: ping, noAnswer: noAnswer}
	m.life, m.end = context.WithCancel(context.Background())
	return m
}

// Do makes a call and returns its error, or ErrAway without making it. The context ends with Close.
func (m *Monitor) Do(call func(ctx context.Context) error) error {
	if m.away.Load() {
		return ErrAway
	}
	err := call(m.life)
	if err == nil || m.life.Err() != nil {
		return err
	}
	if m.noAnswer(err) {
		m.lose(err)
	} else {
		m.noteRefusal(err)
	}
	return err
}

func (m *Monitor) noteRefusal(err error) {
	now, last := time.Now().UnixNano(), m.refused.Load()
	if now-last > int64(refusedSpan) && m.refused.CompareAndSwap(last, now) {
		m.log.Warn(m.name+" refuses requests: nothing new is decided until it accepts them, unless a window is full",
			"error", err.Error())
	}
}

// lose marks the server as away, and has it pinged in the background until it answers.
func (m *Monitor) lose(err error) {
	if !m.away.Swap(true) {
		m.log.Warn(m.name+" does not answer: nothing new is decided until it does, unless a window is full",
			"error", err.Error())
		go m.awaitAnswer()
	}
}

func (m *Monitor) awaitAnswer() {
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	for {
		select {
		case <-m.life.Done():
			return
		case <-tick.C:
		}
		err := m.ping(m.life)
		if err == nil || !m.noAnswer(err) { // if it refuses the ping, it answers
			break
		}
	}
	m.away.Store(false)
	m.log.Warn(m.name + " answers again")
}

// State returns Answers, Refuses or Away.
func (m *Monitor) State() string {
	switch {
	case m.away.Load():
		return Away
	case time.Now().UnixNano()-m.refused.Load() < int64(refusedSpan):
		return Refuses
	}
	return Answers
}

// Close ends the calls and pings under way.
func (m *Monitor) Close() { m.end() }
