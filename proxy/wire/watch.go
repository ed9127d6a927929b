package wire

import (
	"errors"
	"net"
	"sync"
	"time"
)

// watchAfter is how long an exchange runs before its client is watched. Most of the cost of a watch is a second
// goroutine, and an exchange that ends sooner has nothing to gain from it.
const watchAfter = 5 * time.Millisecond

// watcher is one watch over a connection while fasthttp does not read from it.
type watcher struct {
	conn  *Client
	gone  func()
	timer *time.Timer   // calls run
	done  chan struct{} // made when reading begins, closed when it has ended

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
	if !w.begin() {
		return
	}
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
	if w.timer.Stop() {
		return
	}
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
