package bench

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

func TestBodyEndsWhereItsFramingSays(t *testing.T) {
	f := func(message, want string) {
		t.Helper()
		for _, r := range []io.Reader{strings.NewReader(message + "NEXT"), iotest.OneByteReader(strings.NewReader(message + "NEXT"))} {
			br := bufio.NewReader(r)
			h, err := readHead(br)
			if err != nil {
				t.Fatalf("%q: head: %v", message, err)
			}
			b := newBody(br, h)
			got, err := io.ReadAll(b)
			if err != nil || string(got) != want || !b.done() {
				t.Errorf("%q: body %q, done %v, error %v; want %q", message, got, b.done(), err, want)
			}
			if rest, _ := io.ReadAll(br); string(rest) != "NEXT" {
				t.Errorf("%q: %q is left for the next message", message, rest)
			}
		}
	}
	f("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "hello")
	f("HTTP/1.1 200 OK\r\ncontent-length:0\r\n\r\n", "")
	f("GET / HTTP/1.1\r\nHost: a\r\n\r\n", "")
	f("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n", "hello0123456789")
	f("HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n0\r\nTrailer: x\r\n\r\n", "")
}

func TestCutBodyIsAnError(t *testing.T) {
	whole := "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
	start := strings.Index(whole, "\r\n\r\n") + 4
	for cut := start; cut < len(whole); cut++ {
		br := bufio.NewReader(strings.NewReader(whole[:cut]))
		h, err := readHead(br)
		if err != nil {
			t.Fatalf("head: %v", err)
		}
		b := newBody(br, h)
		if _, err = b.drain(make([]byte, 64)); !errors.Is(err, io.ErrUnexpectedEOF) || b.done() {
			t.Errorf("body cut at %d: error %v, done %v; want %v", cut-start, err, b.done(), io.ErrUnexpectedEOF)
		}
	}
}

func TestBadFramingIsAnError(t *testing.T) {
	if _, err := readHead(bufio.NewReader(strings.NewReader("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"))); err == nil {
		t.Error("Content-Length x was taken")
	}
	b := newBody(bufio.NewReader(strings.NewReader("zz\r\nhello\r\n")), head{chunked: true})
	if _, err := b.drain(make([]byte, 64)); err == nil || !strings.Contains(err.Error(), `cannot read chunk size "zz"`) {
		t.Errorf("chunk size zz: %v", err)
	}
}

func TestEventCarriesItsTimeThroughItsChunk(t *testing.T) {
	sent := time.Unix(1700000000, 123456789)
	b := newBody(bufio.NewReader(bytes.NewReader(appendEvent(nil, sent))), head{chunked: true})
	event := make([]byte, 1000)
	n, err := b.Read(event)
	if err != nil || !bytes.HasSuffix(event[:n], []byte("}\n\n")) {
		t.Fatalf("event %q, error %v", event[:n], err)
	}
	got, ok := eventSent(strings.TrimSpace(string(event[:n])))
	if !ok || !got.Equal(sent) {
		t.Errorf("event's time is %v (%v), want %v", got, ok, sent)
	}
	for _, line := range []string{"", "data: [DONE]", `data: {"sent":x}`} {
		if at, ok := eventSent(line); ok {
			t.Errorf("line %q has the time %v, want none", line, at)
		}
	}
}

func TestTargetQuery(t *testing.T) {
	f := func(line, key, want string) {
		t.Helper()
		if got := targetQuery(line).Get(key); got != want {
			t.Errorf("targetQuery(%q) has %s=%q, want %q", line, key, got, want)
		}
	}
	f("POST /v1/chat/completions?bench=stream&events=3 HTTP/1.1", "events", "3")
	f("POST /v1/chat/completions HTTP/1.1", "bench", "")
	f("POST /?a=%zz HTTP/1.1", "a", "")
	f("", "a", "")
}

func TestOnlyLoopbackIsMeasured(t *testing.T) {
	at, err := parseSite("http://127.0.0.1:7070/u/bench/")
	if err != nil || at.addr != "127.0.0.1:7070" || at.prefix != "/u/bench" {
		t.Errorf("parseSite = %+v, %v", at, err)
	}
	for _, base := range []string{"http://192.0.2.1:80", "https://127.0.0.1:443", "http://example.org:80", "http://127.0.0.1", "x"} {
		if at, err := parseSite(base); err == nil {
			t.Errorf("parseSite(%q) = %+v, want an error", base, at)
		}
	}
	for _, addr := range []string{"0.0.0.0:0", ":0", "192.0.2.1:80"} {
		if ln, err := listenLoopback(addr); err == nil {
			ln.Close()
			t.Errorf("listening on %q was allowed", addr)
		}
	}
}
