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

	"github.com/tidwall/gjson"

	"epitome/dialect/chat"
	"epitome/dialect/conversation"
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
	Role    string          `json:"role"`
	Content string          `json:"content"`
	Calls   json.RawMessage `json:"tool_calls,omitempty"`
	CallID  string          `json:"tool_call_id,omitempty"`
}

// fields is an object in JSON.
type fields map[string]any

// refusal is the model's error in place of an answer.
type refusal struct {
	Message string `json:"message"`
	Type    string `json:"type"`
	Code    string `json:"code"`
}

func (r *refusal) Error() string { return fmt.Sprintf("400 %s: %s", r.Code, r.Message) }

//go:embed tools.json
var tools []byte

// Model is a provider of Chat Completions that refuses requests over its window and keeps a prompt cache. Requests come
// one by one, so that the session may use the fields between them.
type Model struct {
	URL    string // base URL, with /v1
	server *http.Server
	window int
	scale  conversation.Scale
	next   step     // that it is to take
	taken  step     // in the latest answer: next, or a search for what next needs
	last   received // the latest request that was answered
	calls  int      // so far

	artifacts string // the folder in which the files lie that a search reads
}

// received is a request as it reached the model. Tokens are the model's.
type received struct {
	body    []byte
	tokens  int
	cached  int  // of tokens, those that the prompt cache holds
	extends bool // it begins with all messages of the one before
}

// StartModel starts a model that holds window tokens. The caller closes it.
func StartModel(window int) (*Model, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("cannot listen for the model: %w", err)
	}
	m := &Model{URL: "http://" + ln.Addr().String() + "/v1", window: window,
		scale: conversation.Scale{Model: tokenize.ModelOf(ModelName), Memo: tokenize.NewMemo(1 << 14), Ratio: 1}}
	m.server = &http.Server{Handler: m}
	go func() { _ = m.server.Serve(ln) }() // it ends with Close
	return m, nil
}

// Close ends the model.
func (m *Model) Close() { _ = m.server.Close() }

// count returns the tokens of a request; 0 for a body that is none.
func (m *Model) count(body []byte) int {
	r, err := conversation.Read(chat.Dialect{}, body, nil)
	if err != nil {
		return 0
	}
	n := r.Count(m.scale).Total()
	for _, item := range r.Items {
		n += item.Size.Total()
	}
	return n
}

// receive compares a request with the last one. The prompt cache holds the text that both begin with, from 1,024 tokens
// on in steps of 128.
func (m *Model) receive(body []byte) received {
	last := bytes.TrimSuffix(m.last.body, []byte("]}"))
	shared := 0
	for shared < min(len(body), len(last)) && body[shared] == last[shared] {
		shared++
	}
	r := received{body: body, tokens: m.count(body), extends: shared == len(last)}
	if cached := r.tokens * shared / len(body); cached >= 1024 {
		r.cached = cached - cached%128
	}
	return r
}

// ServeHTTP answers a request of the agent.
func (m *Model) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	body, err := io.ReadAll(q.Body)
	var asked request
	err = errors.Join(err, json.Unmarshal(body, &asked))
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	r := m.receive(body)
	if r.tokens > m.window {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write(encode(fields{"error": refusal{Type: "invalid_request_error", Code: "context_length_exceeded",
			Message: fmt.Sprintf("This model's maximum context length is %d tokens. However, your messages resulted "+
				"in %d tokens. Please reduce the length of the messages.", m.window, r.tokens)}}))
		return
	}
	m.last, m.taken = r, m.next.after(asked.Messages, m.artifacts)
	_, _ = w.Write(m.answer(r, m.taken)) // the client may have left
}

// answer returns the response to a request in which the model takes a step.
func (m *Model) answer(r received, x step) []byte {
	answer, finish := message{Role: "assistant", Content: x.Words}, "stop"
	if x.Tool != "" {
		m.calls++
		function := fields{"name": x.Tool, "arguments": string(encode(x.Args))}
		answer.Calls = encode([]fields{{"id": fmt.Sprint("call_", m.calls), "type": "function", "function": function}})
		finish = "tool_calls"
	}
	arguments := gjson.GetBytes(answer.Calls, "0.function.arguments").String()
	output := m.scale.CountText(answer.Content + arguments)
	return encode(fields{"id": "chatcmpl-demo", "object": "chat.completion", "model": ModelName,
		"choices": []fields{{"index": 0, "message": answer, "finish_reason": finish}},
		"usage": fields{"prompt_tokens": r.tokens, "completion_tokens": output, "total_tokens": r.tokens + output,
			"prompt_tokens_details": fields{"cached_tokens": r.cached}}})
}
