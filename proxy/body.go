package proxy

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/sync/semaphore"

	"epitome/proxy/wire"
)

// freeBody is how many bytes a body may have without taking room: max_connections bounds such bodies, so that small
// requests never wait.
const freeBody = 64 << 10

// room is the memory that the bodies of one request take out of max_in_flight.
type room struct {
	all  *semaphore.Weighted // of all requests, in bytes
	wait time.Duration       // how long a body waits for its room
	held int64
	body *[]byte // memory from bodyPool; nil if there is none
}

// bodyPool holds the memory of bodies of freeBody to largeBody bytes for the next requests. Without it the garbage
// collector runs so often that a body of 800 KB costs half as much CPU time again.
var bodyPool sync.Pool

// newRoom returns the memory for all bodies: half of max_in_flight, as each may have a rewritten copy, but enough for
// one request of max_body bytes in two forms.
func newRoom(inFlight, maxBody int64) *semaphore.Weighted {
	return semaphore.NewWeighted(max(inFlight/2, 2*maxBody))
}

var (
	errTooLarge = errors.New("the body is too large")
	errNoRoom   = errors.New("there is no room for the body")
)

// take adds n bytes to the room. It waits for them, but not beyond the end of ctx.
func (r *room) take(ctx context.Context, n int64) error {
	if !r.all.TryAcquire(n) {
		ctx, cancel := context.WithTimeout(ctx, r.wait)
		defer cancel()
		if r.all.Acquire(ctx, n) != nil {
			return errNoRoom
		}
	}
	r.held += n
	return nil
}

// release gives everything back, and the memory of the body too.
func (r *room) release() {
	if r.body != nil {
		bodyPool.Put(r.body)
		r.body = nil
	}
	r.giveBack(r.held)
}

func (r *room) giveBack(n int64) {
	r.all.Release(n)
	r.held -= n
}

// memory returns size bytes for a body.
func (r *room) memory(size int64) []byte {
	if size < freeBody || size > largeBody {
		return make([]byte, size)
	}
	body, ok := bodyPool.Get().(*[]byte)
	if !ok || int64(cap(*body)) < size {
		body = new(make([]byte, size))
	}
	r.body = body
	return (*body)[:size]
}

// readAll reads src to its end. It takes room for all of it at the beginning: for length bytes, or for most bytes where
// length is -1, of which it gives the rest back. More than most bytes are errTooLarge.
func (r *room) readAll(ctx context.Context, src io.Reader, length, most int64) ([]byte, error) {
	size := length
	if length < 0 {
		size = most
	}
	if length > most {
		return nil, errTooLarge
	}
	if size <= freeBody {
		size = 0
	}
	if err := r.take(ctx, size); err != nil {
		return nil, err
	}
	if length >= 0 {
		body := r.memory(length)
		_, err := io.ReadFull(src, body)
		return body, err
	}
	body, err := io.ReadAll(io.LimitReader(src, most+1))
	if int64(len(body)) > most {
		return nil, errTooLarge
	}
	r.giveBack(max(0, size-int64(len(body))))
	return body, err
}

// errBomb reports that a compressed body holds more than max_body.
var errBomb = errors.New("the body is larger than max_body once it is decompressed")

// maxZstdWindow bounds the memory that a frame may make the decoder allocate; RFC 9659 allows content codings 8 MB.
const maxZstdWindow = 8 << 20

// isEncoded reports whether a body with that Content-Encoding is not the plain one.
func isEncoded(coding []byte) bool { return len(coding) > 0 && !wire.EqualFold(coding, "identity") }

// newDecoder reads src as a Content-Encoding value says, which may name one coding: gzip, deflate, br or zstd. It is
// for reading bodies; they are forwarded as they came. Close ends the decoder, not src.
func newDecoder(coding string, src io.Reader) (r io.ReadCloser, err error) {
	switch strings.ToLower(strings.TrimSpace(coding)) {
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
		return plain[:most], errBomb
	}
	return plain, err
}

// decoded returns the request's body without its content coding, at most max_body of it. The error is errBomb,
// errEncoded or errNoRoom.
func (x *exchange) decoded() ([]byte, error) {
	coding := wire.Values(x.head, "content-encoding")
	switch {
	case !isEncoded(coding):
		return x.body, nil
	case x.plain != nil:
		return x.plain, nil
	}
	r, err := newDecoder(string(coding), bytes.NewReader(x.body))
	if err != nil {
		return nil, errEncoded
	}
	defer func() { _ = r.Close() }()
	plain, err := x.room.readAll(x.life, r, -1, int64(x.set.conf.MaxBody))
	switch {
	case errors.Is(err, errTooLarge):
		return nil, errBomb
	case errors.Is(err, errNoRoom):
		return nil, errNoRoom
	case err != nil:
		return nil, errEncoded
	}
	x.plain = plain
	return plain, nil
}
