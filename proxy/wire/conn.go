package wire

import (
	"bufio"
	"crypto/tls"
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

const (
	sendPiece  = 256 << 10 // bytes of which each has WriteIdle, or the rest if that is less
	sendRounds = 4         // looks in that time at what was taken, where all is written at once
)

// send writes head and body, giving each piece WriteIdle. n counts what the connection took. All of it goes to the
// system at once, which takes as much as there is room for.
func (c *upstreamConn) send(out Request) (n int64, err error) {
	if c.pool.secure != nil {
		return c.sendSecurely(out)
	}
	idle := c.pool.Limits.WriteIdle
	since, piece := time.Now(), int64(0)
	for rest := (net.Buffers{out.Head, out.Body}); len(rest) > 0; {
		_ = c.SetWriteDeadline(time.Now().Add(idle / sendRounds))
		took, err := rest.WriteTo(c.Conn)
		if n, piece = n+took, piece+took; piece >= sendPiece {
			since, piece = time.Now(), 0
		}
		if err != nil && (!errors.Is(err, os.ErrDeadlineExceeded) || time.Since(since) >= idle) {
			return n, err
		}
	}
	return n, nil
}

// sendSecurely gives each piece WriteIdle: TLS cannot go on after a deadline that was missed.
func (c *upstreamConn) sendSecurely(out Request) (n int64, err error) {
	piece := out.Head
	for rest := out.Body; ; {
		_ = c.SetWriteDeadline(time.Now().Add(c.pool.Limits.WriteIdle))
		k, err := c.Write(piece)
		if n += int64(k); err != nil || len(rest) == 0 {
			return n, err
		}
		piece = rest[:min(len(rest), sendPiece)]
		rest = rest[len(piece):]
	}
}

// upstreamConn is one connection to an upstream. Whoever has taken it out of its pool owns it.
type upstreamConn struct {
	net.Conn
	pool   *Pool
	reader *bufio.Reader
	reused bool      // has answered before
	since  time.Time // when it was given back
}

// readers are shared by all pools: an idle connection needs none.
var readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, readerSize) }}

// readerSize bounds what is passed on in one piece; memory is touched only as far as bytes arrive together.
const readerSize = 16 << 10

// unasked reports whether TLS holds decrypted or whole records that nobody has read: stale cannot see those.
func (c *upstreamConn) unasked() bool {
	if _, ok := c.Conn.(*tls.Conn); !ok {
		return false
	}
	_ = c.SetReadDeadline(longAgo())
	_, err := c.reader.Peek(1)
	c.reader.Reset(c.Conn)
	return !errors.Is(err, os.ErrDeadlineExceeded)
}

// socket is the connection below TLS.
func (c *upstreamConn) socket() net.Conn {
	if t, ok := c.Conn.(*tls.Conn); ok {
		return t.NetConn()
	}
	return c.Conn
}

// cut ends the connection at once, from any goroutine: what is blocked on it returns. Closing TLS first could
// wait behind a write that is stuck, so the connection below it goes.
func (c *upstreamConn) cut() { _ = c.socket().Close() }

// drop ends the connection; its owner calls it in place of keep.
func (c *upstreamConn) drop() {
	c.cut()
	c.freeReader()
	c.pool.forget()
}

// keep gives the connection back for another exchange. Its last answer has been read to the end.
func (c *upstreamConn) keep() {
	if c.reader.Buffered() > 0 { // bytes nobody asked for: no next answer could be trusted
		c.drop()
		return
	}
	c.freeReader()
	c.since = time.Now()
	p := c.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.retired {
		p.open--
		c.cut()
		return
	}
	p.idle = append(p.idle, c)
	if p.sweeper == nil {
		p.sweeper = time.AfterFunc(p.Limits.Idle, p.sweep)
	}
}

// freeReader hands the reader back, as an idle connection needs none.
func (c *upstreamConn) freeReader() {
	if c.reader != nil {
		c.reader.Reset(nil)
		readers.Put(c.reader)
		c.reader = nil
	}
}
