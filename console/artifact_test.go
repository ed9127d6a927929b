package console

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// named is one artifact, under the name abc; what cannot be read is under broken.
type named struct{ text string }

func (n named) Open(name string) (io.ReadCloser, int64, error) {
	switch name {
	case "abc":
		return io.NopCloser(strings.NewReader(n.text)), int64(len(n.text)), nil
	case "broken":
		return nil, 0, errors.New("input/output error")
	}
	return nil, 0, ErrNoArtifact
}

// Lines knows everything, the first line, one that breaks off, and no others.
func (n named) Lines(lines, grep string) (func(io.Reader, io.Writer) error, error) {
	switch lines + grep {
	case "":
		return func(r io.Reader, w io.Writer) error { _, err := io.Copy(w, r); return err }, nil
	case "1":
		return func(_ io.Reader, w io.Writer) error { _, err := io.WriteString(w, "one\n"); return err }, nil
	case "100-":
		return func(io.Reader, io.Writer) error {
			return fmt.Errorf("%w: the text has 2 line(s)", ErrNoLines)
		}, nil
	case "cut":
		return func(_ io.Reader, w io.Writer) error {
			_, _ = io.WriteString(w, "one\n")
			return errors.New("too slow")
		}, nil
	}
	return nil, errors.New("cannot read lines: write A-B")
}

func shelved(listen, text string) *Console {
	p := listening(listen)
	p.Artifacts = named{text}
	return New(Config{}, p)
}

func TestArtifactIsGivenToWhoHasItsName(t *testing.T) {
	f := func(method, target, body, length string) {
		t.Helper()
		w := ask(shelved("127.0.0.1:7070", "one\ntwo\n"), method, target)
		if w.Code != 200 || w.Body.String() != body || w.Header().Get("Content-Length") != length {
			t.Errorf("%s %s: got %d %q, length %q", method, target, w.Code, w.Body, w.Header().Get("Content-Length"))
		}
		for name, want := range map[string]string{
			"Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff",
			"Cache-Control": "no-store",
		} {
			if got := w.Header().Get(name); got != want {
				t.Errorf("%s %s: %s is %q, want %q", method, target, name, got, want)
			}
		}
	}
	f("GET", "/-/artifacts/abc", "one\ntwo\n", "8")
	f("HEAD", "/-/artifacts/abc", "", "8")
	f("GET", "/-/artifacts/abc?lines=1", "one\n", "") // the length of a choice is not known before
	f("GET", "/-/artifacts/abc?grep=1", "one\n", "")
	f("GET", "/-/artifacts/abc.txt", "one\ntwo\n", "8")
	f("GET", "/-/artifacts/abc.txt?lines=1", "one\n", "")
}

// pieces notes how much is collected before it is sent.
type pieces struct {
	httptest.ResponseRecorder
	held, most, sent int
}

func (p *pieces) Write(b []byte) (int, error) {
	p.held += len(b)
	p.most = max(p.most, p.held)
	return len(b), nil
}

func (p *pieces) Flush() { p.sent, p.held = p.sent+p.held, 0 }

func TestLargeArtifactFlows(t *testing.T) {
	const size = 10 << 20
	w := &pieces{ResponseRecorder: *httptest.NewRecorder()}
	r := httptest.NewRequest("GET", "/-/artifacts/abc", nil)
	r.Host = "localhost:7070"
	p := listening("127.0.0.1:7070")
	p.Artifacts = copied{named{strings.Repeat("x", size)}}
	New(Config{}, p).ServeHTTP(w, r)
	if w.sent+w.held != size || w.most > 2*64<<10 {
		t.Errorf("sent %d of %d bytes, with up to %d collected", w.sent+w.held, size, w.most)
	}
}

// copied copies by small pieces.
type copied struct{ named }

func (copied) Lines(string, string) (func(io.Reader, io.Writer) error, error) {
	return func(r io.Reader, w io.Writer) error {
		_, err := io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{r}, make([]byte, 4<<10))
		return err
	}, nil
}

func TestArtifactThatBreaksOffIsNotCompleted(t *testing.T) {
	defer func() {
		if r := recover(); r != http.ErrAbortHandler {
			t.Errorf("the answer ended with %v", r)
		}
	}()
	ask(shelved("127.0.0.1:7070", "one\n"), "GET", "/-/artifacts/abc?lines=cut")
	t.Error("the answer was completed")
}

// The name is the right to read; pages of other sites and names that were rebound are kept out all the same.
func TestArtifactNeedsItsNameAndNoToken(t *testing.T) {
	f := func(o *Console, status int, target string, lines ...string) {
		t.Helper()
		if w := ask(o, "GET", target, lines...); w.Code != status {
			t.Errorf("%s %q: got %d %s, want %d", target, lines, w.Code, w.Body, status)
		}
	}
	beyond := shelved("0.0.0.0:7070", "one\n")
	f(beyond, 200, "/-/artifacts/abc")
	f(beyond, 404, "/-/artifacts/abd")
	f(beyond, 403, "/-/artifacts/")
	f(beyond, 404, "/-/artifacts/..%2fmetrics")
	f(beyond, 307, "/-/artifacts/../metrics")
	f(beyond, 403, "/-/artifacts/abc", "Host: evil.example")
	f(beyond, 403, "/-/artifacts/abc", "Origin: http://evil.example")
	f(beyond, 403, "/-/artifacts/abc", "Sec-Fetch-Site: cross-site")
	p := listening("127.0.0.1:7070")
	p.Artifacts = named{"one\n"}
	guarded := New(Config{Token: "secret", Hosts: []string{"epitome.example.com"}}, p)
	f(guarded, 200, "/-/artifacts/abc")
	f(guarded, 200, "/-/artifacts/abc", "Host: epitome.example.com")
	f(guarded, 401, "/-/metrics")
}
