package wire

import (
	"errors"
	"net"
	"sync"
	"time"
)

// watchAfter is how long an exchange runs, at least, before its client is watched; at most it is twice that. Most of
// the cost of a watch is a second goroutine, and an exchange that ends sooner has nothing to gain from it.
const watchAfter = 5 * time.Millisecond

// patrol is how many rounds a watchman makes with nobody to watch before he goes home.
const patrol = 200

// Watchman begins the watches of all exchanges that last. The zero value is ready.
type Watchman struct {
	mu     sync.Mutex
	fresh  []*watcher // since the last round
	due    []*watcher // before it
	onDuty bool
}

// post hands a watch over, which begins when it has lasted a round.
func (m *Watchman) post(w *watcher) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fresh = append(m.fresh, w)
	if !m.onDuty {
		m.onDuty = true
		go m.walk()
	}
}

// walk makes rounds until there has been nobody to watch for long.
func (m *Watchman) walk() {
	for quiet := 0; quiet < patrol; quiet++ {
		time.Sleep(watchAfter)
		for _, w := range m.round() {
			quiet = 0
			if w.begin() {
				go w.run()
			}
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.onDuty = len(m.fresh)+len(m.due) > 0; m.onDuty {
		go m.walk()
	}
}

// round returns those that were there before the last round.
func (m *Watchman) round() []*watcher {
	m.mu.Lock()
	defer m.mu.Unlock()
	ripe := m.due
	m.due, m.fresh = m.fresh, nil
	return ripe
}

// watcher is one watch over a connection while fasthttp does not read from it.
type watcher struct {
	conn *Client
	gone func()
	done chan struct{} // made when reading begins, closed when it has ended

	mu    sync.Mutex
	ended bool // Unwatch has been called
}

// begin takes away the deadline that the reading of the request has left, unless the watch is over already.
func (w *watcher) begin() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.ended {
		w.done = make(chan struct{})
		_ = w.conn.Conn.SetReadDeadline(time.Time{})
	}
	return !w.ended
}

// run reads until the watch is over or the client has left.
func (w *watcher) run() {
	left := w.read()
	close(w.done)
	if left {
		w.gone()
	}
}

// read waits for a byte or for the end, and reports whether the client has left.
func (w *watcher) read() bool {
	early := &w.conn.ahead
	n, err := w.conn.Conn.Read(early.one[:])
	early.bytes = early.one[:n]
	var t net.Error
	wakened := errors.As(err, &t) && t.Timeout() // only end sets a deadline
	if n == 1 || err == nil || wakened {
		return false
	}
	early.err = err
	return true
}

// end stops the watch and returns when it no longer reads.
func (w *watcher) end() {
	w.mu.Lock()
	w.ended = true
	reading := w.done
	if reading != nil {
		_ = w.conn.Conn.SetReadDeadline(longAgo())
	}
	w.mu.Unlock()
	if reading != nil {
		<-reading
		_ = w.conn.Conn.SetReadDeadline(time.Time{})
	}
}
