package wire

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"
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
	for !bytes.HasSuffix(head, []byte("\n\r\n")) && !bytes.HasSuffix(head, []byte("\n\n")) {
		part, err := br.ReadSlice('\n')
		head = append(head, part...)
		if len(head) > maxAnswerHead {
			return nil, fmt.Errorf("the answer's head is larger than %d bytes", maxAnswerHead)
		}
		if err == io.EOF && len(head) > 0 {
			return nil, io.ErrUnexpectedEOF
		}
		if err == io.EOF {
			return nil, errors.New("the upstream closed the connection without an answer")
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) { // else the line goes on
			return nil, err
		}
	}
	return parseHead(head)
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

// Request is one request to an upstream.
type Request struct {
	Method  []byte
	Target  []byte // path and query
	Lines   []byte // header lines as the client wrote them; those of its connection, and epitome's own, stay behind
	Body    []byte
	Changed bool // Body is not the client's: lines about its very bytes stay behind, too
	Upgrade bool // the request asks to switch protocols

	FirstByte time.Duration     // how long the upstream may take to begin its answer
	ReadIdle  time.Duration     // how long the upstream may be silent within its answer
	Interim   func(*Head) error // gets each head before the answer's own, such as 103 Early Hints; may be nil
}

// head returns the head of a request: every end-to-end line of the client's in its place and spelling, with Host and
// framing made right for this upstream, and the upstream's own headers in place of the client's of that name.
func (p *Pool) head(r *Request) []byte {
	dst := make([]byte, 0, len(r.Lines)+len(r.Target)+len(p.added)+256)
	dst = append(append(dst, r.Method...), ' ')
	dst = append(append(dst, r.Target...), " HTTP/1.1\r\n"...)
	connection := Values(r.Lines, "connection")
	hasLength, hasHost := false, false
	for l := LinesOf(r.Lines); l.Next(); {
		switch {
		case l.Is("host"):
			dst, hasHost = AppendField(dst, l.Name, p.host), true
		case l.Is("content-length"), l.Is("transfer-encoding"):
			if !hasLength {
				dst, hasLength = appendLength(dst, l, len(r.Body)), true
			}
		case l.Is("te") && HasToken(l.Value, "trailers"):
			dst = append(dst, "TE: trailers\r\n"...)
		case r.Upgrade && (l.Is("connection") || l.Is("upgrade")):
			dst = l.AppendTo(dst)
		case !p.drops(r, &l) && !IsHop(l.Name, connection):
			dst = l.AppendTo(dst)
		}
	}
	if !hasHost {
		dst = AppendField(dst, []byte("Host"), p.host)
	}
	if !hasLength && len(r.Body) > 0 {
		dst = appendLength(dst, Lines{}, len(r.Body))
	}
	dst = append(dst, p.added...)
	return append(dst, crlf...)
}

// drops reports whether an end-to-end line of a request stays behind.
func (p *Pool) drops(r *Request, l *Lines) bool {
	return l.Is("expect") || IsOwn(l.Name) || slices.ContainsFunc(p.replaced, l.Is) ||
		r.Changed && slices.ContainsFunc(describeBytes, l.Is)
}

// describeBytes are the names of lines about the very bytes of a body: how they are compressed, or a sum of them.
var describeBytes = []string{"content-encoding", "content-md5", "digest", "content-digest", "repr-digest"}

// appendLength frames a body by its length, in the place of line l. A line that says the same stays as it is.
func appendLength(dst []byte, l Lines, n int) []byte {
	length := strconv.Itoa(n)
	switch {
	case !l.Is("content-length"):
		return AppendField(dst, []byte("Content-Length"), length)
	case string(l.Value) == length:
		return l.AppendTo(dst)
	}
	return AppendField(dst, l.Name, length)
}

// Lines iterates over the header lines of one message as they came over the wire.
// The block holds whole lines; it belongs to the caller and is never changed.
type Lines struct {
	rest  []byte
	raw   []byte // the line without its terminator
	Name  []byte // as spelled by the sender
	Value []byte // without the white space around it
}

