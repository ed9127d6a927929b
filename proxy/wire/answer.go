package wire

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"strconv"
	"time"

	"epitome/event"
)

// Answer is an upstream's answer: its head, and its body still on the connection. Only one goroutine uses it.
type Answer struct {
	*Head
	Empty bool // no body follows

	conn     *upstreamConn
	stop     func() bool   // ends the watch for the end of the call's context; nil after End
	readIdle time.Duration // how long the upstream may be silent within the body
	chunks   chunks

	remaining  int64  // bytes to come of a body with a length
	content    []byte // memory for that of a piece
	held       Piece  // of the body: Hold has read it, and Next returns it first
	framingErr error  // how the upstream broke the chunked coding behind that
}

// Piece is a part of a body.
type Piece struct {
	Raw     []byte // as it came
	Content []byte // without the framing of chunks
}

// Failure says why no answer came, or not the whole one: whose fault it is, and the error.
type Failure struct {
	Fault event.Fault
	Err   error
}

func (f *Failure) Error() string { return f.Err.Error() }

func (f *Failure) Unwrap() error { return f.Err }

// ErrGone is the error of everything that ends because the client has left.
var ErrGone = errors.New("the client closed its connection")

// Do sends the request and reads the head of its answer. It sends the request a second time only if not a byte of it
// can have arrived: over a connection that had been used before and took nothing. The end of ctx closes the connection
// until the answer's End, wherever the call is. The error is a *Failure, or one of out.Interim.
func (p *Pool) Do(ctx context.Context, out Request) (*Answer, error) {
	head := p.head(&out)
	for {
		conn, err := p.take(ctx)
		if err != nil {
			return nil, failure(ctx, event.Unreachable, err)
		}
		a := &Answer{conn: conn, stop: context.AfterFunc(ctx, conn.cut), readIdle: out.ReadIdle}
		n, sendErr := conn.send(head, out.Body)
		if sendErr != nil && n == 0 && conn.reused && ctx.Err() == nil {
			a.stop()
			conn.cut()
			continue
		}
		if err := a.readHead(ctx, &out, sendErr); err != nil {
			a.stop()
			conn.cut()
			return nil, err
		}
		return a, nil
	}
}

// failure returns why a call failed: the end of its context, or the given error.
func failure(ctx context.Context, fault event.Fault, err error) *Failure {
	if ctx.Err() != nil {
		return &Failure{event.ClientGone, context.Cause(ctx)}
	}
	return &Failure{fault, err}
}

const (
	earlyAnswer = time.Second // for an upstream that stopped reading a request, to say why
	maxHeads    = 16          // of one answer: interim ones and its own
)

// readHead reads the answer's head, and hands on those that come before it. sendErr is why the request was not taken
// whole; nil if it was.
func (a *Answer) readHead(ctx context.Context, out *Request, sendErr error) error {
	wait := out.FirstByte
	if sendErr != nil {
		wait = earlyAnswer
	}
	for range maxHeads {
		_ = a.conn.SetReadDeadline(time.Now().Add(wait))
		head, err := readHead(a.conn.reader)
		if err != nil {
			fault := event.Broken
			if sendErr == nil && errors.Is(err, os.ErrDeadlineExceeded) {
				fault = event.Timeout
			}
			return failure(ctx, fault, cmp.Or(sendErr, err))
		}
		if head.Code == 101 && !out.Upgrade {
			return failure(ctx, event.Broken, errors.New("the upstream switched protocols without being asked"))
		}
		if head.Code >= 200 || head.Code == 101 {
			a.Head = head
			a.closing = head.closing || sendErr != nil || head.Code == 101
			isToHead := string(out.Method) == "HEAD"
			a.Empty = isToHead || head.Code < 200 || head.Code == 204 || head.Code == 304 // whatever the header lines say
			a.remaining = a.Length
			return nil
		}
		if out.Interim == nil {
			continue
		}
		if err := out.Interim(head); err != nil {
			return err
		}
	}
	return failure(ctx, event.Broken, errors.New("the upstream sent one interim answer after another"))
}

// ErrTruncated reports that the body ended before its end.
var ErrTruncated = errors.New("the upstream broke off within its answer")

// IsComplete reports whether the body has been read to its end.
func (a *Answer) IsComplete() bool {
	if a.Empty {
		return true
	}
	if a.Length == ChunkedLength {
		return a.chunks.state == endOfBody
	}
	return a.Length >= 0 && a.remaining == 0
}

// Next returns the next piece of the body, valid until the next call. The upstream may be silent for the ReadIdle of
// the request. At the body's end the error is io.EOF.
func (a *Answer) Next() (p Piece, err error) {
	if len(a.held.Raw) > 0 {
		p, a.held = a.held, Piece{}
		return p, nil
	}
	return a.next(a.readIdle)
}

// IsReady reports whether Next returns without waiting.
func (a *Answer) IsReady() bool {
	return len(a.held.Raw) > 0 || a.framingErr != nil || a.IsComplete() || a.conn.reader.Buffered() > 0
}

