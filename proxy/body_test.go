package proxy

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

const mb = 1 << 20 // bytes

// codings are the ways a body may be compressed.
var codings = []struct {
	name   string // in Content-Encoding
	encode func(io.Writer) io.WriteCloser
}{
	{"gzip", func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }},
	{"x-gzip", func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }},
	{"deflate", func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) }},
	{"br", func(w io.Writer) io.WriteCloser { return brotli.NewWriterLevel(w, brotli.BestSpeed) }},
	{"zstd", newZstd},
}

func newZstd(w io.Writer) io.WriteCloser {
	z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
	if err != nil {
		panic(err)
	}
	return z
}

// encode is a body as it comes through the layers, the first one innermost.
func encode(tb testing.TB, body []byte, layers ...func(io.Writer) io.WriteCloser) []byte {
	tb.Helper()
	for _, layer := range layers {
		var out bytes.Buffer
		w := layer(&out)
		if _, err := w.Write(body); err != nil {
			tb.Fatal(err)
		}
		if err := w.Close(); err != nil {
			tb.Fatal(err)
		}
		body = out.Bytes()
	}
	return body
}

// plainBodies compress well, not at all, and hardly.
func plainBodies() map[string][]byte {
	noise := make([]byte, 100_000)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(noise)
	return map[string][]byte{
		"empty": {}, "byte": {'{'}, "JSON": []byte(strings.Repeat(`{"role":"user","content":"hi"},`, 5000)), "noise": noise,
	}
}

func TestDecodedIsTheOriginal(t *testing.T) {
	f := func(encoding string, body, encoded []byte) {
		t.Helper()
		got, err := decode(encoding, encoded, mb)
		if err != nil || !bytes.Equal(got, body) {
			t.Errorf("%q: got %d bytes (%v), want the %d that were encoded", encoding, len(got), err, len(body))
		}
	}
	for _, body := range plainBodies() {
		f("", body, body)
		f("identity", body, body)
		f("IDENTITY", body, body)
		for _, c := range codings {
			f(c.name, body, encode(t, body, c.encode))
			f(" "+strings.ToUpper(c.name)+"\t", body, encode(t, body, c.encode))
		}
	}
	two := append(encode(t, []byte("a"), codings[0].encode),
		encode(t, []byte("b"), codings[0].encode)...)
	f("gzip", []byte("ab"), two) // members one behind the other are one body
}

// A body that was cut must not pass for a shorter one, wherever it was cut.
func TestTruncatedBodyIsAnError(t *testing.T) {
	body := []byte(`{"model":"x","messages":[` + strings.Repeat(`{"role":"user"},`, 20) + `]}`)
	for _, c := range codings {
		whole := encode(t, body, c.encode)
		for n := 1; n < len(whole); n++ {
			if got, err := decode(c.name, whole[:n], mb); err == nil {
				t.Errorf("%s: the first %d of %d bytes were read as %q", c.name, n, len(whole), got)
			}
		}
	}
}

func TestBombsAreRefusedWithBoundedMemory(t *testing.T) {
	const most = mb
	zeros := make([]byte, 32*most)
	f := func(encoding string, bomb []byte) {
		t.Helper()
		if len(bomb) > int(most)/4 {
			t.Fatalf("%q: %d bytes are no bomb", encoding, len(bomb))
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := decode(encoding, bomb, most)
		runtime.ReadMemStats(&after)
		if !errors.Is(err, errTooLarge) {
			t.Errorf("%q: error %v, want %v", encoding, err, errTooLarge)
		}
		if spent := after.TotalAlloc - before.TotalAlloc; spent > 16<<20 {
			t.Errorf("%q: %d bytes were allocated for a limit of %d", encoding, spent, most)
		}
	}
	for _, c := range codings {
		f(c.name, encode(t, zeros, c.encode))
	}
}

// A zstd frame says how much memory it wants; more than RFC 9659 grants is refused before it is allocated.
func TestGreedyZstdWindowIsRefused(t *testing.T) {
	var out bytes.Buffer
	w, err := zstd.NewWriter(&out, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(2*(8<<20)))
	if err != nil {
		t.Fatal(err)
	}
	zeros := make([]byte, 3*(8<<20))
	for range 2 { // in two writes, so that the frame's size is not known at its beginning
		if _, err := w.Write(zeros); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := decode("zstd", out.Bytes(), 64*mb); err == nil || errors.Is(err, errTooLarge) {
		t.Errorf("got error %v, want one about the window", err)
	}
}
