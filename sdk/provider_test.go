package sdk_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// request is what reached the provider, as it stood on the wire.
type request struct {
	Line   string   // method, target and protocol
	Header []string // "Name: value" in the sender's spelling, sorted; without those of the single connection
	Body   string
}

// provider is a small OpenAI: it answers by the model's name and remembers what it was asked.
type provider struct {
	URL string // base URL, ending in /v1

	// mu guards the fields below; they are emptied by take.
	mu      sync.Mutex
	seen    []request
	refused bool // the 429 of model "retry" has been given
}

func newProvider(t *testing.T) *provider {
	p := &provider{}
	server := httptest.NewUnstartedServer(http.HandlerFunc(p.serve))
	server.Listener = wireListener{server.Listener}
	server.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(ctx, wireKey{}, c)
	}
	server.Start()
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	p.URL = server.URL + "/v1"
	return p
}

// take returns the requests since the last take and makes the provider new.
func (p *provider) take() []request {
	p.mu.Lock()
	defer p.mu.Unlock()
	seen := p.seen
	p.seen, p.refused = nil, false
	return seen
}

func (p *provider) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	raw := r.Context().Value(wireKey{}).(*wire).take()
	first := p.note(parseHead(raw, string(body)), body)
	w.Header().Set("X-Request-Id", "req_1")
	var ask struct {
		Model    string
		Messages []struct{ Role string }
	}
	if r.URL.Path != "/v1/chat/completions" || json.Unmarshal(body, &ask) != nil {
		http.NotFound(w, r)
		return
	}
	answered := slices.ContainsFunc(ask.Messages, func(m struct{ Role string }) bool { return m.Role == "tool" })
	switch {
	case ask.Model == "stream":
		stream(w, textChunks)
	case ask.Model == "tools" && !answered:
		stream(w, toolChunks)
	case ask.Model == "retry" && first:
		w.Header().Set("Retry-After", "1")
		w.Header().Set("Retry-After-Ms", "50")
		answer(w, http.StatusTooManyRequests,
			`{"error":{"message":"Slow down.","type":"requests","param":null,"code":"rate_limit_exceeded"}}`)
	case ask.Model == "refused":
		answer(w, http.StatusBadRequest,
			`{"error":{"message":"No such thing: \u00fc <&>.","type":"invalid_request_error","param":"model","code":"no_such_thing"}}`)
	case ask.Model == "chat" && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip"):
		w.Header().Set("Content-Encoding", "gzip")
		answer(w, http.StatusOK, zipped(completion))
	default:
		answer(w, http.StatusOK, completion)
	}
}

// note remembers seen and tells whether it is the first with model "retry".
func (p *provider) note(seen request, body []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = append(p.seen, seen)
	if p.refused || !bytes.Contains(body, []byte(`"model":"retry"`)) {
		return false
	}
	p.refused = true
	return true
}

func answer(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	io.WriteString(w, body)
}

// stream sends each chunk in a flush of its own, between a comment and the closing [DONE].
func stream(w http.ResponseWriter, chunks []string) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	for _, event := range slices.Concat([]string{": warming up"}, chunks, []string{"data: [DONE]"}) {
		fmt.Fprintf(w, "%s\n\n", event)
		w.(http.Flusher).Flush()
	}
}

func zipped(text string) string {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	io.WriteString(z, text)
	z.Close()
	return out.String()
}

const completion = `{"id":"chatcmpl-1","object":"chat.completion","created":1700000000,"model":"fake","choices":[{"index":0,` +
	`"message":{"role":"assistant","content":"12 °C and rain <&>","refusal":null},"logprobs":null,"finish_reason":"stop"}],` +
	`"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13}}`

var textChunks = []string{
	chunk(`{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}`),
	chunk(`{"index":0,"delta":{"content":"12 °"},"finish_reason":null}`),
	chunk(`{"index":0,"delta":{"content":"C and "},"finish_reason":null}`),
	chunk(`{"index":0,"delta":{"content":"rain"},"finish_reason":null}`),
	chunk(`{"index":0,"delta":{},"finish_reason":"stop"}`),
	`data: {"id":"chatcmpl-2","object":"chat.completion.chunk","created":1700000000,"model":"fake","choices":[],` +
		`"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13}}`,
}

var toolChunks = []string{
	chunk(`{"index":0,"delta":{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"call_1","type":"function",` +
		`"function":{"name":"get_weather","arguments":""}}]},"finish_reason":null}`),
	chunk(`{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"ci"}}]},"finish_reason":null}`),
	chunk(`{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"ty\":\"Zürich\"}"}}]},"finish_reason":null}`),
	chunk(`{"index":0,"delta":{},"finish_reason":"tool_calls"}`),
}

// chunk is one event of a stream with the one choice given.
func chunk(choice string) string {
	return `data: {"id":"chatcmpl-2","object":"chat.completion.chunk","created":1700000000,"model":"fake","choices":[` +
		choice + `]}`
}

// wireListener hands out connections that remember what was read from them:
// net/http itself forgets the spelling of header names.
type wireListener struct{ net.Listener }

func (l wireListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &wire{Conn: c}, nil
}

type wireKey struct{}

type wire struct {
	net.Conn

	mu   sync.Mutex // guards read
	read []byte
}

func (w *wire) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	w.mu.Lock()
	w.read = append(w.read, p[:n]...)
	w.mu.Unlock()
	return n, err
}

// take returns what was read since the last take: one request, as no client here sends the next one early.
func (w *wire) take() []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	read := w.read
	w.read = nil
	return read
}

func parseHead(raw []byte, body string) request {
	head, _, _ := strings.Cut(string(raw), "\r\n\r\n")
	lines := strings.Split(head, "\r\n")
	header := slices.DeleteFunc(lines[1:], func(line string) bool {
		name, _, _ := strings.Cut(line, ":")
		return slices.Contains([]string{"host", "connection", "keep-alive"}, strings.ToLower(name))
	})
	slices.Sort(header)
	return request{Line: lines[0], Header: header, Body: body}
}