// Hold waits for a piece, at most that long, and keeps it for Next. It reports whether one came; Next returns the
// error.
func (a *Answer) Hold(most time.Duration) bool {
	p, err := a.next(most)
	a.held.Raw = append(a.held.Raw, p.Raw...)
	a.held.Content = append(a.held.Content, p.Content...)
	return err == nil
}

// Held returns the content of all that is held.
func (a *Answer) Held() []byte { return a.held.Content }

// next waits for bytes from the upstream, at most that long, and takes those that are there.
func (a *Answer) next(most time.Duration) (p Piece, err error) {
	if a.framingErr != nil {
		return p, a.framingErr
	}
	if a.IsComplete() {
		return p, io.EOF
	}
	if err := a.fill(most); err != nil {
		return p, err
	}
	reader := a.conn.reader
	b, _ := reader.Peek(reader.Buffered())
	if a.Length >= 0 {
		b = b[:min(int64(len(b)), a.remaining)]
		a.remaining -= int64(len(b))
	}
	p = Piece{Raw: b, Content: b}
	if a.Length == ChunkedLength {
		var size int
		size, a.content, a.framingErr = a.chunks.scan(a.content[:0], b)
		p = Piece{Raw: b[:size], Content: a.content}
	}
	_, _ = reader.Discard(len(p.Raw))
	return p, nil
}

// fill waits until the connection's buffer has bytes.
func (a *Answer) fill(most time.Duration) error {
	reader := a.conn.reader
	if reader.Buffered() > 0 {
		return nil
	}
	_ = a.conn.SetReadDeadline(time.Now().Add(most))
	_, err := reader.Peek(1)
	if err == io.EOF && a.Length != UntilClose {
		return ErrTruncated
	}
	return err
}

// End gives the connection back, or closes it where the next answer could not be told from the rest of this one. What
// is held stays. Only the first call counts.
func (a *Answer) End() {
	if a.stop == nil {
		return
	}
	uncut := a.stop()
	a.stop = nil
	if uncut && a.IsComplete() && !a.closing {
		a.conn.keep()
	} else {
		a.conn.cut()
	}
}

// errFraming reports that an upstream broke the rules of the chunked coding; such an answer is cut, never repaired.
var errFraming = errors.New("the upstream's chunked answer is malformed")

// maxChunkLine bounds each line between the chunks of a body, in bytes.
const maxChunkLine = 4 << 10

// chunkState is the kind of framing line that comes next in a chunked body.
type chunkState uint8

const (
	sizeLine    chunkState = iota // the size of a chunk, and its extensions
	endOfChunk                    // the empty line behind a chunk
	trailerLine                   // a trailer, or the empty line that ends the body
	endOfBody                     // none: the body is complete
)

// chunks follows a chunked body, so that the body can be passed on exactly as it came while it is known at every moment
// whether it is complete. It accepts what RFC 9112 allows, except blanks before an extension: a body on whose end two
// parsers could disagree is an error. The zero value stands at the start of a body.
type chunks struct {
	state     chunkState
	remaining int64  // bytes to come of the current chunk
	line      []byte // the beginning of a framing line
}

// scan takes bytes from the beginning of b, up to the end of the body, and appends their content to dst. It returns how
// many bytes those are, and an error if the next ones break the coding.
func (c *chunks) scan(dst, b []byte) (n int, content []byte, err error) {
	for n < len(b) && c.state != endOfBody {
		if c.remaining > 0 {
			run := b[n:][:min(c.remaining, int64(len(b)-n))]
			dst = append(dst, run...)
			c.remaining -= int64(len(run))
			n += len(run)
			continue
		}
		part, _, whole := bytes.Cut(b[n:], []byte("\n"))
		c.line = append(c.line, part...)
		if len(c.line) > maxChunkLine || whole && !c.endLine() {
			return n, dst, errFraming
		}
		n += len(part)
		if whole {
			n++
			c.line = c.line[:0]
		}
	}
	return n, dst, nil
}

// endLine reads a framing line up to its LF, and reports whether the coding allows it.
func (c *chunks) endLine() bool {
	line, ok := bytes.CutSuffix(c.line, []byte("\r"))
	if !ok || bytes.ContainsAny(line, "\r\x00") {
		return false
	}
	switch {
	case c.state == sizeLine:
		digits, _, extended := bytes.Cut(line, []byte(";"))
		if !extended {
			digits = bytes.TrimRight(digits, " \t")
		}
		size, err := strconv.ParseUint(string(digits), 16, 60)
		c.remaining, c.state = int64(size), endOfChunk
		if size == 0 {
			c.state = trailerLine
		}
		return err == nil
	case len(line) > 0:
		return c.state == trailerLine && !bytes.ContainsRune([]byte(" \t:"), rune(line[0]))
	case c.state == endOfChunk:
		c.state = sizeLine
	default: // behind the trailers
		c.state = endOfBody
	}
	return true
}
