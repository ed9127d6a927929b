package proxy

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http/httputil"
	"net/textproto"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// A provider is an upstream on loopback. It keeps each request to the byte, and what it sends is up to a test.
type provider struct {
	net.Listener
	play func(*call)   // answers a request whose body has been read
	head func(*call)   // is called before the body is read; may be nil
	gone chan struct{} // gets a token for each connection that the proxy has ended

	mu  sync.Mutex
	got []*call
}

// A call is one request to a provider, on its connection.
type call struct {
	net.Conn
	provider *provider
	br       *bufio.Reader
	conn     int    // number of the connection, from 1
	target   string // of the request's first line
	head     string // with the first line and the blank one
	body     string // without chunks
	closed   bool
}

// startProvider serves until the test ends.
func startProvider(tb testing.TB, play func(*call)) *provider {
	tb.Helper()
	p := listening(tb, play)
	tb.Cleanup(func() { _ = p.Close() })
	return p
}

// listening serves until the provider is closed.
func listening(tb interface{ Fatal(...any) }, play func(*call)) *provider {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	p := &provider{Listener: ln, play: play, gone: make(chan struct{}, 1000)}
	go func() {
		for n := 1; ; n++ {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go p.serve(c, n)
		}
	}()
	return p
}

func (p *provider) addr() string { return p.Addr().String() }
func (p *provider) url() string  { return "http://" + p.addr() }

func (p *provider) serve(conn net.Conn, n int) {
	defer func() { _ = conn.Close() }()
	for br := bufio.NewReader(conn); ; {
		c := &call{Conn: conn, provider: p, br: br, conn: n}
		if c.readHead() != nil {
			p.gone <- struct{}{}
			return
		}
		p.mu.Lock()
		p.got = append(p.got, c)
		head := p.head
		p.mu.Unlock()
		if head != nil {
			head(c)
		}
		if c.closed || c.readBody() != nil {
			return
		}
		if p.play(c); c.closed {
			return
		}
	}
}

// requests returns all requests whose heads have arrived.
func (p *provider) requests() []*call {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]*call(nil), p.got...)
}

func (c *call) readHead() (err error) {
	c.head, err = readRawHead(c.br)
	if start := strings.Split(c.head, " "); len(start) > 1 {
		c.target = start[1]
	}
	return err
}

// readRawHead reads up to a blank line, and that.
func readRawHead(br *bufio.Reader) (head string, err error) {
	for !strings.HasSuffix(head, "\r\n\r\n") && err == nil {
		var line string
		line, err = br.ReadString('\n')
		head += line
	}
	return head, err
}

// readBody reads what the head promises.
func (c *call) readBody() error {
	length, chunked := 0, false
	for line := range strings.SplitSeq(c.head, "\r\n") {
		name, value, _ := strings.Cut(line, ":")
		switch strings.ToLower(name) {
		case "content-length":
			length, _ = strconv.Atoi(strings.TrimSpace(value))
		case "transfer-encoding":
			chunked = true
		case "expect":
			c.send("HTTP/1.1 100 Continue\r\n\r\n")
		}
	}
	var body io.Reader = io.LimitReader(c.br, int64(length))
	if chunked {
		body = httputil.NewChunkedReader(c.br)
	}
	text, err := io.ReadAll(body)
	if c.body = string(text); err != nil || !chunked {
		return err
	}
	for line := "x"; line != "" && err == nil; { // trailers
		line, err = textproto.NewReader(c.br).ReadLine()
	}
	return err
}

// send writes the texts, each at once.
func (c *call) send(texts ...string) {
	for _, text := range texts {
		_, _ = io.WriteString(c, text)
	}
}

// hangUp ends the connection in order.
func (c *call) hangUp() {
	c.closed = true
	_ = c.Close()
}

// reset ends the connection without order.
func (c *call) reset() {
	_ = c.Conn.(*net.TCPConn).SetLinger(0)
	c.hangUp()
}

// awaitEnd drops what arrives until the proxy ends the connection.
func (c *call) awaitEnd() (dropped int64) {
	dropped, _ = io.Copy(io.Discard, c.br)
	c.hangUp()
	c.provider.gone <- struct{}{}
	return dropped
}

// onHead has f called for each request before its body is read.
func (p *provider) onHead(f func(*call)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.head = f
}

// answers plays one text after the other to the requests, and then the last one again and again.
func answers(texts ...string) func(*call) {
	var mu sync.Mutex
	return func(c *call) {
		mu.Lock()
		text := texts[0]
		if len(texts) > 1 {
			texts = texts[1:]
		}
		mu.Unlock()
		c.send(text)
	}
}

// ok is an answer with that body and further header lines.
func ok(body string, lines ...string) string { return reply("200 OK", body, lines...) }

// reply is one with that status, body and further header lines.
func reply(status, body string, lines ...string) string {
	head := "HTTP/1.1 " + status + "\r\n"
	for _, line := range append(lines, fmt.Sprint("Content-Length: ", len(body))) {
		head += line + "\r\n"
	}
	return head + "\r\n" + body
}

// chunks are a body in chunks, without its end.
func chunks(texts ...string) (body string) {
	for _, text := range texts {
		body += fmt.Sprintf("%x\r\n%s\r\n", len(text), text)
	}
	return body
}

// The head of an answer in chunks, and their end.
const (
	chunkedHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	lastChunk   = "0\r\n\r\n"
	noContent   = "HTTP/1.1 204 No Content\r\n\r\n"
)

// streamed is an answer with a stream of events.
func streamed(texts ...string) string {
	return strings.Replace(chunkedHead, "Transfer", "Content-Type: text/event-stream\r\nTransfer", 1) +
		chunks(texts...) + lastChunk
}
