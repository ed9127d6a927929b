package load

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasthttp"
)

// A request asks by ?bench= how the upstream responds: with one event of a stream that goes on until the client leaves,
// with nothing until then, or else with a short answer as JSON.
const (
	streaming = "streaming"
	waiting   = "waiting"
)

// lengthHeader says in an answer how long the request's body was.
const lengthHeader = "X-Bench-Bytes"

// upstream is the scripted provider. It runs in this process, so that one clock times both ends.
type upstream struct {
	listener net.Listener
	held     chan chan time.Time // gets a channel for each request that is held, and that the end of its connection
}

func startUpstream() (*upstream, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("cannot listen for the upstream: %w", err)
	}
	u := &upstream{ln, make(chan chan time.Time)}
	server := &fasthttp.Server{Handler: u.serve, MaxRequestBodySize: 100 << 20}
	go func() { _ = server.Serve(ln) }() // without it every part of the run fails
	return u, nil
}

// serve answers a request.
func (u *upstream) serve(ctx *fasthttp.RequestCtx) {
	conn := ctx.Conn()
	switch string(ctx.QueryArgs().Peek("bench")) {
	case streaming:
		ctx.SetContentType("text/event-stream")
		ctx.SetBodyStreamWriter(func(w *bufio.Writer) {
			_, _ = w.WriteString("data: {}\n\n")
			_ = w.Flush() // untilGone notices a client that left
			u.untilGone(conn)
		})
	case waiting:
		u.untilGone(conn)
	default:
		length := len(ctx.PostBody())
		ctx.SetContentType("application/json")
		ctx.Response.Header.Set(lengthHeader, strconv.Itoa(length))
		ctx.SetBody(chatAnswer(length))
	}
}

// untilGone waits until the other end closes the connection.
func (u *upstream) untilGone(conn net.Conn) {
	gone := make(chan time.Time, 1)
	u.held <- gone
	_, _ = conn.Read(make([]byte, 1))
	gone <- time.Now()
}

// Baseline serves a minimal fasthttp reverse proxy on listen, host:port: it forwards requests to the URL upstream and
// streams the responses.
func Baseline(listen, upstream string) error {
	target := &fasthttp.HostClient{Addr: strings.TrimPrefix(upstream, "http://"), MaxConns: 8192,
		StreamResponseBody: true, MaxIdemponentCallAttempts: 1}
	server := &fasthttp.Server{MaxRequestBodySize: 100 << 20, Handler: func(ctx *fasthttp.RequestCtx) {
		ctx.Request.Header.Del("Connection")
		if err := target.Do(&ctx.Request, &ctx.Response); err != nil {
			ctx.Error("cannot reach the upstream: "+err.Error(), fasthttp.StatusBadGateway)
			return
		}
		ctx.Response.Header.Del("Connection")
		ctx.Response.ImmediateHeaderFlush = ctx.Response.Header.ContentLength() < 0
	}}
	return server.ListenAndServe(listen)
}

// words give bodies the letter mix of agent traffic, as the inside of a JSON string.
const words = "func return error build test file line read write value index buffer request answer stream token " +
	"model window header parse check commit branch merge import package struct pointer array string\\n "

const (
	largeModel = "bench-large" // its window is smaller than the largest conversation
	bodyEnd    = "]}"          // makes a request of a conversation
)

// conversation returns a Chat Completions request of almost size bytes, but for bodyEnd, the same for the same
// arguments: a system message, and calls of a tool with results of some bytes each. It returns where these end.
func conversation(model, tool string, result, size int) (body []byte, ends []int) {
	dice := rand.New(rand.NewPCG(1, uint64(size)))
	body = fmt.Appendf(nil, `{"model":%q,"messages":[{"role":"system","content":"You are a careful agent."}`, model)
	for call := 0; size-len(body) > 2*result; call++ {
		body = fmt.Appendf(body, `,{"role":"assistant","content":null,"tool_calls":[{"id":"call_%d","type":"function",`+
			`"function":{"name":%q,"arguments":"{\"path\":\"%[1]d\"}"}}]},`+
			`{"role":"tool","tool_call_id":"call_%[1]d","content":"`, call, tool)
		body = append(fill(body, len(body)+result, dice), `"}`...)
		ends = append(ends, len(body))
	}
	return body, ends
}

// fill adds words to a body up to size bytes.
func fill(body []byte, size int, dice *rand.Rand) []byte {
	all := strings.SplitAfter(words, " ")
	for {
		word := all[dice.IntN(len(all)-1)]
		if len(body)+len(word) > size {
			return append(body, strings.Repeat(" ", size-len(body))...)
		}
		body = append(body, word...)
	}
}

// chatBody returns a conversation of size bytes, at least 2,048, that ends with a user message. It names a model with a
// window of two million tokens, so that epitome leaves even the largest body alone.
func chatBody(size int) []byte {
	const end = `"}` + bodyEnd
	body, _ := conversation("grok-4-fast", "read_file", 1500, size)
	body = append(body, `,{"role":"user","content":"`...)
	return append(fill(body, size-len(end), rand.New(rand.NewPCG(1, 1))), end...)
}

// chatAnswer returns a response of about 1 KB to a request of so many bytes. Its count of the request's tokens is not
// lower than the true one, as epitome would take the provider for one that cuts requests.
func chatAnswer(request int) []byte {
	const bytesPerToken = 5
	return fmt.Appendf(nil, `{"id":"chatcmpl-bench","object":"chat.completion","model":"bench-model",`+
		`"choices":[{"index":0,"message":{"role":"assistant","content":"%s"},"finish_reason":"stop"}],`+
		`"usage":{"prompt_tokens":%d,"completion_tokens":150}}`, strings.Repeat(words, 4), request/bytesPerToken)
}
