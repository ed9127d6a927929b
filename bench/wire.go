package bench

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"
)

// wireBuffer is the size in bytes of every read buffer: larger reads go past it straight to the socket.
const wireBuffer = 64 << 10

// head is what this package missings of a request's or an answer's head.
type head struct {
	first   string // request line or status line
	length  int64  // bytes of body; −1: not said
	made    int64  // bytes of body as our client made it; −1: not said
	chunked bool
}

// readHead reads up to and including the blank line.
func readHead(br *bufio.Reader) (head, error) {
	line, err := readLine(br)
	if err != nil {
		return head{}, err
	}
	h := head{first: string(line), length: -1, made: -1}
	for {
		line, err = readLine(br)
		if err != nil {
			return head{}, err
		}
		if len(line) == 0 {
			return h, nil
		}
		if err = h.field(line); err != nil {
			return head{}, err
		}
	}
}

// field takes up one header line.
func (h *head) field(line []byte) error {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimSpace(value)
	switch {
	case bytes.EqualFold(name, []byte("Content-Length")):
		return readNumber(value, &h.length)
	case bytes.EqualFold(name, []byte(madeHeader)):
		return readNumber(value, &h.made)
	case bytes.EqualFold(name, []byte("Transfer-Encoding")):
		h.chunked = bytes.EqualFold(value, []byte("chunked"))
	}
	return nil
}

// madeHeader says how long a request's body is, as Content-Length does, but no proxy corrects it.
const madeHeader = "X-Bench-Bytes"

func readNumber(value []byte, n *int64) (err error) {
	if *n, err = strconv.ParseInt(string(value), 10, 64); err != nil {
		return fmt.Errorf("cannot read length %q: %w", value, err)
	}
	return nil
}

// status is the code of a status line, 0 if it has none.
func (h head) status() int {
	if len(h.first) < len("HTTP/1.1 200") {
		return 0
	}
	code, err := strconv.Atoi(h.first[9:12])
	if err != nil {
		return 0
	}
	return code
}

// readLine returns the next line without its end; it is valid until the next read.
func readLine(br *bufio.Reader) ([]byte, error) {
	line, err := br.ReadSlice('\n')
	if err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(line[:len(line)-1], []byte("\r")), nil
}

// body reads one message body by its framing and ends with io.EOF where the body ends, so that the connection can go on.
type body struct {
	br      *bufio.Reader
	left    int64 // bytes to come: of the body, or of the present chunk
	chunked bool
	ended   bool
}

func newBody(br *bufio.Reader, h head) *body {
	if h.chunked {
		return &body{br: br, chunked: true}
	}
	return &body{br: br, left: max(h.length, 0)}
}

func (b *body) Read(p []byte) (int, error) {
	if b.left == 0 && !b.done() {
		if err := b.nextChunk(); err != nil {
			return 0, err
		}
	}
	if b.left == 0 {
		return 0, io.EOF
	}
	n, err := b.br.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	if err == nil && b.chunked && b.left == 0 {
		_, err = readLine(b.br)
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// done tells whether the whole body has been read.
func (b *body) done() bool { return b.left == 0 && (!b.chunked || b.ended) }

// nextChunk reads a chunk's size line; after the last chunk also the trailer.
func (b *body) nextChunk() error {
	line, err := readLine(b.br)
	if err != nil {
		return unexpected(err)
	}
	size, _, _ := bytes.Cut(line, []byte(";"))
	if b.left, err = strconv.ParseInt(string(bytes.TrimSpace(size)), 16, 63); err != nil {
		return fmt.Errorf("cannot read chunk size %q: %w", size, err)
	}
	for b.left == 0 {
		if line, err = readLine(b.br); err != nil {
			return unexpected(err)
		}
		if len(line) == 0 {
			b.ended = true
			return nil
		}
	}
	return nil
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// drain reads the body to its end through scratch and returns its length in bytes.
func (b *body) drain(scratch []byte) (int64, error) {
	var total int64
	for {
		n, err := b.Read(scratch)
		total += int64(n)
		if err == io.EOF {
			return total, nil
		}
		if err != nil {
			return total, err
		}
	}
}

// client is one persistent connection that carries one request at a time.
type client struct {
	conn    net.Conn
	br      *bufio.Reader
	scratch []byte
}

// dial connects; every read and write of the connection must happen within limit from now, or until extend.
func dial(addr string, limit time.Duration) (*client, error) {
	conn, err := net.DialTimeout("tcp", addr, min(limit, 5*time.Second))
	if err != nil {
		return nil, fmt.Errorf("cannot connect to %s: %w", addr, err)
	}
	c := newClient(conn)
	c.extend(limit)
	return c, nil
}

func newClient(conn net.Conn) *client {
	return &client{conn: conn, br: bufio.NewReaderSize(conn, wireBuffer), scratch: make([]byte, wireBuffer)}
}

// extend gives the connection limit from now.
func (c *client) extend(limit time.Duration) {
	_ = c.conn.SetDeadline(time.Now().Add(limit)) // fails only on a closed connection, and the next read says so
}

// exchange sends a whole request and reads a whole answer; anything but 200 is an error.
func (c *client) exchange(request []byte) error {
	answer, err := c.open(request)
	if err != nil {
		return err
	}
	if _, err = answer.drain(c.scratch); err != nil {
		return fmt.Errorf("cannot read answer: %w", err)
	}
	return nil
}

// open sends a whole request and reads the head of its answer; the body is the caller's to read.
func (c *client) open(request []byte) (*body, error) {
	if _, err := c.conn.Write(request); err != nil {
		return nil, fmt.Errorf("cannot send request: %w", err)
	}
	h, err := readHead(c.br)
	if err != nil {
		return nil, fmt.Errorf("cannot read answer's head: %w", unexpected(err))
	}
	if h.status() != 200 {
		return nil, fmt.Errorf("cannot use answer %q: want status 200", h.first)
	}
	if h.length < 0 && !h.chunked {
		return nil, fmt.Errorf("cannot use answer %q: its body has no length", h.first)
	}
	return newBody(c.br, h), nil
}

func (c *client) close() { _ = c.conn.Close() }

// postRequest is a whole chat request as bytes.
func postRequest(at site, target string, payload []byte) []byte {
	r := fmt.Appendf(nil, "POST %s%s HTTP/1.1\r\nHost: %s\r\nUser-Agent: bench\r\nAccept: application/json\r\n"+
		"Authorization: Bearer bench\r\nX-Epitome-Rent: 0\r\nContent-Type: application/json\r\n"+madeHeader+": %d\r\nContent-Length: %d\r\n\r\n",
		at.prefix, target, at.addr, len(payload), len(payload))
	return append(r, payload...)
}

// getRequest is a whole GET as bytes.
func getRequest(at site, target string) []byte {
	return fmt.Appendf(nil, "GET %s%s HTTP/1.1\r\nHost: %s\r\nUser-Agent: bench\r\n\r\n", at.prefix, target, at.addr)
}
