package proxy

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"runtime"
	"testing"

	"github.com/klauspost/compress/zstd"
	brrr "github.com/molecule-man/go-brrr"
)

const mb = 1 << 20 // bytes

// codings are the ways a body may be compressed.
var codings = []struct {
	name   string // in Content-Encoding
	encode func(io.Writer) io.WriteCloser
}{
	{"gzip", func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }},
	{"br", brotli},
	{"zstd", zstdWith(1 << 20)},
}

func brotli(w io.Writer) io.WriteCloser {
	b, err := brrr.NewWriter(w, brrr.BestSpeed)
	if err != nil {
		panic(err)
	}
	return b
}

// zstdWith encodes with a window of that many bytes.
func zstdWith(window int) func(io.Writer) io.WriteCloser {
	return func(w io.Writer) io.WriteCloser {
		z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window))
		if err != nil {
			panic(err)
		}
		return z
	}
}

// encode compresses a body.
func encode(tb testing.TB, body []byte, coding func(io.Writer) io.WriteCloser) []byte {
	tb.Helper()
	var out bytes.Buffer
	w := coding(&out)
	// In two parts, so that zstd does not know the size at first.
	for _, part := range [][]byte{body[:len(body)/2], body[len(body)/2:]} {
		if _, err := w.Write(part); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

// Promise 10.
func TestBombsAreRefusedWithBoundedMemory(t *testing.T) {
	for _, c := range codings {
		bomb := encode(t, make([]byte, 20*mb), c.encode)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := decode(c.name, bomb, mb)
		runtime.ReadMemStats(&after)
		if !errors.Is(err, errTooLarge) {
			t.Errorf("%q: error %v, want %v", c.name, err, errTooLarge)
		}
		if spent := after.TotalAlloc - before.TotalAlloc; spent > 16*mb {
			t.Errorf("%q: %d bytes were allocated for a limit of %d", c.name, spent, mb)
		}
	}
	// A zstd frame says how much memory it wants; more than RFC 9659 grants is refused before it is allocated.
	if _, err := decode("zstd", encode(t, make([]byte, 24*mb), zstdWith(16*mb)), 64*mb); err == nil ||
		errors.Is(err, errTooLarge) {
		t.Errorf("got error %v, want one about the window", err)
	}
}
