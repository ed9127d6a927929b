package wire

import (
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// ErrBomb says that a compressed body holds more than may be taken out of it.
var ErrBomb = errors.New("the body is larger than max_body once it is decompressed")

// maxZstdWindow bounds what a frame may make the decoder allocate; RFC 9659 allows content codings 8 MB.
const maxZstdWindow = 8 << 20

// IsEncoded reports whether a body with that Content-Encoding is not the plain one.
func IsEncoded(encoding []byte) bool { return len(encoding) > 0 && !EqualFold(encoding, "identity") }

// NewDecoder reads src as a Content-Encoding value says, which may name one coding: gzip, deflate, br or zstd. It is
// for looking into bodies; what is forwarded stays as it came. Reading more than most bytes fails with ErrBomb.
// Close ends the decoder, not src.
func NewDecoder(encoding string, src io.Reader, most int64) (io.ReadCloser, error) {
	var r io.ReadCloser
	var err error
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "", "identity":
		return io.NopCloser(src), nil
	case "gzip", "x-gzip":
		r, err = gzip.NewReader(src)
	case "deflate":
		r, err = zlib.NewReader(src)
	case "br":
		r = io.NopCloser(brotli.NewReader(src))
	case "zstd":
		var d *zstd.Decoder
		d, err = zstd.NewReader(src, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(maxZstdWindow))
		if err == nil {
			r = d.IOReadCloser()
		}
	default:
		return nil, fmt.Errorf("cannot read content coding %q", encoding)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read a body as %s: %w", encoding, err)
	}
	return &bounded{r, most}, nil
}

// bounded fails with ErrBomb when more than left bytes come out of it.
type bounded struct {
	io.ReadCloser
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, ErrBomb
	}
	return n, err
}
