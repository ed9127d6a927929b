package wire

import (
	"context"
	"io"
	"net"
	"sync/atomic"
	"time"
)

// Gate is how a listener lets clients in, and what it demands of them.
type Gate struct {
	Most       int64                         // connections open at once; one more is turned away
	Full       []byte                        // the answer to one that is
	TurnedAway func()                        // records one that is
	Stopping   func() bool                   // nothing more is to be accepted
	Balanced   func() bool                   // whoever connects may send more over idle connections at any time
	WriteIdle  func() time.Duration          // a client that takes no byte for this long is dropped
	Pace       func(bytes int) time.Duration // how long so many bytes of a request may take

	listener atomic.Pointer[Listener]
}

// Listener hands out client connections and keeps their number bounded.
type Listener struct {
	net.Listener
	gate    *Gate
	open    atomic.Int64
	turning chan struct{} // bounds the connections that are being turned away
}

// mostTurning is how many connections are told at once that they are one too many; any more are closed without a word.
const mostTurning = 64

// NewListener makes a listener that accepts from ln what the gate lets in.
func NewListener(ln net.Listener, g *Gate) *Listener {
	l := &Listener{Listener: ln, gate: g, turning: make(chan struct{}, mostTurning)}
	g.listener.Store(l)
	return l
}

// Accept waits for a connection that the gate lets in.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		if l.gate.Stopping() { // a shutdown that came before the server knew of the listener did not close it
			_ = l.Close()
			return nil, net.ErrClosed
		}
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.open.Add(1) <= l.gate.Most {
			return &Client{Conn: c, gate: l.gate, free: l.leave}, nil
		}
		l.leave()
		select {
		case l.turning <- struct{}{}:
			go l.turnAway(c)
		default:
			_ = c.Close()
		}
	}
}

// drainTime is how long connections stay open that nobody uses, once nothing more is accepted.
const drainTime = time.Second

// Drain accepts nothing more. What a balancer has open it goes on using until an answer tells it to close: a request
// that meets a connection just as it is closed is lost. So Drain returns when the last one is closed, or after so long
// that nobody is likely to use those that are idle, or with ctx.
func (g *Gate) Drain(ctx context.Context) {
	l := g.listener.Load()
	if l == nil || !g.Balanced() {
		return
	}
	_ = l.Close()
	for end := time.Now().Add(drainTime); l.open.Load() > 0 && ctx.Err() == nil && time.Now().Before(end); {
		time.Sleep(drainTime / 100)
	}
}

// leave makes up for a connection that is no longer open.
func (l *Listener) leave() { l.open.Add(-1) }

// turnAway answers a connection over the limit, whose request is not read.
func (l *Listener) turnAway(c net.Conn) {
	l.gate.TurnedAway()
	_ = c.SetDeadline(time.Now().Add(lingerTime))
	_, _ = c.Write(l.gate.Full)
	linger(c)
	_ = c.Close()
	<-l.turning
}

const (
	lingerTime  = time.Second // how long a refused client may go on sending before it is cut off
	lingerBytes = 64 << 20
)

// linger ends our side and reads what the client is still sending, for a while: closing on unread bytes would
// reset the connection and take the answer away from a client that has not read it yet.
func linger(c net.Conn) {
	if half, ok := c.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		_ = c.SetReadDeadline(time.Now().Add(lingerTime))
		_, _ = io.Copy(io.Discard, io.LimitReader(c, lingerBytes))
	}
}
