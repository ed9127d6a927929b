package proxy

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"
	brrr "github.com/molecule-man/go-brrr"
	"github.com/valyala/fasthttp"

	"epitome/event"
	"epitome/proxy/wire"
	"epitome/rewrite"
)

// receive reads the request's body, at most the given number of bytes.
func (x *exchange) receive(most int64) (err error) {
	if x.unread {
		x.client.BeginBody(x.set.conf.limits.arrive)
		length := max(int64(x.ctx.Request.Header.ContentLength()), -1)
		x.body, err = x.room.readAll(x.life, x.ctx.RequestBodyStream(), length, most)
		x.client.BeginBody(0)
		if err != nil {
			return x.whyUnread(err)
		}
		x.unread = false
		x.event.RequestBytes = int64(len(x.body))
	}
	x.event.Start = time.Now() // begin has set it for requests that are refused before they have come whole
	return nil
}

// whyUnread returns the answer to a request that could not be read because of err.
func (x *exchange) whyUnread(err error) error {
	_, isLargeHead := errors.AsType[*fasthttp.ErrSmallBuffer](err)
	switch {
	case errors.Is(err, errTooLarge):
		return refuse(413, "request_too_large", fmt.Sprintf(
			"the request's body is larger than max_body (%s): shorten it, or raise max_body", x.set.conf.MaxBody))
	case x.life.Err() != nil, x.client.HasLeft():
		return &wire.Failure{Fault: event.ClientGone, Err: wire.ErrGone}
	case errors.Is(err, errNoRoom):
		return refuse(503, "busy", "the requests under way fill max_in_flight: try again, or raise it",
			"Retry-After: 1\r\n")
	case isLargeHead:
		return refuse(431, "header_too_large", "the request's headers are larger than 16 KB: shorten them")
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, fasthttp.ErrTimeout):
		return refuse(408, "request_timeout", "the request did not arrive in time: send it faster")
	case strings.Contains(err.Error(), `"\x16\x03`): // it quotes the beginning
		return refuse(400, "bad_request",
			"the client speaks TLS: write http:// in its base URL, or give epitome a certificate in [tls]")
	case strings.Contains(err.Error(), `"PRI * HTTP/2`):
		return refuse(400, "bad_request", "the client speaks HTTP/2: have it use HTTP/1.1")
	}
	return refuse(400, "bad_request",
		"epitome cannot read the request as HTTP/1.1: check the client, and any proxy before epitome")
}

// refuseUnread answers a request whose head could not be read.
func (p *Proxy) refuseUnread(ctx *fasthttp.RequestCtx, err error) {
	defer p.drop(ctx)
	x := p.begin(ctx)
	x.event.Method, x.event.Path, x.unread = "", "", true
	x.err = x.whyUnread(err)
	x.end()
}

// rooms bounds the memory of the bodies under way. A body takes room as its bytes arrive, so a slow one is in nobody's
// way. When all room is taken, one body at a time goes on without: it will end and free its room, where many bodies
// that are half there would wait for each other for ever.
type rooms struct {
	free  *rewrite.Turns // bytes
	extra chan struct{}  // holds the token of the body that goes on without room
	wait  time.Duration  // how long a body waits for more room
}

// newRooms returns the room for bodies of inFlight bytes together, with a rewritten copy of each. It keeps back what a
// body of maxBody bytes needs.
func newRooms(inFlight, maxBody int64, wait time.Duration) *rooms {
	free := rewrite.NewTurns(max(inFlight/2-maxBody, 0))
	return &rooms{free: free, extra: make(chan struct{}, 1), wait: wait}
}

// room is the memory that the bodies of one request have.
type room struct {
	all    *rooms
	turn   string // names the client that waits in turn with others
	bytes  int64
	taken  int64     // of bytes: those that are missing in all.free
	extra  bool      // it goes on without room
	pooled []*[]byte // what memory has taken from bodyPools
}

// freeBody is how many bytes of a body take no room: max_connections bounds them. So small requests never wait.
const freeBody = 64 << 10

// bodyPools hold the memory of bodies of freeBody bytes or more for the next requests, each that of sizes below the
// next power of two. Without them the garbage collector runs so often that a body of 800 KB costs half as much CPU time
// again. From room.memory to room.release the memory is one exchange's. Nothing that lives on may refer to it.
var bodyPools [64]sync.Pool

var (
	errTooLarge = errors.New("the body is too large")
	errNoRoom   = errors.New("there is no room for the body")
)

