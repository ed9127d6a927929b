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

	conn    *upstreamConn
	left    int64 // bytes to come of a body with a length
	chunks  chunks
	dechunk bool // the client gets the content of chunks alone
	over    bool // the connection is given back, or dropped

	held []byte // of the body, as the client gets it: was read before, and Next returns it first
	bad  error  // how the upstream broke the chunked coding behind that
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

// Next returns the next piece of the body as the client gets it. It waits at most ReadIdle for one; the piece is valid
// until the next call. At the body's end the error is io.EOF, at any other end ErrTruncated.
func (a *Answer) Next() (piece []byte, err error) {
	if len(a.held) > 0 {
		piece, a.held = a.held, nil
		return piece, nil
	}
	return a.next(a.ReadIdle)
}

// IsReady reports whether Next returns without waiting.
func (a *Answer) IsReady() bool {
	return len(a.held) > 0 || a.bad != nil || a.IsComplete() || a.conn.reader.Buffered() > 0
}

// Hold waits for a piece, at most so long, and keeps it for Next. It reports whether one came; Next returns the error.
func (a *Answer) Hold(most time.Duration) bool {
	piece, err := a.next(most)
	a.held = append(a.held, piece...)
	return err == nil
}

// Held is how many bytes are kept for Next.
func (a *Answer) Held() int { return len(a.held) }

// Read reads the body as Next does, for an answer of which nothing is held.
func (a *Answer) Read(p []byte) (int, error) {
	for len(a.held) == 0 {
		var err error
		if a.held, err = a.next(a.ReadIdle); err != nil {
			return 0, err
		}
	}
	n := copy(p, a.held)
	a.held = a.held[n:]
	return n, nil
}

// next waits for bytes from the upstream, at most so long, and takes those that are there.
func (a *Answer) next(most time.Duration) ([]byte, error) {
	switch {
	case a.bad != nil:
		return nil, a.bad
	case a.IsComplete():
		return nil, io.EOF
	}
	reader := a.conn.reader
	if reader.Buffered() == 0 {
		_ = a.conn.SetReadDeadline(time.Now().Add(most))
		if _, err := reader.Peek(1); err == io.EOF && a.Length != UntilClose {
			return nil, ErrTruncated
		} else if err != nil {
			return nil, err
		}
	}
	b, _ := reader.Peek(reader.Buffered())
	if a.Length == ChunkedLength {
		size, piece := a.takeChunks(b)
		_, _ = reader.Discard(size)
		return piece, nil
	}
	if a.Length >= 0 {
		b = b[:min(int64(len(b)), a.left)]
		a.left -= int64(len(b))
	}
	if a.Hears != nil {
		a.Hears(b)
	}
	_, _ = reader.Discard(len(b))
	return b, nil
}

// takeChunks takes chunks from b: size bytes, of which piece is passed on.
func (a *Answer) takeChunks(b []byte) (size int, piece []byte) {
	content := b[:0] // without framing, runs of content move down over what stood between them
	for size < len(b) && a.chunks.state != chunksEnd && a.bad == nil {
		n, run, bad := a.chunks.scan(b[size:])
		size, a.bad = size+n, bad
		if a.Hears != nil {
			a.Hears(run)
		}
		if a.dechunk {
			content = append(content, run...)
		}
	}
	if a.dechunk {
		return size, content
	}
	return size, b[:size]
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
