package wire

import (
	"bufio"
	"compress/flate"
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

// maxCodings bounds how often a body may have been compressed.
const maxCodings = 2

// NewDecoder reads src as the codings of a Content-Encoding value say, the last one first. It is for looking into
// bodies; what is forwarded stays as it came. Close ends the decoder, not src.
// No coding gives more than most bytes, also not to the next.
func NewDecoder(encoding string, src io.Reader, most int64) (io.ReadCloser, error) {
	r := io.NopCloser(src)
	codings := strings.Split(strings.ToLower(encoding), ",")
	if len(codings) > maxCodings {
		return nil, fmt.Errorf("cannot read a body with %d content codings", len(codings))
	}
	for i := len(codings) - 1; i >= 0; i-- {
		next, err := decodeOne(strings.TrimSpace(codings[i]), r)
		if err != nil {
			return nil, err
		}
		r = &bounded{next, most}
	}
	return r, nil
}

// bounded fails with errBomb when more than left bytes come out of it.
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

// decodeOne reads src as one coding says.
func decodeOne(coding string, src io.Reader) (io.ReadCloser, error) {
	switch coding {
	case "", "identity":
		return io.NopCloser(src), nil
	case "gzip", "x-gzip":
		return gzip.NewReader(src)
	case "deflate":
		return inflate(src)
	case "br":
		return io.NopCloser(brotli.NewReader(src)), nil
	case "zstd":
		d, err := zstd.NewReader(src, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(maxZstdWindow))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	}
	return nil, fmt.Errorf("cannot read content coding %q", coding)
}

// maxZstdWindow bounds what a frame may make the decoder allocate; RFC 9659 allows content codings 8 MB.
const maxZstdWindow = 8 << 20

// inflate reads both things that are sent as deflate: the zlib format, which is meant, and raw deflate.
func inflate(src io.Reader) (io.ReadCloser, error) {
	br := bufio.NewReader(src)
	head, err := br.Peek(2)
	if err == nil && head[0]&0x0f == 8 && (uint(head[0])<<8|uint(head[1]))%31 == 0 {
		return zlib.NewReader(br)
	}
	return flate.NewReader(br), nil
}

// IsEncoded reports whether a body with that Content-Encoding is not the plain one.
func IsEncoded(encoding []byte) bool { return len(encoding) > 0 && !EqualFold(encoding, "identity") }
