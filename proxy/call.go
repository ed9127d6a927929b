package proxy

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"epitome/event"
)

// call is the upstream side of one exchange. It can be cut from any goroutine, at any time and more than once:
// whatever the exchange is waiting for upstream then fails at once. The zero value is ready.
type call struct {
	mu   sync.Mutex
	gone bool
	stop func() // ends what is under way; nil between two connections
}

// onCut says what ends the thing that is under way now. A call that is cut already ends it at once.
func (c *call) onCut(stop func()) {
	c.mu.Lock()
	c.stop = stop
	gone := c.gone
	c.mu.Unlock()
	if gone && stop != nil {
		stop()
	}
}

func (c *call) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone = true
	if c.stop != nil {
		c.stop() // under the lock: behind onCut(nil) the connection belongs to another exchange
	}
}

func (c *call) isCut() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.gone
}

// failure is why no answer came.
type failure struct {
	fault event.Fault
	err   error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// outgoing is one request ready for the wire, with who wants to hear how it goes.
type outgoing struct {
	head      []byte
	body      []byte
	toHead    bool          // a HEAD request: its answer has no body
	upgrade   bool          // it asks to switch protocols
	firstByte time.Duration // how long the upstream may take to begin its answer
	readIdle  time.Duration // how long it may be silent within it

	sent    func(reused bool)       // all of it has been written, or as much as the upstream would take
	interim func(*answerHead) error // a head before the answer's own, as 103 Early Hints
}

// do sends the request and reads the head of its answer. It is sent a second time only if not a byte of it can
// have arrived: over a connection that had been used before and took nothing.
func (c *call) do(p *pool, out outgoing) (*answer, error) {
	for {
		conn, err := p.take(c)
		switch {
		case c.isCut() && err != nil:
			return nil, &failure{event.ClientGone, errGone}
		case err != nil:
			return nil, &failure{event.Unreachable, err}
		}
		c.onCut(conn.cut)
		n, err := conn.send(out)
		if err != nil && n == 0 && conn.reused && !c.isCut() {
			c.onCut(nil)
			conn.drop()
			continue
		}
		out.sent(conn.reused)
		a, err := c.answer(conn, out, err)
		if err != nil {
			c.onCut(nil)
			conn.drop()
			return nil, err
		}
		return a, nil
	}
}

const (
	earlyAnswer = time.Second // what an upstream that stopped reading a request is given to say why
	maxInterim  = 16          // heads before the answer's own
)

// answer reads the answer's head, handing on those that come before it.
func (c *call) answer(conn *upstreamConn, out outgoing, sendErr error) (*answer, error) {
	wait := out.firstByte
	if sendErr != nil {
		wait = earlyAnswer
	}
	for range maxInterim {
		_ = conn.SetReadDeadline(time.Now().Add(wait))
		head, err := readHead(conn.reader, nil)
		if err != nil || c.isCut() {
			return nil, c.whyNone(err, sendErr)
		}
		if head.code >= 200 || head.code == 101 && out.upgrade {
			a := &answer{answerHead: head, conn: conn, readIdle: out.readIdle, empty: head.bodiless(out.toHead), left: head.length}
			a.closing = a.closing || sendErr != nil
			return a, nil
		}
		if head.code == 101 {
			return nil, &failure{event.Broken, errors.New("the upstream switched protocols without being asked")}
		}
		if err := out.interim(head); err != nil {
			return nil, err
		}
	}
	return nil, &failure{event.Broken, errors.New("the upstream sent one interim answer after another")}
}

func (c *call) whyNone(err, sendErr error) error {
	var late net.Error
	switch {
	case c.isCut():
		return &failure{event.ClientGone, errGone}
	case sendErr != nil:
		return &failure{event.Broken, sendErr}
	case errors.As(err, &late) && late.Timeout():
		return &failure{event.Timeout, err}
	case errors.Is(err, io.EOF):
		return &failure{event.Broken, errors.New("the upstream closed the connection without an answer")}
	}
	return &failure{event.Broken, err}
}

// errGone is the error of everything that ends because the client has left.
var errGone = errors.New("the client closed its connection")

const (
	sendPiece  = 256 << 10 // bytes of which each has writeIdle, or the rest if that is less
	sendRounds = 4         // looks in that time at what was taken, where all is written at once
)

// send writes head and body, giving each piece writeIdle. n counts what the connection took. All of it goes to the system at once,
// which takes as much as there is room for.
func (c *upstreamConn) send(out outgoing) (n int64, err error) {
	if c.pool.secure != nil {
		return c.sendSecurely(out)
	}
	idle := c.pool.limits.writeIdle
	since, piece := time.Now(), int64(0)
	for rest := (net.Buffers{out.head, out.body}); len(rest) > 0; {
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

// sendSecurely gives each piece writeIdle: TLS cannot go on after a deadline that was missed.
func (c *upstreamConn) sendSecurely(out outgoing) (n int64, err error) {
	piece := out.head
	for rest := out.body; ; {
		_ = c.SetWriteDeadline(time.Now().Add(c.pool.limits.writeIdle))
		k, err := c.Write(piece)
		if n += int64(k); err != nil || len(rest) == 0 {
			return n, err
		}
		piece = rest[:min(len(rest), sendPiece)]
		rest = rest[len(piece):]
	}
}
