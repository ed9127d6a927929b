package wire

import (
	"errors"
	"net"
	"sync"
	"time"
)

// watchAfter is how long an exchange may run before its client is watched. Most of the cost of a watch is a second
// goroutine, and an exchange that ends sooner has nothing to gain from it.
const watchAfter = 5 * time.Millisecond

// watch notices a client that leaves while fasthttp does not read from its connection.
type watch struct {
	mu      sync.Mutex
	gone    func()        // nil while no exchange is watched
	armed   bool          // a timer will call readAhead
	reading chan struct{} // closed when reading has ended; nil while the connection is not read
}

// Watch calls gone, once and on a goroutine of its own, if the client closes or resets the connection before Unwatch.
// A client that only ends its sending side counts as gone, as it does everywhere in Go. After a pipelined byte
// the watch sees no further, until the next request.
func (c *Client) Watch(gone func()) {
	switch {
	case c.ahead.err != nil:
		gone()
		return
	case len(c.ahead.bytes) > 0:
		return
	}
	w := &c.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gone = gone
	if !w.armed { // else the timer of an earlier exchange serves: to set one may wake a thread
		w.armed = true
		time.AfterFunc(watchAfter, c.readAhead)
	}
}

// Unwatch ends the watch; afterwards the connection is read as if there had been none.
func (c *Client) Unwatch() {
	w := &c.watch
	w.mu.Lock()
	reading := w.reading
	w.gone, w.reading = nil, nil
	if reading != nil {
		_ = c.Conn.SetReadDeadline(longAgo())
	}
	w.mu.Unlock()
	if reading != nil {
		<-reading
		_ = c.Conn.SetReadDeadline(time.Time{})
	}
}

// readAhead waits for a byte or the end of the connection while an exchange is watched.
func (c *Client) readAhead() {
	w := &c.watch
	w.mu.Lock()
	w.armed = false
	gone, reading := w.gone, make(chan struct{})
	if gone != nil {
		w.reading = reading
		_ = c.Conn.SetReadDeadline(time.Time{}) // takes away the deadline that the reading of the request has left
	}
	w.mu.Unlock()
	if gone == nil {
		return
	}
	n, err := c.Conn.Read(c.ahead.one[:])
	c.ahead.bytes = c.ahead.one[:n]
	var t net.Error
	isUnwatched := errors.As(err, &t) && t.Timeout() // only Unwatch sets a deadline
	hasLeft := n == 0 && err != nil && !isUnwatched
	if hasLeft {
		c.ahead.err = err
	}
	close(reading)
	if hasLeft {
		gone()
	}
}
