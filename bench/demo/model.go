package demo

import (
	_ "embed"
	"encoding/json"
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

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
	Calls   []call `json:"tool_calls,omitempty"`
	CallID  string `json:"tool_call_id,omitempty"`
}

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

func newModel(window int, s *script) (*model, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("cannot listen for the model: %w", err)
	}
	m := &model{window: window, script: s, url: "http://" + ln.Addr().String() + "/v1"}
	known := tokenize.NewModels().Of(ModelName)
	counter, err := new(tokenize.Counters).For(known.Vocabulary)
	if err != nil {
		return nil, fmt.Errorf("cannot count tokens: %w", err)
	}
	m.scale = conversation.Scale{Model: known, Counter: counter, Memo: tokenize.NewMemo(1 << 14), Ratio: 1}
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

// ServeHTTP answers requests of the agent by the script, and requests for a summary by copying.
func (m *model) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	body, err := io.ReadAll(q.Body)
	var r received
	var asked request
	if err == nil {
		r, err = m.read(body)
	}
	if err == nil {
		err = json.Unmarshal(body, &asked)
	}
	switch {
	case err != nil:
		refuse(w, &refusal{Message: err.Error(), Type: "invalid_request_error"})
		return
	case r.tokens > m.window:
		refuse(w, tooLong(r.tokens, m.window))
		return
	}
	m.lookUp(&r)
	var answer message
	switch last := asked.Messages[len(asked.Messages)-1].Content; {
	case strings.Contains(last, "\n## Next Steps\n"):
		answer = message{Role: "assistant", Content: summaryOf(asked.Messages)}
	case m.last.Request != nil && slices.Equal(m.last.Body, body):
		r.repeats = true
		m.last, answer = r, m.answer
	default:
		answer = m.script.answer(asked.Messages)
		m.last, m.answer = r, answer
	}
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

// lookUp finds out how much of a request the prompt cache holds: the messages that the last one began with, from 1,024
// tokens on in steps of 128.
func (m *model) lookUp(r *received) {
	if m.last.Request == nil {
		return
	}
	shared := 0
	tokens := r.Count(m.scale).Total()
	for shared < min(len(r.Items), len(m.last.Items)) &&
		string(r.Items[shared].Of(r.Body)) == string(m.last.Items[shared].Of(m.last.Body)) {
		tokens += r.Items[shared].Size.Total()
		shared++
	}
	r.extends = shared == len(m.last.Items)
	if tokens >= 1024 {
		r.cached = tokens - tokens%128
	}
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
