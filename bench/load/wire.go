package load

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

// BufferSize is the size in bytes of every read buffer: larger reads go past it straight to the socket.
const BufferSize = 64 << 10

// Head is the part of a request's or an answer's head that this package needs.
type Head struct {
	First   string // request line or status line
	length  int64  // bytes of body; −1: not said
	Made    int64  // bytes of body as our client made it; −1: not said
	Chunked bool
}

// ReadHead reads up to and including the blank line.
func ReadHead(br *bufio.Reader) (Head, error) {
	line, err := readLine(br)
	if err != nil {
		return Head{}, err
	}
	h := Head{First: string(line), length: -1, Made: -1}
	for {
		line, err = readLine(br)
		if err != nil {
			return Head{}, err
		}
		if len(line) == 0 {
			return h, nil
		}
		if err = h.field(line); err != nil {
			return Head{}, err
		}
	}
}

// field takes up one header line.
func (h *Head) field(line []byte) error {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimSpace(value)
	switch {
	case bytes.EqualFold(name, []byte("Content-Length")):
		return readNumber(value, &h.length)
	case bytes.EqualFold(name, []byte(MadeHeader)):
		return readNumber(value, &h.Made)
	case bytes.EqualFold(name, []byte("Transfer-Encoding")):
		h.Chunked = bytes.EqualFold(value, []byte("chunked"))
	}
	return nil
}

// MadeHeader is a header that says how long a request's body is. No proxy corrects it, as it would Content-Length.
const MadeHeader = "X-Bench-Bytes"

func readNumber(value []byte, n *int64) (err error) {
	if *n, err = strconv.ParseInt(string(value), 10, 64); err != nil {
		return fmt.Errorf("cannot read length %q: %w", value, err)
	}
	return nil
}

// Status returns the code of a status line, 0 if it has none.
func (h Head) Status() int {
	if len(h.First) < len("HTTP/1.1 200") {
		return 0
	}
	code, err := strconv.Atoi(h.First[9:12])
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

// Body reads one message body by its framing and ends with io.EOF where the body ends, so that the connection can go
// on.
type Body struct {
	Reader  *bufio.Reader
	left    int64 // bytes to come: of the body, or of the present chunk
	chunked bool
	ended   bool
}

// NewBody reads the body that follows h.
func NewBody(br *bufio.Reader, h Head) *Body {
	if h.Chunked {
		return &Body{Reader: br, chunked: true}
	}
	return &Body{Reader: br, left: max(h.length, 0)}
}

func (b *Body) Read(p []byte) (int, error) {
	if b.left == 0 && !b.Done() {
		if err := b.nextChunk(); err != nil {
			return 0, err
		}
	}
	if b.left == 0 {
		return 0, io.EOF
	}
	n, err := b.Reader.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	if err == nil && b.chunked && b.left == 0 {
		_, err = readLine(b.Reader)
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// Done reports whether the whole body has been read.
func (b *Body) Done() bool { return b.left == 0 && (!b.chunked || b.ended) }

// nextChunk reads a chunk's size line; after the last chunk also the trailer.
func (b *Body) nextChunk() error {
	line, err := readLine(b.Reader)
	if err != nil {
		return unexpected(err)
	}
	size, _, _ := bytes.Cut(line, []byte(";"))
	if b.left, err = strconv.ParseInt(string(bytes.TrimSpace(size)), 16, 63); err != nil {
		return fmt.Errorf("cannot read chunk size %q: %w", size, err)
	}
	for b.left == 0 {
		if line, err = readLine(b.Reader); err != nil {
			return unexpected(err)
		}
		if len(line) == 0 {
			b.ended = true
			return nil
		}
	}
	return nil
}

// unexpected returns err, or that the end came too early.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Drain reads the body to its end through scratch and returns its length in bytes.
func (b *Body) Drain(scratch []byte) (int64, error) {
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

// Client is one persistent connection that carries one request at a time.
type Client struct {
	Conn    net.Conn
	Reader  *bufio.Reader
	Scratch []byte
}

// Dial connects; every read and write of the connection must happen within limit from now, or until extend.
func Dial(addr string, limit time.Duration) (*Client, error) {
	conn, err := net.DialTimeout("tcp", addr, min(limit, 5*time.Second))
	if err != nil {
		return nil, fmt.Errorf("cannot connect to %s: %w", addr, err)
	}
	c := newClient(conn)
	c.Extend(limit)
	return c, nil
}

func newClient(conn net.Conn) *Client {
	return &Client{Conn: conn, Reader: bufio.NewReaderSize(conn, BufferSize), Scratch: make([]byte, BufferSize)}
}

// Extend gives the connection limit from now.
func (c *Client) Extend(limit time.Duration) {
	_ = c.Conn.SetDeadline(time.Now().Add(limit)) // fails only on a closed connection, and the next read says so
}

// Exchange sends a whole request and reads a whole answer; anything but 200 is an error.
func (c *Client) Exchange(request []byte) error {
	answer, err := c.Open(request)
	if err != nil {
		return err
	}
	if _, err = answer.Drain(c.Scratch); err != nil {
		return fmt.Errorf("cannot read answer: %w", err)
	}
	return nil
}

// Open sends a whole request and reads the head of its answer; the body is the caller's to read.
func (c *Client) Open(request []byte) (*Body, error) {
	if _, err := c.Conn.Write(request); err != nil {
		return nil, fmt.Errorf("cannot send request: %w", err)
	}
	h, err := ReadHead(c.Reader)
	if err != nil {
		return nil, fmt.Errorf("cannot read answer's head: %w", unexpected(err))
	}
	if h.Status() != 200 {
		return nil, fmt.Errorf("cannot use answer %q: want status 200", h.First)
	}
	if h.length < 0 && !h.Chunked {
		return nil, fmt.Errorf("cannot use answer %q: its body has no length", h.First)
	}
	return NewBody(c.Reader, h), nil
}

func (c *Client) Close() { _ = c.Conn.Close() }

// PostRequest returns a whole chat request as bytes.
func PostRequest(addr, target string, payload []byte) []byte {
	r := fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: bench\r\nAccept: application/json\r\n"+
		"Authorization: Bearer bench\r\nContent-Type: application/json\r\n"+
		MadeHeader+": %d\r\nContent-Length: %d\r\n\r\n",
		target, addr, len(payload), len(payload))
	return append(r, payload...)
}

// GetRequest returns a whole GET as bytes.
func GetRequest(addr, target string) []byte {
	return fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: bench\r\n\r\n", target, addr)
}
