package fakeapi

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// Sizes of what is accepted, in bytes.
const (
	maxHead = 1 << 20
	maxBody = 256 << 20
)

// A Request is one request as it arrived. Its slices belong to the upstream and
// must not be changed.
type Request struct {
	Method   string
	Target   string      // raw
	Proto    string      // HTTP/1.1 or HTTP/1.0
	Header   [][2]string // name and value in order, raw but for blanks around the value
	RawHead  []byte      // from the request line to the empty line, with both
	Body     []byte      // decoded; what has come so far when Complete is false
	Trailer  [][2]string
	Conn     int  // number of the connection, from 1
	Complete bool // the body has been read whole
}

// Get returns the value of the first header of this name, in any case, or "".
func (r *Request) Get(name string) string {
	for _, h := range r.Header {
		if strings.EqualFold(h[0], name) {
			return h[1]
		}
	}
	return ""
}

// malformedError is a request that breaks the rules of HTTP/1.1.
type malformedError struct{ why string }

func (e malformedError) Error() string { return e.why }

func malformed(format string, args ...any) error {
	return malformedError{fmt.Sprintf(format, args...)}
}

// arrival is a request on its way in; the serving goroutine owns it.
type arrival struct {
	Request
	chunked   bool
	length    int  // of the body, unless chunked
	continues bool // Expect: 100-continue
	last      bool // the client keeps the connection no longer
}

// readHead reads a head up to and with its empty line.
func readHead(in *inlet) (*arrival, error) {
	a := &arrival{}
	var lines []string
	for {
		line, err := in.line(maxHead - len(a.RawHead))
		a.RawHead = append(a.RawHead, line...)
		if err != nil {
			return nil, err
		}
		text, ok := bytes.CutSuffix(line, []byte("\r\n"))
		if !ok {
			return nil, malformed("line without CR: %q", line)
		}
		if len(text) == 0 {
			break
		}
		lines = append(lines, string(text))
	}
	if len(lines) == 0 {
		return nil, malformed("empty line where a request line was expected")
	}
	if err := a.parseHead(lines); err != nil {
		return nil, err
	}
	return a, a.frame()
}

func (a *arrival) parseHead(lines []string) error {
	parts := strings.Split(lines[0], " ")
	if len(parts) != 3 || !isToken(parts[0]) || !isVisible(parts[1]) {
		return malformed("request line %q", lines[0])
	}
	a.Method, a.Target, a.Proto = parts[0], parts[1], parts[2]
	if a.Proto != "HTTP/1.1" && a.Proto != "HTTP/1.0" {
		return malformed("request line %q", lines[0])
	}
	var err error
	a.Header, err = parseFields(lines[1:])
	return err
}

func parseFields(lines []string) ([][2]string, error) {
	var fields [][2]string
	for _, line := range lines {
		name, value, ok := strings.Cut(line, ":")
		if !ok || !isToken(name) || strings.ContainsAny(value, "\r\x00") {
			return nil, malformed("header line %q", line)
		}
		fields = append(fields, [2]string{name, strings.Trim(value, " \t")})
	}
	return fields, nil
}

// frame finds out how the body is delimited.
func (a *arrival) frame() error {
	lengths := 0
	for _, h := range a.Header {
		switch strings.ToLower(h[0]) {
		case "content-length":
			n, err := strconv.ParseUint(h[1], 10, 63)
			if err != nil || n > maxBody {
				return malformed("Content-Length %q", h[1])
			}
			a.length = int(n)
			lengths++
		case "transfer-encoding":
			if a.chunked || !strings.EqualFold(h[1], "chunked") {
				return malformed("Transfer-Encoding %q", h[1])
			}
			a.chunked = true
		case "connection":
			a.last = a.last || hasClose(h[1])
		case "expect":
			a.continues = strings.EqualFold(h[1], "100-continue")
		}
	}
	if lengths > 1 || lengths == 1 && a.chunked {
		return malformed("body with more than one framing")
	}
	a.last = a.last || a.Proto == "HTTP/1.0"
	a.Complete = !a.chunked && a.length == 0
	return nil
}

// hasClose says whether a Connection header's value lists close.
func hasClose(value string) bool {
	for token := range strings.SplitSeq(value, ",") {
		if strings.EqualFold(strings.TrimSpace(token), "close") {
			return true
		}
	}
	return false
}

// bodyReader reads the body of one request.
type bodyReader struct {
	in    *inlet
	most  int          // bytes to take at a time
	pause func() error // after each take
	body  []byte
}

// read reads a body as a describes it; what came before an error is in b.body.
func (b *bodyReader) read(a *arrival) (trailer [][2]string, err error) {
	if !a.chunked {
		return nil, b.exactly(a.length)
	}
	for {
		size, err := b.chunkSize()
		if err != nil {
			return nil, err
		}
		if size == 0 {
			return b.trailer()
		}
		if err := b.exactly(size); err != nil {
			return nil, err
		}
		end, err := b.crlfLine()
		if err != nil {
			return nil, err
		}
		if end != "" {
			return nil, malformed("chunk of %d bytes is followed by %q", size, end)
		}
	}
}

func (b *bodyReader) exactly(n int) error {
	for n > 0 {
		p, err := b.in.next(min(n, b.most))
		if err != nil {
			return err
		}
		b.body = append(b.body, p...)
		n -= len(p)
		if err := b.pause(); err != nil {
			return err
		}
	}
	return nil
}

func (b *bodyReader) crlfLine() (string, error) {
	line, err := b.in.line(roomForHead)
	if err != nil {
		return "", err
	}
	text, ok := bytes.CutSuffix(line, []byte("\r\n"))
	if !ok {
		return "", malformed("line without CR: %q", line)
	}
	return string(text), nil
}

// chunkSize reads the line before a chunk; extensions are dropped.
func (b *bodyReader) chunkSize() (int, error) {
	line, err := b.crlfLine()
	if err != nil {
		return 0, err
	}
	digits, _, _ := strings.Cut(line, ";")
	n, err := strconv.ParseUint(strings.TrimRight(digits, " \t"), 16, 32)
	if err != nil || len(b.body)+int(n) > maxBody {
		return 0, malformed("chunk size %q", line)
	}
	return int(n), nil
}

func (b *bodyReader) trailer() ([][2]string, error) {
	var lines []string
	for total := 0; total < maxHead; {
		line, err := b.crlfLine()
		if err != nil {
			return nil, err
		}
		if line == "" {
			return parseFields(lines)
		}
		lines = append(lines, line)
		total += len(line)
	}
	return nil, malformed("trailer of more than %d bytes", maxHead)
}

// isVisible says whether s is printable ASCII or beyond, without blanks.
func isVisible(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f })
}

func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}
