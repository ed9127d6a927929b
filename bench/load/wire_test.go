package load

import (
	"bufio"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

func TestBodyEndsWhereItsFramingSays(t *testing.T) {
	f := func(message, want string) {
		t.Helper()
		for _, r := range []io.Reader{strings.NewReader(message + "NEXT"),
			iotest.OneByteReader(strings.NewReader(message + "NEXT"))} {
			br := bufio.NewReader(r)
			h, err := ReadHead(br)
			if err != nil {
				t.Fatalf("%q: head: %v", message, err)
			}
			b := NewBody(br, h)
			got, err := io.ReadAll(b)
			if err != nil || string(got) != want || !b.Done() {
				t.Errorf("%q: body %q, done %v, error %v; want %q", message, got, b.Done(), err, want)
			}
			if rest, _ := io.ReadAll(br); string(rest) != "NEXT" {
				t.Errorf("%q: %q is left for the next message", message, rest)
			}
		}
	}
	f("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "hello")
	f("HTTP/1.1 200 OK\r\ncontent-length:0\r\n\r\n", "")
	f("GET / HTTP/1.1\r\nHost: a\r\n\r\n", "")
	f("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n",
		"hello0123456789")
	f("HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n0\r\nTrailer: x\r\n\r\n", "")
}

func TestCutBodyIsAnError(t *testing.T) {
	whole := "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
	start := strings.Index(whole, "\r\n\r\n") + 4
	for cut := start; cut < len(whole); cut++ {
		br := bufio.NewReader(strings.NewReader(whole[:cut]))
		h, err := ReadHead(br)
		if err != nil {
			t.Fatalf("head: %v", err)
		}
		b := NewBody(br, h)
		if _, err = b.Drain(make([]byte, 64)); !errors.Is(err, io.ErrUnexpectedEOF) || b.Done() {
			t.Errorf("body cut at %d: error %v, done %v; want %v", cut-start, err, b.Done(), io.ErrUnexpectedEOF)
		}
	}
}

func TestBadFramingIsAnError(t *testing.T) {
	if _, err := ReadHead(bufio.NewReader(strings.NewReader("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"))); err == nil {
		t.Error("Content-Length x was taken")
	}
	b := NewBody(bufio.NewReader(strings.NewReader("zz\r\nhello\r\n")), Head{Chunked: true})
	if _, err := b.Drain(make([]byte, 64)); err == nil ||
		!strings.Contains(err.Error(), `cannot read chunk size "zz"`) {
		t.Errorf("chunk size zz: %v", err)
	}
}

func TestClientRefusesWhatIsNotAnAnswer(t *testing.T) {
	f := func(answer, want string) {
		t.Helper()
		near, far := net.Pipe()
		defer near.Close()
		go func() {
			defer far.Close()
			_, _ = far.Read(make([]byte, 1000))
			_, _ = far.Write([]byte(answer))
		}()
		c := newClient(near)
		c.Extend(time.Minute)
		if err := c.Exchange([]byte("GET / HTTP/1.1\r\n\r\n")); err == nil || err.Error() != want {
			t.Errorf("answer %q: error %v, want %s", answer, err, want)
		}
	}
	f("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n",
		`cannot use answer "HTTP/1.1 502 Bad Gateway": want status 200`)
	f("HTTP/1.1 200 OK\r\n\r\n", `cannot use answer "HTTP/1.1 200 OK": its body has no length`)
	f("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe", "cannot read answer: unexpected EOF")
	f("", "cannot read answer's head: unexpected EOF")
	f("nonsense\r\n\r\n", `cannot use answer "nonsense": want status 200`)
}
