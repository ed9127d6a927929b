package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
	"unicode/utf8"
)

// model is a server that speaks chat completions. It refuses what is larger than its window, and calls and results out
// of order. It keeps a prompt cache. Its script says what it answers to a request that it takes.
type model struct {
	window int
	ruler  *ruler
	script *script
	server *http.Server
	url    string // base, with /v1

	mu     sync.Mutex
	heard  []hearing // since take
	before *hearing  // the last request of the session
	answer *message  // what the model said to before
}

// hearing is one request as it came to the model.
type hearing struct {
	*view
	body    []byte
	cached  int // tokens that the prompt cache held
	same    int // leading messages that the request before had, too
	output  int // tokens
	summary bool
	again   bool     // it is the very request before
	refused *failure // nil if it was answered
}

// startModel listens on a free port of loopback.
func startModel(o *Options, s *script, r *ruler) (*model, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("cannot listen for the model: %w", err)
	}
	m := &model{window: o.Window, ruler: r, script: s, url: "http://" + ln.Addr().String() + "/v1"}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", m.complete)
	m.server = &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	go func() { _ = m.server.Serve(ln) }() // it ends with close
	return m, nil
}

func (m *model) close() { _ = m.server.Shutdown(context.Background()) }

// take returns what the model has heard since the last take.
func (m *model) take() []hearing {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := m.heard
	m.heard = nil
	return all
}

func (m *model) complete(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has left
	}
	v, err := m.ruler.look(body)
	if err != nil {
		refuse(w, invalid(err.Error(), ""))
		return
	}
	said, h := m.hear(v, body)
	if h.refused != nil {
		refuse(w, h.refused)
		return
	}
	u := &usage{Prompt: v.tokens, Completion: h.output, Total: v.tokens + h.output}
	u.Details.Cached = h.cached
	if v.asked.Stream {
		stream(w, said, u)
		return
	}
	finish := finishOf(said)
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(reply{ID: "chatcmpl-demo", Object: "chat.completion", Model: modelName,
		Choices: []choice{{Message: said, Finish: &finish}}, Usage: u}) // the client may have left
}

// hear takes a request in, and makes the answer.
func (m *model) hear(v *view, body []byte) (*message, hearing) {
	m.mu.Lock()
	defer m.mu.Unlock()
	h := hearing{view: v, body: body, summary: asksForSummary(v)}
	if m.before != nil {
		h.same, h.cached = m.ruler.countShared(m.before.view, v)
		h.cached = inSteps(h.cached)
		h.again = slices.Equal(body, m.before.body)
	}
	var said *message
	if h.refused = firstOf(tooLong(v, m.window), disorder(v)); h.refused == nil {
		said = m.say(&h)
		h.output = m.ruler.message(said, false)
	}
	m.heard = append(m.heard, h)
	if h.refused == nil && !h.summary {
		m.before, m.answer = &h, said
	}
	return said, h
}

func (m *model) say(h *hearing) *message {
	switch {
	case h.summary:
		return &message{Role: "assistant", Content: text(summaryOf(h.view))}
	case h.again:
		return m.answer
	}
	return m.script.answer(h.view)
}

func firstOf(list ...*failure) *failure {
	for _, f := range list {
		if f != nil {
			return f
		}
	}
	return nil
}

// The prompt cache holds prefixes from cacheFrom tokens on, in steps.
const cacheFrom, cacheStep = 1024, 128

func inSteps(tokens int) int {
	if tokens < cacheFrom {
		return 0
	}
	return tokens - (tokens-cacheFrom)%cacheStep
}

func invalid(why, code string) *failure {
	f := &failure{}
	param := "messages"
	f.Error.Message, f.Error.Type, f.Error.Param = why, "invalid_request_error", &param
	if code != "" {
		f.Error.Code = &code
	}
	return f
}

// tooLong refuses what does not fit, as OpenAI words it.
func tooLong(v *view, window int) *failure {
	output := max(v.asked.MaxTokens, v.asked.MaxCompletion)
	if v.tokens+output <= window {
		return nil
	}
	in := v.tokens - v.toolSize
	had := fmt.Sprintf("your messages resulted in %d tokens (%d in the messages, %d in the functions). Please reduce the length of the messages or functions.", v.tokens, in, v.toolSize)
	if output > 0 {
		had = fmt.Sprintf("you requested %d tokens (%d in the messages, %d in the functions, and %d in the completion). "+
			"Please reduce the length of the messages, functions, or completion.",
			v.tokens+output, in, v.toolSize, output)
	}
	return invalid(fmt.Sprintf("This model's maximum context length is %d tokens. However, %s", window, had), "context_length_exceeded")
}

// disorder refuses calls without results and results without calls.
func disorder(v *view) *failure {
	open := []string{}
	for i, m := range v.messages {
		if m.Role == "tool" {
			k := slices.Index(open, m.Answers)
			if k < 0 {
				return invalid(fmt.Sprintf("Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls': message %d.", i), "")
			}
			open = slices.Delete(open, k, k+1)
			continue
		}
		if len(open) > 0 {
			return invalid(fmt.Sprintf("An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id': message %d.", i), "")
		}
		for _, c := range m.Calls {
			open = append(open, c.ID)
		}
	}
	return nil
}

func refuse(w http.ResponseWriter, f *failure) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	_ = json.NewEncoder(w).Encode(f)
}

func finishOf(said *message) string {
	if len(said.Calls) > 0 {
		return "tool_calls"
	}
	return "stop"
}

// stream sends an answer in pieces.
func stream(w http.ResponseWriter, said *message, u *usage) {
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	send := func(p reply) {
		p.ID, p.Object, p.Model = "chatcmpl-demo", "chat.completion.chunk", modelName
		line, err := json.Marshal(p)
		if err == nil {
			_, err = fmt.Fprintf(w, "data: %s\n\n", line)
		}
		_ = errors.Join(err, out.Flush()) // the client may have left
	}
	piece := func(d delta) { send(reply{Choices: []choice{{Delta: &d}}}) }
	piece(delta{Role: "assistant"})
	for first, rest := halves(string(said.Content)); first != ""; first, rest = rest, "" {
		piece(delta{Content: text(first)})
	}
	for i, c := range said.Calls {
		c.Index = i
		first, rest := halves(c.Function.Arguments)
		c.Function.Arguments = first
		piece(delta{Calls: []toolCall{c}})
		more := toolCall{Index: i}
		more.Function.Arguments = rest
		piece(delta{Calls: []toolCall{more}})
	}
	finish := finishOf(said)
	send(reply{Choices: []choice{{Delta: &delta{}, Finish: &finish}}})
	send(reply{Choices: []choice{}, Usage: u})
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}

// halves cuts a text in two, between characters.
func halves(s string) (first, rest string) {
	n := (len(s) + 1) / 2
	for n < len(s) && !utf8.RuneStart(s[n]) {
		n++
	}
	return s[:n], s[n:]
}
