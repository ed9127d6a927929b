package demo

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"

	"epitome/rewrite/chat"
	"epitome/rewrite/conversation"
	"epitome/tokenize"
)

// ModelName is the name of the model. Its tokens are counted exactly.
const ModelName = "gpt-oss-demo"

// request is the body of a Chat Completions request.
type request struct {
	Model    string          `json:"model"`
	Tools    json.RawMessage `json:"tools,omitempty"`
	Messages []message       `json:"messages"`
}

// message is one message of a conversation. CallID is the ID of the call whose result a message with role "tool" is.
type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
	Calls   []call `json:"tool_calls,omitempty"`
	CallID  string `json:"tool_call_id,omitempty"`
}

// call is a tool call. Its arguments are JSON.
type call struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// refusal is the model's error in place of an answer.
type refusal struct {
	Message string `json:"message"`
	Type    string `json:"type"`
	Code    string `json:"code"`
}

func (r *refusal) Error() string { return fmt.Sprintf("400 %s: %q", r.Code, r.Message) }

//go:embed tools.json
var tools []byte

// model is a provider of Chat Completions that refuses requests over its window and keeps a prompt cache.
type model struct {
	url    string // base URL, with /v1
	server *http.Server
	window int
	script *script
	scale  conversation.Scale

	mu     sync.Mutex
	last   received // the latest request of the agent that was answered
	answer message  // to it
}

// received is a request as it reached the model. Tokens are the model's.
type received struct {
	*conversation.Request
	tokens  int
	cached  int  // of tokens, those that the prompt cache holds
	extends bool // it begins with all messages of the one before
	repeats bool // it is the one before
}

// newModel starts a model that holds window tokens.
func newModel(window int, s *script) (*model, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("cannot listen for the model: %w", err)
	}
	m := &model{window: window, script: s, url: "http://" + ln.Addr().String() + "/v1"}
	m.scale = conversation.Scale{Model: tokenize.ModelOf(ModelName), Memo: tokenize.NewMemo(1 << 14), Ratio: 1}
	m.server = &http.Server{Handler: m}
	go func() { _ = m.server.Serve(ln) }() // it ends with Close
	return m, nil
}

// latest returns the latest request of the agent that was answered.
func (m *model) latest() received {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last
}

// read counts a request.
func (m *model) read(body []byte) (r received, err error) {
	if r.Request, err = (chat.Dialect{}).Read(body, nil); err != nil {
		return r, fmt.Errorf("cannot read a request: %w", err)
	}
	r.tokens = r.Count(m.scale).Total()
	for _, item := range r.Items {
		r.tokens += item.Size.Total()
	}
	return r, nil
}

// ServeHTTP answers requests of the agent, and those of epitome for a summary.
func (m *model) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	body, err := io.ReadAll(q.Body)
	if err != nil {
		return // the client has left
	}
	var asked request
	r, err := m.read(body)
	if err = errors.Join(err, json.Unmarshal(body, &asked)); err != nil {
		refuse(w, &refusal{Message: err.Error(), Type: "invalid_request_error"})
		return
	}
	if r.tokens > m.window {
		refuse(w, tooLong(r.tokens, m.window))
		return
	}
	answer := m.answerTo(&r, asked.Messages)
	output, finish := m.scale.CountText(answer.Content), "stop"
	for _, c := range answer.Calls {
		output += m.scale.CountText(c.Function.Arguments)
		finish = "tool_calls"
	}
	type fields = map[string]any
	_ = json.NewEncoder(w).Encode(fields{ // the client may have left
		"id": "chatcmpl-demo", "object": "chat.completion", "model": ModelName,
		"choices": []fields{{"index": 0, "message": answer, "finish_reason": finish}},
		"usage": fields{"prompt_tokens": r.tokens, "completion_tokens": output, "total_tokens": r.tokens + output,
			"prompt_tokens_details": fields{"cached_tokens": r.cached}},
	})
}

// answerTo returns the answer to a request, and completes r by comparing it with the one before. A repeated request
// gets the same answer again.
func (m *model) answerTo(r *received, messages []message) message {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.last.Request != nil {
		m.compare(r)
	}
	switch {
	case strings.Contains(messages[len(messages)-1].Content, "\n## Next Steps\n"): // of the prompt for a summary
		return message{Role: "assistant", Content: summaryOf(messages)}
	case !r.repeats:
		m.answer = m.script.answer(messages)
	}
	m.last = *r
	return m.answer
}

// compare compares a request with the last one. The prompt cache holds the messages that both begin with, from 1,024
// tokens on in steps of 128.
func (m *model) compare(r *received) {
	shared, tokens := 0, r.Count(m.scale).Total()
	for shared < min(len(r.Items), len(m.last.Items)) &&
		bytes.Equal(r.Items[shared].Of(r.Body), m.last.Items[shared].Of(m.last.Body)) {
		tokens += r.Items[shared].Size.Total()
		shared++
	}
	r.extends = shared == len(m.last.Items)
	r.repeats = bytes.Equal(r.Body, m.last.Body)
	if tokens >= 1024 {
		r.cached = tokens - tokens%128
	}
}

// refuse answers with an error.
func refuse(w http.ResponseWriter, why *refusal) {
	w.WriteHeader(http.StatusBadRequest)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": why}) // the client may have left
}

// tooLong returns the refusal of OpenAI.
func tooLong(tokens, window int) *refusal {
	return &refusal{Type: "invalid_request_error", Code: "context_length_exceeded",
		Message: fmt.Sprintf("This model's maximum context length is %d tokens. However, your messages resulted in "+
			"%d tokens. Please reduce the length of the messages.", window, tokens)}
}

// notes are the sections of a summary, and the marks of the notes in the conversation that belong there.
var notes = [][2]string{{"Goal", "Goal: "}, {"Constraints", "Rule: "}, {"Progress", "Done: "},
	{"Key Decisions", "Decision: "}, {"Failed Approaches", "Tried: "}, {"Open Issues", "Open: "}, {"Next Steps", "Next: "},
	{"Critical Values", "CHG-"}}

// summaryOf returns a summary that holds the newest notes of the conversation, word for word.
func summaryOf(messages []message) string {
	const most = 12 // of one section
	var all strings.Builder
	for _, section := range notes {
		var lines []string
		for _, m := range messages[:len(messages)-1] {
			for line := range strings.Lines(m.Content) {
				line = "- " + strings.TrimPrefix(strings.TrimSpace(line), "- ")
				if strings.Contains(line, section[1]) && len(line) < 400 && !slices.Contains(lines, line) {
					lines = append(lines, line)
				}
			}
		}
		if lines == nil {
			lines = []string{"none"}
		}
		fmt.Fprintf(&all, "## %s\n%s\n", section[0], strings.Join(lines[max(0, len(lines)-most):], "\n"))
	}
	return all.String()
}
