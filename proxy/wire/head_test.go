package wire

import (
	"bufio"
	"bytes"
	"net/http"
	"strings"
	"testing"
)

func TestAmbiguousAnswersAreRefused(t *testing.T) {
	f := func(head, want string) {
		t.Helper()
		_, err := readHead(bufio.NewReader(strings.NewReader(head)))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one that says %q", head, err, want)
		}
	}
	f("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", "Content-Length")
	f("HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\n", "Content-Length")
	f("HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\n", "Content-Length")
	f("HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", "Content-Length")
	f("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", "Transfer-Encoding")
	f("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", "Transfer-Encoding")
	f("HTTP/1.1 200 OK\r\nNo colon\r\n\r\n", "without a name")
	f("HTTP/1.1 200 OK\r\n: x\r\n\r\n", "without a name")
	f("HTTP/1.1 200 OK\r\nA: x\r\n folded: y\r\n\r\n", "not allowed")
	f("HTTP/1.1 200 OK\r\nName : x\r\n\r\n", "not allowed")
	f("HTTP/1.1 200 OK\r\nName: a\rb\r\n\r\n", "not allowed")
	f("HTTP/1.1 200 OK\r\nName: a\x00b\r\n\r\n", "not allowed")
	f("HTTP/1.1 20 OK\r\n\r\n", "status line")
	f("HTTP/1.1 +20 OK\r\n\r\n", "status line")
	f("HTTP/2 200 OK\r\n\r\n", "version")
	f("SSH-2.0-OpenSSH 200\r\n\r\n", "version")
	f("HTTP/1.1 200 OK\r\nA: "+strings.Repeat("x", maxAnswerHead), "larger than")
	f("HTTP/1.1 200 OK\r\nA: 1\r\n", "unexpected EOF")
}

func TestLengthAndChunksTogetherMeanChunksAndTheEndOfTheConnection(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
	h, err := readHead(bufio.NewReader(strings.NewReader(head)))
	if err != nil || h.Length != ChunkedLength || !h.closing {
		t.Fatalf("got %+v, %v", h, err)
	}
	if got := string(h.AppendTo(nil, ClientSide{})); got != "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" {
		t.Errorf("the client gets %q", got)
	}
}

// A head that is passed on reads the same in the standard library.
func FuzzHeadsAgreeWithTheStandardReader(f *testing.F) {
	for _, s := range []string{
		"HTTP/1.1 200 OK\r\nA: 1\r\nb:\t2 \r\nContent-Length: 5\r\n\r\n", "HTTP/1.0 404\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nA: x\r\n y\r\n\r\n", "HTTP/1.1 204 No\nA: 1\n\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		h, err := readHead(bufio.NewReaderSize(bytes.NewReader(text), 16))
		if err != nil {
			return
		}
		out := h.AppendTo(nil, ClientSide{})
		std, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(out)), nil)
		if err != nil {
			t.Skip() // it refuses some names and values that we pass on as they came
		}
		_ = std.Body.Close()
		if std.StatusCode != h.Code {
			t.Fatalf("%q is passed on as %q: status %d, read as %d", text, out, h.Code, std.StatusCode)
		}
		if h.Length >= 0 && h.Code >= 200 && h.Code != 204 && h.Code != 304 && std.ContentLength != h.Length {
			t.Fatalf("%q is passed on as %q: length %d, read as %d", text, out, h.Length, std.ContentLength)
		}
	})
}