// take adds n bytes to the room. It waits for them, but not beyond the end of ctx.
func (r *room) take(ctx context.Context, n int64) error {
	r.bytes += n
	need := r.bytes - freeBody - r.taken
	if need <= 0 || r.extra {
		return nil
	}
	if !r.all.free.TryAcquire(need) {
		return r.await(ctx, need)
	}
	r.taken += need
	return nil
}

// await waits for room, or to be the body that goes on without. Clients get room in turn.
func (r *room) await(ctx context.Context, need int64) error {
	ctx, cancel := context.WithTimeout(ctx, r.all.wait)
	defer cancel()
	acquired := make(chan error, 1)
	go func() { acquired <- r.all.free.AcquireFor(ctx, r.turn, need) }()
	select {
	case err := <-acquired:
		if err != nil {
			return errNoRoom
		}
	case r.all.extra <- struct{}{}:
		cancel()
		if <-acquired != nil {
			r.extra = true
			return nil
		}
		<-r.all.extra // there is room after all
	}
	r.taken += need
	return nil
}

// release gives everything back, and the memory of the body too.
func (r *room) release() {
	r.giveBack(0, len(r.pooled))
	if r.extra {
		<-r.all.extra
	}
	r.all.free.Release(r.taken)
	*r = room{all: r.all}
}

// giveBack gives a part of r.pooled to the next requests.
func (r *room) giveBack(from, end int) {
	for _, body := range r.pooled[from:end] {
		bodyPools[bits.Len(uint(cap(*body)))].Put(body)
	}
	r.pooled = slices.Delete(r.pooled, from, end)
}

// memory returns an empty slice for a body of size bytes. The exchange may use it until release.
func (r *room) memory(size int) []byte {
	if size < freeBody {
		return make([]byte, 0, size)
	}
	class := bits.Len(uint(size))
	body, ok := bodyPools[class].Get().(*[]byte)
	if !ok || cap(*body) < size { // the conversation's next bodies will be a little larger
		body = new(make([]byte, 0, min(size+size/8, 1<<class-1)))
	}
	r.pooled = append(r.pooled, body)
	return (*body)[:0:size]
}

// largeBody is how many bytes a body has whose memory grows as its bytes arrive.
const largeBody = 1 << 20

// readAll reads src to its end, taking room as bytes arrive. length is how many bytes will come; -1 if that is not
// known. More than most bytes are errTooLarge.
func (r *room) readAll(ctx context.Context, src io.Reader, length, most int64) (body []byte, err error) {
	if length > most {
		return nil, errTooLarge
	}
	first := len(r.pooled)
	size := length // of the memory to have next
	if length < 0 || length > largeBody {
		size = min(freeBody, most+1) // more when that has come
	}
	for err == nil && int64(len(body)) <= most {
		if len(body) == cap(body) {
			if err := r.take(ctx, size-int64(len(body))); err != nil {
				return nil, err
			}
			smaller := len(r.pooled)
			body = append(r.memory(int(size)), body...)
			r.giveBack(first, smaller)
			size = min(16*size, most+1)
			if length >= 0 {
				size = min(size, length)
			}
		}
		var n int
		n, err = src.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
	}
	if int64(len(body)) > most {
		return nil, errTooLarge
	}
	if err != io.EOF {
		return nil, err
	}
	return body, nil
}

// maxZstdWindow bounds the memory that a frame may make the decoder allocate; RFC 9659 allows content codings 8 MB.
const maxZstdWindow = 8 << 20

// isEncoded reports whether a body with that Content-Encoding is not the plain one.
func isEncoded(coding string) bool { return coding != "" && !strings.EqualFold(coding, "identity") }

// codingOf returns the content coding of an answer.
func codingOf(a *wire.Answer) string { return string(wire.Values(a.Block, "content-encoding")) }

// newDecoder reads src as a Content-Encoding value says, which may name one coding: gzip, br or zstd. It is for reading
// bodies; they are forwarded as they came. Close ends the decoder, not src.
func newDecoder(coding string, src io.Reader) (r io.ReadCloser, err error) {
	switch strings.ToLower(strings.TrimSpace(coding)) {
	case "gzip":
		r, err = gzip.NewReader(src)
	case "br":
		r = io.NopCloser(brrr.NewReader(src))
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

// decode returns a body without its content coding. Of an encoded one it returns at most the given number of bytes, and
// an error if that is not all.
func decode(coding string, body []byte, most int64) ([]byte, error) {
	if !isEncoded(coding) {
		return body, nil
	}
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
