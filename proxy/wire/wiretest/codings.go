// Package wiretest has what tests of the wire and of exchanges share: bodies in every content coding.
package wiretest

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"io"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// Codings are the ways a body may be compressed.
var Codings = []struct {
	Name   string // in Content-Encoding
	Encode func(io.Writer) io.WriteCloser
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

// Encode is a body as it comes through the layers, the first one innermost.
func Encode(tb testing.TB, body []byte, layers ...func(io.Writer) io.WriteCloser) []byte {
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
