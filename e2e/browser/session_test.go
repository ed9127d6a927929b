//go:build e2e

package browser_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"epitome/e2e/sdktest"
)

// modelName is one that price lists know.
const modelName = "gpt-5.2"

// model is an upstream of Chat Completions that keeps what it was sent. As a provider's, its cache has what the request
// before began with.
type model struct {
	URL string

	mu     sync.Mutex
	bodies [][]byte // guarded by mu; without requests for summaries
}

func newModel(t *testing.T) *model {
	m := &model{}
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	m.URL = server.URL
	return m
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || r.Method != http.MethodPost {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	answer, cached := sdktest.Summary(body), 0
	if answer == "" {
		answer, cached = "I go on.", m.keep(body)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(object{
		"id": "answer", "object": "chat.completion", "model": modelName,
		"choices": []object{{"index": 0, "finish_reason": "stop", "message": object{"role": "assistant", "content": answer}}},
		"usage": object{"prompt_tokens": len(body) / 4, "completion_tokens": 40, "total_tokens": len(body)/4 + 40,
			"prompt_tokens_details": object{"cached_tokens": cached / 4}},
	})
}

// keep keeps a body, and returns how many bytes of it stood in the one before.
func (m *model) keep(body []byte) (cached int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.bodies) > 0 {
		last := m.bodies[len(m.bodies)-1]
		for cached < min(len(last), len(body)) && last[cached] == body[cached] {
			cached++
		}
	}
	m.bodies = append(m.bodies, body)
	return cached
}

// last is the newest body.
func (m *model) last() []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.bodies[len(m.bodies)-1]
}

type object = map[string]any

// agent plays one conversation.
type agent struct {
	base, model string
	messages    []object
}

func newAgent(base string) *agent {
	return &agent{base: base, model: modelName, messages: []object{
		{"role": "system", "content": "You repair programs. You have a shell."},
		{"role": "user", "content": "The tests fail. Find out why, and repair it."},
	}}
}

// call adds a command and its result.
func (a *agent) call(command, result string) {
	id := fmt.Sprintf("call_%d", len(a.messages))
	arguments, err := json.Marshal(object{"command": command})
	if err != nil {
		panic(err)
	}
	a.messages = append(a.messages,
		object{"role": "assistant", "content": thoughts(len(a.messages)), "tool_calls": []object{{"id": id, "type": "function",
			"function": object{"name": "bash", "arguments": string(arguments)}}}},
		object{"role": "tool", "tool_call_id": id, "content": result})
}

// thoughts are what the model says before its n-th message's calls: nothing that can be cleared.
func thoughts(n int) string {
	return strings.Repeat(fmt.Sprintf("Step %d looks at part %d of the program, which the earlier steps left open. ", n, n%11), 6)
}

// send sends the conversation as it is now.
func (a *agent) send(t *testing.T) {
	t.Helper()
	body, err := json.Marshal(object{"model": a.model, "messages": a.messages})
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post(a.base+"/v1/chat/completions", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if said, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("the agent is answered %s %s, %v", resp.Status, said, err)
	}
}

// output is what the k-th command prints: lines that stand nowhere else.
func output(k, lines int) string {
	var text strings.Builder
	for i := range lines {
		fmt.Fprintf(&text, "%03d.%03d src/module_%d/file_%d.go: checked %d statements, %d branches, in %d ms\n",
			k, i, k%7, i%13, 17*k+3*i, 5*k+i, (k*i)%97)
	}
	return text.String()
}

// play sends n turns. Each fifth result is large.
func (a *agent) play(t *testing.T, n int) {
	t.Helper()
	for k := range n {
		lines := 30
		if k%5 == 3 {
			lines = 240
		}
		a.call(fmt.Sprintf("make check-%d", k), output(k, lines))
		if k%8 == 7 {
			a.messages = append(a.messages, object{"role": "assistant", "content": fmt.Sprintf("Module %d is in order.", k%7)},
				object{"role": "user", "content": fmt.Sprintf("Good. Go on with part %d.", k/8+2)})
		}
		a.send(t)
	}
}

// texts are the indices of messages that have a text.
func (a *agent) texts() (indices []int) {
	for i, m := range a.messages {
		if _, ok := m["content"].(string); ok {
			indices = append(indices, i)
		}
	}
	return indices
}

// unseen are the indices of messages with a text that does not stand in what was sent.
func (a *agent) unseen(t *testing.T, sent []byte) (indices []int) {
	t.Helper()
	for _, i := range a.texts() {
		text, err := json.Marshal(a.messages[i]["content"])
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(sent, text[:len(text)-1]) { // a summary may stand behind it
			indices = append(indices, i)
		}
	}
	return indices
}
