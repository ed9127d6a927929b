package wire

import (
	"errors"
	"io"
	"time"
)

// Answer is an upstream's answer, its head read and its body still on the connection.
type Answer struct {
	*Head
	Empty    bool             // no body follows
	ReadIdle time.Duration    // how long the upstream may be silent within the body
	Hears    func(run []byte) // is given the body without framing; nil if nobody listens

	conn   *upstreamConn
	left   int64 // bytes to come of a body with a length
	chunks chunks
	over   bool // the connection is given back, or dropped

	held []byte // of the body, as the client gets it: read already, and to be passed on first
	bad  error  // why nothing comes behind held

	unread []byte // content that Read has taken and not yet returned
}

// ErrTruncated says that the body ended before its end.
var ErrTruncated = errors.New("the upstream broke off within its answer")

// IsComplete reports whether the body has been read to its end.
func (a *Answer) IsComplete() bool {
	switch {
	case a.Empty:
		return true
	case a.Length == ChunkedLength:
		return a.chunks.state == chunksEnd
	}
	return a.Length >= 0 && a.left == 0
}

// Wait waits until bytes of the body are there, at most ReadIdle. It returns io.EOF where the connection's end is the
// body's, and ErrTruncated at any other end.
func (a *Answer) Wait() error { return a.waitFor(a.ReadIdle) }

// waitFor is Wait, for so long.
func (a *Answer) waitFor(most time.Duration) error {
	if a.conn.reader.Buffered() > 0 {
		return nil
	}
	_ = a.conn.SetReadDeadline(time.Now().Add(most))
	_, err := a.conn.reader.Peek(1)
	if err == io.EOF && a.Length != UntilClose {
		return ErrTruncated
	}
	return err
}

// Take returns the bytes of the body that are there, as they came or without the chunks' framing, and does not
// wait. They are valid until the next Wait. With an error come the bytes before it.
func (a *Answer) Take(dechunk bool) (b []byte, err error) {
	b, _ = a.conn.reader.Peek(a.conn.reader.Buffered())
	size := len(b)
	switch {
	case a.Length == ChunkedLength:
		size, b, err = a.takeChunks(b, dechunk)
	case a.Length >= 0:
		b = b[:min(int64(len(b)), a.left)]
		size = len(b)
		a.left -= int64(size)
	}
	if a.Hears != nil && a.Length != ChunkedLength {
		a.Hears(b)
	}
	_, _ = a.conn.reader.Discard(size)
	return b, err
}

// takeChunks takes chunks from b: size bytes, of which out is passed on.
func (a *Answer) takeChunks(b []byte, dechunk bool) (size int, out []byte, err error) {
	content := b[:0] // runs of content move down over the framing between them
	for size < len(b) && a.chunks.state != chunksEnd && err == nil {
		var n int
		var run []byte
		n, run, err = a.chunks.scan(b[size:])
		if size += n; a.Hears != nil {
			a.Hears(run)
		}
		if dechunk {
			content = append(content, run...)
		}
	}
	if dechunk {
		return size, content, err
	}
	return size, b[:size], err
}

// Hold waits for a piece, at most so long, and keeps it to be passed on first. It reports whether one came. What goes
// wrong is met again when the answer is passed on.
func (a *Answer) Hold(most time.Duration, dechunk bool) bool {
	if a.IsComplete() || a.bad != nil || a.waitFor(most) != nil {
		return false
	}
	piece, bad := a.Take(dechunk)
	a.held, a.bad = append(a.held, piece...), bad
	return true
}

// HeldBytes is what is kept to be passed on first, as the client gets it, until the next Hold.
func (a *Answer) HeldBytes() []byte { return a.held }

// TakeHeld hands over what was kept, once, and what stands behind it that breaks the rules.
func (a *Answer) TakeHeld() (held []byte, bad error) {
	held, a.held = a.held, nil
	return held, a.bad
}

// Buffered is how many bytes have come that nobody has taken.
func (a *Answer) Buffered() int { return a.conn.reader.Buffered() }

// Read reads the body without framing. It waits at most ReadIdle.
func (a *Answer) Read(p []byte) (int, error) {
	for len(a.unread) == 0 {
		if a.bad != nil {
			return 0, a.bad
		}
		if a.IsComplete() {
			return 0, io.EOF
		}
		if err := a.Wait(); err != nil {
			return 0, err
		}
		a.unread, a.bad = a.Take(true)
	}
	n := copy(p, a.unread)
	a.unread = a.unread[n:]
	return n, nil
}

// Cut ends the connection at once, from any goroutine.
func (a *Answer) Cut() { a.conn.cut() }

// Drop ends the answer and its connection, wherever it is.
func (a *Answer) Drop() {
	if !a.over {
		a.over = true
		a.conn.drop()
	}
}

// IsOver reports whether the answer has let go of its connection.
func (a *Answer) IsOver() bool { return a.over }

// End gives the connection back, or drops it if its next answer could not be told from what is left of this one.
func (a *Answer) End() {
	if !a.IsComplete() || a.closing {
		a.Drop()
	} else if !a.over {
		a.over = true
		a.conn.keep()
	}
}
