// Package wire is HTTP/1.1 as a transparent proxy needs it: heads, bodies in chunks and in content codings, the
// connections of clients, those to upstreams, and tunnels.
//
// It passes on what it reads to the byte, never takes a cut answer for a complete one, and refuses what could be read
// in two ways. Every wait has a deadline, and ends at once with the context of a call or when a Client is cut.
package wire

import (
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// Listener hands out connections as Clients. When as many are open as it may have, the next one waits until another is
// closed.
type Listener struct {
	net.Listener
	log       *slog.Logger
	slots     chan struct{} // holds a token for each open connection
	writeIdle time.Duration
	tell      rate.Sometimes // of errors of Accept
}

// Listen bounds the open connections of ln, and the time in which a client must take the next bytes of an answer.
func Listen(ln net.Listener, most int, writeIdle time.Duration, log *slog.Logger) *Listener {
	return &Listener{Listener: ln, log: log, slots: make(chan struct{}, most), writeIdle: writeIdle,
		tell: rate.Sometimes{Interval: time.Minute}}
}

// Accept waits for a connection and for room for it. It returns no error but that the listener is closed: others, such
// as too many open files, pass.
func (l *Listener) Accept() (net.Conn, error) {
	l.slots <- struct{}{}
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		conn, err := l.Listener.Accept()
		if err == nil {
			return &Client{Conn: conn, listener: l}, nil
		}
		if errors.Is(err, net.ErrClosed) {
			<-l.slots
			return nil, err
		}
		l.tell.Do(func() { l.log.Error("cannot accept a connection; it is tried again", "error", err.Error()) })
		time.Sleep(pause)
	}
}

// Client is a client's connection. It can watch for the client leaving while fasthttp is not reading, and lets an
// exchange answer in fasthttp's place.
//
// Apart from the watching goroutine only the goroutine that serves the connection uses it, unless a method says
// otherwise.
type Client struct {
	net.Conn
	Answered bool // an exchange has written its answer itself: what fasthttp writes next is dropped
	Lingers  bool // the client may still be sending when the connection is closed

	listener *Listener
	closing  sync.Once
	cut      atomic.Bool
	gone     error // the client has closed its side, or reset

	slack     time.Duration // by which the body being read may be late; zero for no body, and the deadline is fasthttp's
	remaining time.Duration // of the slack

	pipelined *byte // was read by the watch, and belongs to the next request

	mu      sync.Mutex
	timer   *time.Timer   // begins the watch; goes on to the next exchange, as each start of a timer wakes a thread
	onGone  func()        // nil while no exchange is under way
	reading chan struct{} // closed when the watch has ended; nil if it has not begun
}

// longAgo is a deadline that ends all waiting at once.
func longAgo() time.Time { return time.Unix(1, 0) }

// bodyRate is how many bytes of a body a client has to send in a second.
const bodyRate = 8 << 10

// BeginBody has the reads that follow wait for the bytes of a body, which may be late by the slack, as bodyRate counts.
// The time between reads does not count. Zero ends the body.
func (c *Client) BeginBody(slack time.Duration) { c.slack, c.remaining = slack, slack }

// Read reads from the client.
func (c *Client) Read(p []byte) (n int, err error) {
	if len(p) > 0 && c.pipelined != nil {
		p[0] = *c.pipelined
		c.pipelined = nil
		return 1, nil
	}
	if c.gone != nil {
		return 0, c.gone
	}
	if c.slack > 0 {
		n, err = c.readBody(p)
	} else {
		n, err = c.Conn.Read(p)
	}
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		c.gone = err
	}
	return n, err
}

func (c *Client) readBody(p []byte) (n int, err error) {
	begun := time.Now()
	_ = c.SetReadDeadline(begun.Add(c.remaining))
	n, err = c.Conn.Read(p)
	earned := time.Duration(n) * time.Second / bodyRate
	c.remaining = min(c.remaining-time.Since(begun)+earned, c.slack)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF // fasthttp takes a bare EOF for the end of a body
	}
	return n, err
}

// SetReadDeadline sets the deadline of reads, unless Cut has been called.
func (c *Client) SetReadDeadline(t time.Time) error {
	err := c.Conn.SetReadDeadline(t)
	if c.cut.Load() {
		err = c.Conn.SetReadDeadline(longAgo())
	}
	return err
}

// Write gives the client the listener's time to take p; callers write in small pieces.
func (c *Client) Write(p []byte) (int, error) {
	if c.Answered {
		c.Answered = false
		return len(p), nil
	}
	_ = c.SetWriteDeadline(time.Now().Add(c.listener.writeIdle))
	if c.cut.Load() { // the new deadline may have overwritten the one of Cut
		_ = c.SetWriteDeadline(longAgo())
	}
	return c.Conn.Write(p)
}

