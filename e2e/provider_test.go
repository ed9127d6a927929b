//go:build e2e

package e2e_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// provider is a small OpenAI: it answers by the model's name and remembers what it was asked.
type provider struct {
	mu      sync.Mutex
	seen    []asked // guarded by mu
	refused bool    // guarded by mu; the 429 of model "retry" has been given
}

func newProvider(t *testing.T) server {
	p := &provider{}
	s := httptest.NewServer(p)
	t.Cleanup(s.Close)
	return server{s.URL + "/v1", func() []asked {
		p.mu.Lock()
		defer p.mu.Unlock()
		return slices.Clone(p.seen)
	}}
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	first := p.note(asked{method: r.Method, target: r.RequestURI, header: r.Header, body: body})
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

// note remembers what was asked and tells whether it is the first with model "retry".
func (p *provider) note(a asked) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = append(p.seen, a)
	if p.refused || !bytes.Contains(a.body, []byte(`"model":"retry"`)) {
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
