package load

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/valyala/fasthttp"
)

// A target says how the upstream responds: with a short answer as JSON, or by ?bench=KIND&try=ID with one event that
// goes on as a stream (streaming) or with nothing (waiting), until the client leaves.
const (
	chatPath  = "/v1/chat/completions"
	streaming = "streaming"
	waiting   = "waiting"
)

// lengthHeader says how long the body is. No proxy corrects it, as it would Content-Length.
const lengthHeader = "X-Bench-Bytes"

// upstream is the scripted provider. It runs in this process, so that one clock times both ends.
type upstream struct {
	addr  string
	close func() error
	tries sync.Map // ID to *try
}

// try is one client that is about to leave.
type try struct {
	arrived chan struct{}
	gone    chan time.Time // the end of the upstream's connection
}

func newTry() *try { return &try{make(chan struct{}, 1), make(chan time.Time, 1)} }

func startUpstream() (*upstream, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("cannot listen for the upstream: %w", err)
	}
	u := &upstream{addr: ln.Addr().String(), close: ln.Close}
	server := &fasthttp.Server{Handler: u.serve, MaxRequestBodySize: 100 << 20}
	go func() { _ = server.Serve(ln) }() // without it every part of the run fails
	return u, nil
}

func (u *upstream) serve(ctx *fasthttp.RequestCtx) {
	made, length := string(ctx.Request.Header.Peek(lengthHeader)), len(ctx.PostBody())
	if made != "" && made != strconv.Itoa(length) {
		// The run measures how bodies pass unchanged.
		ctx.Error(fmt.Sprintf("the body had %s bytes and arrived with %d", made, length), fasthttp.StatusConflict)
		return
	}
	t := newTry()
	if known, ok := u.tries.Load(string(ctx.QueryArgs().Peek("try"))); ok {
		t = known.(*try)
	}
	conn := ctx.Conn()
	switch string(ctx.QueryArgs().Peek("bench")) {
	case streaming:
		ctx.SetContentType("text/event-stream")
		ctx.SetBodyStreamWriter(func(w *bufio.Writer) {
			_, _ = w.WriteString("data: {}\n\n")
			_ = w.Flush() // untilGone notices a client that left
			t.untilGone(conn)
		})
	case waiting:
		t.untilGone(conn)
	default:
		ctx.SetContentType("application/json")
		ctx.SetBody(chatAnswer(length))
	}
}

// untilGone waits until the other end closes the connection.
func (t *try) untilGone(conn net.Conn) {
	t.arrived <- struct{}{}
	_, _ = conn.Read(make([]byte, 1))
	t.gone <- time.Now()
}

// answerLimit bounds one exchange: a proxy that hangs fails the run.
const answerLimit = time.Minute

// client returns a client with so many persistent connections to the lane.
func (l *lane) client(conns int) *fasthttp.HostClient {
	return &fasthttp.HostClient{Addr: l.addr, MaxConns: conns, ReadTimeout: answerLimit, WriteTimeout: answerLimit,
		MaxIdemponentCallAttempts: 1}
}

// request returns a POST with a body; a GET without one.
func (l *lane) request(target string, body []byte) *fasthttp.Request {
	r := &fasthttp.Request{}
	r.SetRequestURI("http://" + l.addr + target)
	r.Header.Set("Authorization", "Bearer bench")
	if body != nil {
		r.Header.SetMethod(fasthttp.MethodPost)
		r.Header.SetContentType("application/json")
		r.Header.Set(lengthHeader, strconv.Itoa(len(body)))
		r.SetBodyRaw(body)
	}
	return r
}

// exchange sends a request and reads the whole response, which must have status 200.
func exchange(c *fasthttp.HostClient, request *fasthttp.Request) error {
	response := fasthttp.AcquireResponse()
	defer fasthttp.ReleaseResponse(response)
	if err := c.Do(request, response); err != nil {
		return err
	}
	if response.StatusCode() != fasthttp.StatusOK {
		return fmt.Errorf("the response has status %d: %.200q", response.StatusCode(), response.Body())
	}
	return nil
}

// open sends a request over a connection of its own, which the caller closes.
func (l *lane) open(target string, body []byte) (net.Conn, error) {
	conn, err := net.DialTimeout("tcp", l.addr, answerLimit)
	if err != nil {
		return nil, err
	}
	w := bufio.NewWriter(conn)
	return conn, errors.Join(conn.SetDeadline(time.Now().Add(answerLimit)), l.request(target, body).Write(w), w.Flush())
}

// Baseline serves a minimal fasthttp reverse proxy on listen until ctx ends: it forwards requests to upstream and
// streams the responses. Both are host:port.
func Baseline(ctx context.Context, listen, upstream string) error {
	target := &fasthttp.HostClient{Addr: upstream, MaxConns: 8192, StreamResponseBody: true, DisablePathNormalizing: true,
		NoDefaultUserAgentHeader: true, MaxIdemponentCallAttempts: 1}
	server := &fasthttp.Server{NoDefaultServerHeader: true, MaxRequestBodySize: 100 << 20, ReadBufferSize: 32 << 10,
		Handler: func(ctx *fasthttp.RequestCtx) {
			ctx.Request.Header.Del("Connection")
			if err := target.Do(&ctx.Request, &ctx.Response); err != nil {
				ctx.Error("cannot reach the upstream: "+err.Error(), fasthttp.StatusBadGateway)
				return
			}
			ctx.Response.Header.Del("Connection")
			ctx.Response.ImmediateHeaderFlush = ctx.Response.Header.ContentLength() < 0
		}}
	ln, err := net.Listen("tcp", listen)
	if err != nil {
		return fmt.Errorf("cannot listen on %s: %w", listen, err)
	}
	context.AfterFunc(ctx, func() { _ = ln.Close() })
	if err := server.Serve(ln); ctx.Err() == nil {
		return fmt.Errorf("cannot serve on %s: %w", listen, err)
	}
	return nil
}
