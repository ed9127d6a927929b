package fakeapi

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// lingering bounds how long unread request bytes are drained before a close, so
// that the kernel does not turn it into a reset that eats the answer.
const lingering = 2 * time.Second

// errClosing ends a section whose connection is closed on purpose.
var errClosing = errors.New("the section closes the connection")

// problemError is a failure that the upstream reports as a problem.
type problemError struct{ why string }

func (e problemError) Error() string { return e.why }

// conn is one connection. Two goroutines work on it: serve, which owns all
// writing, and the pump of its inlet.
type conn struct {
	u      *Upstream
	n      int // number, from 1
	raw    *net.TCPConn
	stream interface {
		net.Conn
		CloseWrite() error
	} // raw, or TLS over it
	in *inlet

	// turn is held over a write and its line in the trace, and over the line
	// about the peer's leaving, so that a peer which leaves because of what it
	// was sent is seen to leave afterwards.
	turn sync.Mutex
}

func newConn(u *Upstream, raw *net.TCPConn, n int) *conn {
	c := &conn{u: u, n: n, raw: raw, stream: raw}
	if u.tls != nil {
		c.stream = tls.Server(raw, u.tls)
	}
	c.in = newInlet(c.recordLeaving)
	return c
}

// recordLeaving records that the peer has left.
func (c *conn) recordLeaving(err error) {
	c.turn.Lock()
	defer c.turn.Unlock()
	c.u.journal.record("gone %d %s", c.n, manner(err))
}

func manner(err error) string {
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "EOF"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "reset"
	}
	return "error " + err.Error()
}

func (c *conn) serve() {
	defer c.close()
	for c.exchange() {
	}
}

// exchange serves one request and says whether another may follow.
func (c *conn) exchange() bool {
	c.in.setRoom(roomForHead)
	a, err := readHead(c.in)
	if err != nil {
		c.refuseMalformed(err)
		return false
	}
	a.Conn = c.n
	entry := a.Request
	p := &play{c: c, a: a, entry: &entry, section: c.u.enterRequest(&entry)}
	return p.run()
}

// refuseMalformed answers a request that cannot be understood; a peer that has
// merely left is told already.
func (c *conn) refuseMalformed(err error) {
	var bad malformedError
	if !errors.As(err, &bad) {
		return
	}
	c.u.journal.enterProblem("connection %d: malformed request: %s", c.n, bad.why)
	if c.refuse("400 Bad Request", bad.why) == nil {
		c.hangUp(true)
	}
}

// refuse sends an answer of the upstream's own.
func (c *conn) refuse(status, why string) error {
	why += "\n"
	answer := fmt.Sprintf("HTTP/1.1 %s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s",
		status, len(why), why)
	return c.send("head "+status[:3], []byte(answer))
}

// send writes p at once and records it under label.
func (c *conn) send(label string, p []byte) error {
	err := c.write(p, func() { c.u.journal.record("sent %d %s", c.n, label) })
	switch {
	case err == nil:
		return nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		return problemError{fmt.Sprintf("the peer did not take it within %s", longestWait)}
	case c.u.isClosed():
		return errEnded
	}
	c.in.fail(err)
	return err
}

func (c *conn) write(p []byte, written func()) error {
	c.turn.Lock()
	defer c.turn.Unlock()
	if err := c.stream.SetWriteDeadline(time.Now().Add(longestWait)); err != nil {
		return err
	}
	_, err := c.stream.Write(p)
	if err == nil {
		written()
	}
	return err
}

// hangUp ends the sending direction and, to drain, waits until the peer ends its own.
func (c *conn) hangUp(drain bool) {
	c.in.silence()
	_ = c.stream.CloseWrite()
	_ = c.raw.CloseWrite()
	if !drain {
		return
	}
	c.in.discard()
	timer := time.NewTimer(lingering)
	defer timer.Stop()
	select {
	case <-c.in.gone:
	case <-timer.C:
	case <-c.u.done:
	}
}

// reset closes with RST.
func (c *conn) reset() {
	c.in.silence()
	_ = c.raw.SetLinger(0)
	_ = c.raw.Close()
}

// cut ends the connection from another goroutine; serve does the rest.
func (c *conn) cut() {
	c.in.end()
	_ = c.raw.Close()
}

func (c *conn) close() {
	c.in.end()
	_ = c.stream.Close()
	c.u.forget(c)
}
