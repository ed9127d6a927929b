package proxy

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"epitome/proxy/wire"
)

// maxZstdWindow bounds the memory that a frame may make the decoder allocate; RFC 9659 allows content codings 8 MB.
const maxZstdWindow = 8 << 20

// isEncoded reports whether a body with that Content-Encoding is not the plain one.
func isEncoded(coding string) bool { return coding != "" && !strings.EqualFold(coding, "identity") }

// codingOf returns the content coding of an answer.
func codingOf(a *wire.Answer) string { return string(wire.Values(a.Block, "content-encoding")) }

// newDecoder reads src as a Content-Encoding value says, which may name one coding: gzip, br or zstd. It is
// for reading bodies; they are forwarded as they came. Close ends the decoder, not src.
func newDecoder(coding string, src io.Reader) (r io.ReadCloser, err error) {
	switch strings.ToLower(strings.TrimSpace(coding)) {
	case "", "identity":
		return io.NopCloser(src), nil
	case "gzip":
		r, err = gzip.NewReader(src)
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
		err = errors.New("the content coding is not supported")
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read a body as %s: %w", coding, err)
	}
	return r, nil
}

// decode returns a body without its content coding, at most the given number of bytes, and an error if that is not
// the whole body.
func decode(coding string, body []byte, most int64) ([]byte, error) {
	r, err := newDecoder(coding, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	plain, err := io.ReadAll(io.LimitReader(r, most+1))
	if int64(len(plain)) > most {
		return plain[:most], errTooLarge
	}
	return plain, err
}

// decoded returns the request's body without its content coding, at most max_body of it.
func (x *exchange) decoded() ([]byte, error) {
	coding := string(wire.Values(x.head, "content-encoding"))
	if !isEncoded(coding) {
		return x.body, nil
	}
	if x.plain != nil {
		return x.plain, nil
	}
	r, err := newDecoder(coding, bytes.NewReader(x.body))
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	x.plain, err = x.room.readAll(x.life, r, -1, int64(x.set.conf.MaxBody))
	return x.plain, err
}
