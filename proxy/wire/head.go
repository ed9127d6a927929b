package wire

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// Lengths of an answer's body that are not a number of bytes.
const (
	ChunkedLength = -1
	UntilClose    = -2
)

// maxAnswerHead bounds the status line and the header lines of an answer, in bytes.
const maxAnswerHead = 256 << 10

// Head is the status line and the header lines of an answer, with what they say about its body.
type Head struct {
	Code    int
	reason  []byte
	Block   []byte // the header lines as they came
	Length  int64  // of the body: bytes, ChunkedLength or UntilClose
	closing bool   // the connection ends with this answer
}

// readHead reads the head of an answer. A head that could be read in two ways is an error: it would let one answer's
// body pass for the next answer.
func readHead(br *bufio.Reader) (*Head, error) {
	var head []byte
	lineStart := 0
	for {
		part, err := br.ReadSlice('\n')
		head = append(head, part...)
		isPart := errors.Is(err, bufio.ErrBufferFull) // the line goes on
		if err == io.EOF && len(head) > 0 {
			return nil, io.ErrUnexpectedEOF
		}
		if err == io.EOF {
			return nil, errors.New("the upstream closed the connection without an answer")
		}
		if err != nil && !isPart {
			return nil, err
		}
		if len(head) > maxAnswerHead {
			return nil, fmt.Errorf("the answer's head is larger than %d bytes", maxAnswerHead)
		}
		if isPart {
			continue
		}
		if len(bytes.TrimRight(head[lineStart:], "\r\n")) == 0 {
			return parseHead(head)
		}
		lineStart = len(head)
	}
}

// parseHead reads a whole head.
func parseHead(head []byte) (*Head, error) {
	status, block, _ := bytes.Cut(head, []byte("\n"))
	proto, rest, _ := bytes.Cut(bytes.TrimSuffix(status, []byte("\r")), []byte(" "))
	if bytes.ContainsAny(rest, "\x00\r") {
		return nil, errors.New("the answer's status line holds a byte that is not allowed")
	}
	code, reason, _ := bytes.Cut(rest, []byte(" "))
	h := &Head{reason: reason, Block: block, Length: UntilClose, closing: string(proto) == "HTTP/1.0"}
	if string(proto) != "HTTP/1.1" && !h.closing {
		return nil, errors.New("the answer is in no known version of HTTP")
	}
	var err error
	h.Code, err = strconv.Atoi(string(code))
	if err != nil || len(code) != 3 || h.Code < 100 {
		return nil, errors.New("the answer does not begin with a status line")
	}
	if err := CheckLines(block); err != nil {
		return nil, fmt.Errorf("cannot read the answer's head: %w", err)
	}
	return h, h.readFraming()
}

// readFraming reads how the body and the connection end. Of a length and chunks together the chunks count, and the
// connection is not used again.
func (h *Head) readFraming() error {
	stated := int64(UntilClose)
	for l := LinesOf(h.Block); l.Next(); {
		switch {
		case l.Is("content-length"):
			n, err := strconv.ParseUint(string(l.Value), 10, 62)
			if err != nil || stated >= 0 && stated != int64(n) {
				return errors.New("the answer's Content-Length cannot be trusted")
			}
			stated = int64(n)
		case l.Is("transfer-encoding"):
			if !EqualFold(l.Value, "chunked") || h.Length == ChunkedLength {
				return errors.New("the answer's Transfer-Encoding is not supported")
			}
			h.Length = ChunkedLength
		case l.Is("connection"):
			h.closing = h.closing && !HasToken(l.Value, "keep-alive") || HasToken(l.Value, "close")
		}
	}
	if h.Length == ChunkedLength {
		h.closing = h.closing || stated >= 0
	} else {
		h.Length = stated
	}
	return nil
}

// ClientSide says how an answer is put on the client's connection.
type ClientSide struct {
	HTTP10 bool   // the client knows no chunks
	Close  bool   // the client's connection ends with the answer
	Extra  []byte // header lines of epitome's own
}

// AppendTo appends the head as the client gets it: every end-to-end line in its place and spelling, and a
// Connection line of our own where one is needed.
func (h *Head) AppendTo(dst []byte, to ClientSide) []byte {
	dst = append(dst, "HTTP/1.1 "...)
	dst = append(strconv.AppendInt(dst, int64(h.Code), 10), ' ')
	dst = append(append(dst, h.reason...), crlf...)
	connection := Values(h.Block, "connection")
	for l := LinesOf(h.Block); l.Next(); {
		keep := !IsHop(l.Name, connection)
		switch {
		case l.Is("transfer-encoding"):
			keep = !to.HTTP10 && h.Code >= 200 && h.Code != 204
		case l.Is("content-length"): // framing is for every hop, whatever Connection names
			keep = h.Length != ChunkedLength
		case h.Code == 101 && (l.Is("connection") || l.Is("upgrade")):
			keep = true
		}
		if keep {
			dst = l.AppendTo(dst)
		}
	}
	if to.Close && h.Code >= 200 {
		dst = append(dst, "Connection: close\r\n"...)
	} else if to.HTTP10 && h.Code >= 200 {
		dst = append(dst, "Connection: keep-alive\r\n"...)
	}
	return append(append(dst, to.Extra...), crlf...)
}