// LinesOf returns an iterator in front of the first line of a block.
func LinesOf(block []byte) Lines { return Lines{rest: block} }

// Next steps to the next line and reports whether there is one. A blank line ends the block.
func (l *Lines) Next() bool {
	l.raw, l.rest, _ = bytes.Cut(l.rest, []byte("\n"))
	l.raw = bytes.TrimSuffix(l.raw, []byte("\r"))
	if len(l.raw) == 0 {
		return false
	}
	l.Name, l.Value = l.raw, nil
	if i := bytes.IndexByte(l.raw, ':'); i >= 0 {
		l.Name, l.Value = l.raw[:i], bytes.TrimSpace(l.raw[i+1:])
	}
	return true
}

// Is compares the line's name without regard to case.
func (l *Lines) Is(name string) bool { return EqualFold(l.Name, name) }

// AppendTo appends the line as it came.
func (l *Lines) AppendTo(dst []byte) []byte { return append(append(dst, l.raw...), crlf...) }

var crlf = []byte("\r\n")

// EqualFold compares ASCII without regard to case.
func EqualFold(b []byte, text string) bool {
	return len(b) == len(text) && bytes.EqualFold(b, []byte(text)) // of one length, so no other letter folds to ASCII
}

// CheckLines returns an error for a block with a line that the next reader may take for two, for none, or for a part
// of the line before it.
func CheckLines(block []byte) error {
	for l := LinesOf(block); l.Next(); {
		switch {
		case len(l.Name) == 0 || len(l.Name) == len(l.raw):
			return errors.New("there is a header line without a name")
		case bytes.ContainsFunc(l.Name, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
			return errors.New("there is a header name that is not allowed")
		case bytes.IndexByte(l.raw, 0) >= 0 || bytes.IndexByte(l.raw, '\r') >= 0:
			return errors.New("there is a header value that is not allowed")
		}
	}
	return nil
}

// Find returns the value of the first line with the given name, nil when there is none.
func Find(block []byte, name string) []byte {
	for l := LinesOf(block); l.Next(); {
		if l.Is(name) {
			return l.Value
		}
	}
	return nil
}

// Values joins the values of all lines with the given name by commas; it returns nil when there is none. The value of a
// single line is a part of the block.
func Values(block []byte, name string) (all []byte) {
	for l := LinesOf(block); l.Next(); {
		if !l.Is(name) {
			continue
		}
		if all == nil {
			all = l.Value[:len(l.Value):len(l.Value)]
		} else {
			all = append(append(all, ", "...), l.Value...)
		}
	}
	return all
}

// HasToken reports whether a comma-separated value names the token.
func HasToken(value []byte, token string) bool {
	for part := range bytes.SplitSeq(value, []byte(",")) {
		if EqualFold(bytes.TrimSpace(part), token) {
			return true
		}
	}
	return false
}

// IsHop reports whether the line of this name belongs to its connection alone, by RFC 9110, 7.6.1, or because the
// message's own Connection lines name it, whose Values are given.
func IsHop(name, connection []byte) bool {
	for _, hop := range [...]string{
		"connection", "keep-alive", "proxy-authenticate", "proxy-authorization",
		"proxy-connection", "te", "transfer-encoding", "upgrade",
	} {
		if EqualFold(name, hop) {
			return true
		}
	}
	return HasToken(connection, string(name))
}

// OwnPrefix begins the names of the request headers that are for epitome; they are not forwarded.
const OwnPrefix = "x-epitome-"

// IsOwn reports whether a header of this name is for epitome.
func IsOwn(name []byte) bool {
	return len(name) > len(OwnPrefix) && EqualFold(name[:len(OwnPrefix)], OwnPrefix)
}

// AppendField appends a header line.
func AppendField(dst, name []byte, value string) []byte {
	dst = append(append(dst, name...), ": "...)
	return append(append(dst, value...), crlf...)
}