// HasLeft reports whether the client has closed its side, or reset.
func (c *Client) HasLeft() bool { return c.gone != nil }

// Cut ends every wait on the connection, now and from now on. Any goroutine may call it.
func (c *Client) Cut() {
	c.cut.Store(true)
	_ = c.SetDeadline(longAgo())
}

// Close closes the connection, and lets the listener accept another one.
func (c *Client) Close() error {
	c.closing.Do(func() {
		if c.Lingers {
			linger(c.Conn)
		}
		<-c.listener.slots
	})
	return c.Conn.Close()
}

// Reset closes the connection so that the client sees an error and not an end.
func (c *Client) Reset() {
	socket := belowTLS(c.Conn) // TLS would say that the answer ends here
	if t, ok := socket.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
	_ = socket.Close()
	_ = c.Close()
}

// belowTLS returns the connection that carries c.
func belowTLS(c net.Conn) net.Conn {
	if t, ok := c.(*tls.Conn); ok {
		return t.NetConn()
	}
	return c
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

// watchAfter is how long an exchange may run before its client is watched. Most of the cost of a watch is a second
// goroutine, and an exchange that ends sooner has nothing to gain from it.
const watchAfter = 5 * time.Millisecond

// Watch calls onGone, on a goroutine of its own, if the client closes or resets the connection before Unwatch. A client
// that only ends its sending side counts as gone, as it does everywhere in Go. After a pipelined byte the watch sees no
// further, until the next request.
func (c *Client) Watch(onGone func()) {
	if c.gone != nil {
		onGone()
		return
	}
	if c.pipelined != nil {
		return
	}
	_ = c.SetReadDeadline(time.Time{}) // takes away the one that the reading of the request has left
	c.mu.Lock()
	defer c.mu.Unlock()
	c.onGone = onGone
	if c.timer == nil {
		c.timer = time.AfterFunc(watchAfter, c.look)
	} else {
		c.timer.Reset(watchAfter)
	}
}

// look waits for the client to leave, if an exchange is under way.
func (c *Client) look() {
	c.mu.Lock()
	onGone := c.onGone
	if onGone == nil || c.reading != nil {
		c.mu.Unlock()
		return
	}
	reading := make(chan struct{})
	c.reading = reading
	c.mu.Unlock()
	defer close(reading)
	var b [1]byte
	n, err := c.Conn.Read(b[:])
	if n > 0 {
		c.pipelined = &b[0]
	} else if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) { // Unwatch and Cut set a deadline
		c.gone = err
		onGone()
	}
}

// Unwatch ends the watch; afterwards the connection is read as if there had been none.
func (c *Client) Unwatch() {
	c.mu.Lock()
	reading := c.reading
	c.onGone, c.reading = nil, nil
	c.mu.Unlock()
	if reading != nil {
		_ = c.Conn.SetReadDeadline(longAgo())
		<-reading
		_ = c.Conn.SetReadDeadline(time.Time{})
	}
}

// RunTunnel moves bytes both ways between a client and the upstream whose answer switched protocols, until one side
// ends, or both are silent for the request's ReadIdle. fromClient reads the client's connection after the bytes that
// had been read ahead of it. down is how many bytes went to the client; the error is why the side that ended first
// broke off, nil if it ended in order. try runs each way, and makes a panic in it an error.
func RunTunnel(fromClient io.Reader, c *Client, a *Answer, try func(func() error) error) (down int64, err error) {
	end := func() {
		a.conn.cut()
		_ = c.Close()
	}
	silence := time.AfterFunc(a.readIdle, end)
	defer silence.Stop()
	_ = a.conn.SetDeadline(time.Time{})
	_ = c.SetReadDeadline(time.Time{})
	ended := make(chan error, 2) // the way that ends first comes first
	pass := func(to io.Writer, from io.Reader, n *int64) {
		ended <- try(func() (err error) {
			*n, err = io.Copy(tunnelEnd{to, silence, a.readIdle}, from)
			return err
		})
		end()
	}
	go pass(a.conn, fromClient, new(int64))
	pass(c, a.conn.reader, &down)
	err = <-ended
	<-ended
	return down, err
}

// tunnelEnd is one end of a tunnel. Each Write puts off the end of the silence.
type tunnelEnd struct {
	io.Writer
	silence *time.Timer
	idle    time.Duration
}

func (e tunnelEnd) Write(p []byte) (int, error) {
	e.silence.Reset(e.idle)
	return e.Writer.Write(p)
}
