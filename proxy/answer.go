package proxy

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"
)

// Lengths of an answer's body that are not a number of bytes.
const (
	chunkedLength = -1
	untilClose    = -2
)

// maxAnswerHead bounds the status line and the header lines of an answer.
const maxAnswerHead = 256 << 10

// answerHead is the status line and the header lines of an answer, with what they say about its body.
type answerHead struct {
	code    int
	reason  []byte
	block   []byte // the header lines as they came
	length  int64  // of the body: bytes, chunkedLength or untilClose
	clash   bool   // length and chunked both stated: chunked holds, and the length is not passed on
	closing bool   // the connection ends with this answer
}

// readHead reads a head, appending its bytes to buf, which the result keeps.
func readHead(br *bufio.Reader, buf []byte) (*answerHead, error) {
	whole := true // the line that is being read begins at its beginning
	for {
		part, err := br.ReadSlice('\n')
		buf = append(buf, part...)
		switch {
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			if err == io.EOF && len(buf) > 0 {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		case len(buf) > maxAnswerHead:
			return nil, fmt.Errorf("the answer's head is larger than %d bytes", maxAnswerHead)
		case whole && err == nil && len(trimEOL(part)) == 0:
			return parseHead(buf)
		}
		whole = err == nil
	}
}

func parseHead(buf []byte) (*answerHead, error) {
	end := lineEnd(buf)
	h := &answerHead{block: buf[end:], length: untilClose}
	proto, rest, _ := bytes.Cut(trimEOL(buf[:end]), []byte(" "))
	if bytes.ContainsAny(rest, "\x00\r") {
		return nil, errors.New("the answer's status line holds a byte that is not allowed")
	}
	code, reason, _ := bytes.Cut(rest, []byte(" "))
	h.reason = reason
	var err error
	if h.code, err = strconv.Atoi(string(code)); err != nil || len(code) != 3 || h.code < 100 {
		return nil, errors.New("the answer does not begin with a status line")
	}
	switch string(proto) {
	case "HTTP/1.1":
	case "HTTP/1.0":
		h.closing = true
	default:
		return nil, errors.New("the answer is in no known version of HTTP")
	}
	return h, h.readFraming()
}

// readFraming looks at every line once. What could be read in two ways is refused: it would let one answer's
// body pass for the next answer.
func (h *answerHead) readFraming() error {
	stated := int64(untilClose)
	for l := linesOf(h.block); l.next(); {
		if err := checkLine(&l); err != nil {
			return err
		}
		switch {
		case l.is("content-length"):
			n, err := strconv.ParseUint(string(l.value), 10, 62)
			if err != nil || stated >= 0 && stated != int64(n) {
				return errors.New("the answer's Content-Length cannot be trusted")
			}
			stated = int64(n)
		case l.is("transfer-encoding"):
			if !equalFold(l.value, "chunked") || h.length == chunkedLength {
				return errors.New("the answer's Transfer-Encoding is not supported")
			}
			h.length = chunkedLength
		case l.is("connection"):
			h.closing = h.closing && !hasToken(l.value, "keep-alive") || hasToken(l.value, "close")
		}
	}
	switch {
	case h.length == chunkedLength && stated >= 0:
		h.clash, h.closing = true, true
	case stated >= 0:
		h.length = stated
	}
	return nil
}

func checkLine(l *lines) error {
	if len(l.name) == 0 || len(l.name) == len(l.raw) {
		return errors.New("the answer has a header line without a name")
	}
	for _, c := range l.name {
		if c <= ' ' || c >= 0x7f {
			return errors.New("the answer has a header name that is not allowed")
		}
	}
	for part := range bytes.Lines(l.raw) {
		if bytes.ContainsAny(trimEOL(part), "\x00\r") {
			return errors.New("the answer has a header value that is not allowed")
		}
	}
	return nil
}

// bodiless reports whether the answer has no body whatever its header lines say.
func (h *answerHead) bodiless(toHead bool) bool {
	return toHead || h.code < 200 || h.code == 204 || h.code == 304
}

// clientSide says how an answer is put on the client's connection.
type clientSide struct {
	http10 bool // the client knows no chunks
	close  bool // the client's connection ends with the answer
	extra  []byte
}

// appendTo writes the head as the client gets it: every end-to-end line in its place and spelling, and a
// Connection line of our own where one is needed.
func (h *answerHead) appendTo(dst []byte, to clientSide) []byte {
	dst = append(dst, "HTTP/1.1 "...)
	dst = append(strconv.AppendInt(dst, int64(h.code), 10), ' ')
	dst = append(append(dst, h.reason...), crlf...)
	hop := hopsOf(h.block)
	chunked := h.length == chunkedLength && !to.http10 && h.code >= 200 && h.code != 204
	for l := linesOf(h.block); l.next(); {
		switch {
		case l.is("transfer-encoding") && chunked:
			dst = l.appendTo(dst)
		case h.code == 101 && (l.is("connection") || l.is("upgrade")):
			dst = l.appendTo(dst)
		case l.is("content-length") && h.clash:
		case !l.is("content-length") && hop.has(l.name): // framing is for every hop, whatever Connection names
		default:
			dst = l.appendTo(dst)
		}
	}
	switch {
	case h.code < 200:
	case to.close:
		dst = append(dst, "Connection: close\r\n"...)
	case to.http10:
		dst = append(dst, "Connection: keep-alive\r\n"...)
	}
	return append(append(dst, to.extra...), crlf...)
}

// answer is an upstream's answer, its head read and its body still on the connection.
type answer struct {
	*answerHead
	conn     *upstreamConn
	empty    bool // no body follows
	readIdle time.Duration

	left   int64 // of a body with a length
	chunks chunks

	held  []byte           // of the body, as the client gets it: read already, and to be passed on first
	bad   error            // what stands behind that breaks the rules
	hears func(run []byte) // is given the body without framing; nil if nobody listens
	over  bool             // the connection is given back, or dropped
}

// errTruncated says that the body ended before its end.
var errTruncated = errors.New("the upstream broke off within its answer")

// complete reports whether the body has been read to its end.
func (a *answer) complete() bool {
	switch {
	case a.empty:
		return true
	case a.length == chunkedLength:
		return a.chunks.done()
	case a.length >= 0:
		return a.left == 0
	}
	return false
}

// fill waits until bytes of the body are there, at most readIdle.
func (a *answer) fill() error { return a.wait(a.readIdle) }

// wait is fill, for so long.
func (a *answer) wait(most time.Duration) error {
	if a.conn.reader.Buffered() > 0 {
		return nil
	}
	_ = a.conn.SetReadDeadline(time.Now().Add(most))
	_, err := a.conn.reader.Peek(1)
	if err == nil {
		return nil
	}
	if err == io.EOF && a.length != untilClose {
		return errTruncated
	}
	return err
}

// ready returns the bytes of the body that are there, as they came or without the chunks' framing, and does not
// wait. They are valid until the next fill.
func (a *answer) ready(dechunk bool) ([]byte, error) {
	b, _ := a.conn.reader.Peek(a.conn.reader.Buffered())
	switch {
	case a.length == untilClose:
	case a.length >= 0:
		b = b[:min(int64(len(b)), a.left)]
		a.left -= int64(len(b))
	default:
		return a.readyChunks(b, dechunk)
	}
	if a.hears != nil {
		a.hears(b)
	}
	_, _ = a.conn.reader.Discard(len(b))
	return b, nil
}

// readyChunks passes on what is sound even where an error follows behind it.
func (a *answer) readyChunks(b []byte, dechunk bool) (out []byte, err error) {
	var content []byte
	taken := 0
	for taken < len(b) && !a.chunks.done() && err == nil {
		n, run, bad := a.chunks.scan(b[taken:])
		if dechunk {
			content = append(content, run...)
		}
		if a.hears != nil {
			a.hears(run)
		}
		taken, err = taken+n, bad
	}
	_, _ = a.conn.reader.Discard(taken)
	if dechunk {
		return content, err
	}
	return b[:taken], err
}

// hold waits for a piece, at most so long, and keeps it to be passed on first. It reports whether one came. What goes
// wrong is met again when the answer is passed on.
func (a *answer) hold(most time.Duration, dechunk bool) bool {
	if a.complete() || a.bad != nil || a.wait(most) != nil {
		return false
	}
	piece, bad := a.ready(dechunk)
	a.held, a.bad = append(a.held, piece...), bad
	return true
}

// heldBytes is how much is kept to be passed on first.
func (a *answer) heldBytes() int { return len(a.held) }

// takeHeld hands over what was kept, once, and what stands behind it that breaks the rules.
func (a *answer) takeHeld() (held []byte, bad error) {
	held, a.held = a.held, nil
	return held, a.bad
}

// buffered is how many bytes have come that nobody has taken.
func (a *answer) buffered() int { return a.conn.reader.Buffered() }

// cut ends the connection at once, from any goroutine.
func (a *answer) cut() { a.conn.cut() }

// drop ends the answer and its connection, wherever it is.
func (a *answer) drop() {
	if !a.over {
		a.over = true
		a.conn.drop()
	}
}

// isOver reports whether the answer has let go of its connection.
func (a *answer) isOver() bool { return a.over }

// end gives the connection back, or drops it if its next answer could not be told from what is left of this one.
func (a *answer) end() {
	if a.over {
		return
	}
	a.over = true
	if a.complete() && !a.closing {
		a.conn.keep()
		return
	}
	a.conn.drop()
}
