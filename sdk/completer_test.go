package sdk_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
)

// completer is a strict server of Chat Completions.
type completer struct {
	t     *testing.T
	model *recaller

	mu   sync.Mutex // guards all below
	seen []asked
}

// newCompleter starts one that answers as m does.
func newCompleter(t *testing.T, m *recaller) server {
	c := &completer{t: t, model: m}
	s := httptest.NewServer(c)
	t.Cleanup(s.Close)
	return server{s.URL + "/v1", func() []asked {
		c.mu.Lock()
		defer c.mu.Unlock()
		return slices.Clone(c.seen)
	}}
}

// posed is a request as far as the server checks it.
type posed struct {
	Stream   bool
	Messages []posedMessage
	Tools    []struct{ Function struct{ Name string } }
}

type posedMessage struct {
	Role, Content string
	Answers       string      `json:"tool_call_id"`
	Calls         []posedCall `json:"tool_calls"`
}

type posedCall struct {
	ID, Type string
	Function struct{ Name, Arguments string }
}

// check says why a server would refuse the request; nil if it would not.
func (p posed) check() error {
	open := map[string]bool{}
	for i, m := range p.Messages {
		if m.Role == "tool" {
			if !open[m.Answers] {
				return fmt.Errorf("message %d answers no call of the message before it", i)
			}
			delete(open, m.Answers)
			continue
		}
		if len(open) > 0 {
			return fmt.Errorf("before message %d there are calls without a result: %v", i, open)
		}
		if !slices.Contains([]string{"system", "user", "assistant"}, m.Role) || m.Content == "" && len(m.Calls) == 0 {
			return fmt.Errorf("message %d is of %q and says nothing", i, m.Role)
		}
		for _, c := range m.Calls {
			var input map[string]any
			if c.ID == "" || open[c.ID] || c.Type != "function" || !p.has(c.Function.Name) ||
				json.Unmarshal([]byte(c.Function.Arguments), &input) != nil {
				return fmt.Errorf("message %d has the call %+v", i, c)
			}
			open[c.ID] = true
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("calls have no result: %v", open)
	}
	return nil
}

// has reports whether a tool is declared, once.
func (p posed) has(name string) bool {
	n := 0
	for _, tool := range p.Tools {
		if tool.Function.Name == name {
			n++
		}
	}
	return n == 1
}

func (c *completer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var p posed
	if r.Method != http.MethodPost || r.URL.Path != "/v1/chat/completions" {
		http.NotFound(w, r)
		return
	}
	if err = json.Unmarshal(body, &p); err == nil {
		err = p.check()
	}
	c.seen = append(c.seen, asked{method: r.Method, target: r.URL.Path, header: r.Header, body: body, refusal: err})
	if err != nil {
		answer(w, http.StatusBadRequest, fmt.Sprintf(`{"error":{"message":%q,"type":"invalid_request_error"}}`, err))
		return
	}
	says, id := c.model.next(body, lastSaid(c.t, body, "messages")), fmt.Sprint("chatcmpl-", len(c.seen))
	if p.Stream {
		stream(w, c.pieces(id, says))
		return
	}
	call, why := "", "stop"
	if says.tool != "" {
		call, why = fmt.Sprintf(`,"tool_calls":[{"id":"call_%s","type":"function","function":{"name":%q,"arguments":%q}}]`,
			id, says.tool, says.input), "tool_calls"
	}
	answer(w, http.StatusOK, fmt.Sprintf(`{"id":%q,"object":"chat.completion","created":1,"model":"gpt-4o","choices":[{"index":0,`+
		`"message":{"role":"assistant","content":%q,"refusal":null%s},"logprobs":null,"finish_reason":%q}],"usage":%s}`,
		id, says.text, call, why, spent))
}

const spent = `{"prompt_tokens":100,"completion_tokens":10,"total_tokens":110}`

// pieces are events that say the same. The name of epitome's tool comes in two of them, as some servers cut it.
func (c *completer) pieces(id string, says move) (events []string) {
	frame := fmt.Sprintf(`data: {"id":%q,"object":"chat.completion.chunk","created":1,"model":"gpt-4o","choices":[`, id)
	piece := func(delta, why string) {
		events = append(events, frame+`{"index":0,"delta":`+delta+`,"finish_reason":`+why+`}]}`)
	}
	half := func(text string) (string, string) { return text[:len(text)/2], text[len(text)/2:] }
	piece(`{"role":"assistant","content":""}`, "null")
	one, two := half(says.text)
	piece(fmt.Sprintf(`{"content":%q}`, one), "null")
	piece(fmt.Sprintf(`{"content":%q}`, two), "null")
	why := `"stop"`
	if says.tool != "" {
		why = `"tool_calls"`
		begin, name := "", says.tool
		if name == "epitome_recall" {
			begin, name = half(name)
			piece(fmt.Sprintf(`{"tool_calls":[{"index":0,"id":"call_%s","type":"function","function":{"name":%q}}]}`, id, begin), "null")
			piece(fmt.Sprintf(`{"tool_calls":[{"index":0,"function":{"name":%q,"arguments":""}}]}`, name), "null")
		} else {
			piece(fmt.Sprintf(`{"tool_calls":[{"index":0,"id":"call_%s","type":"function","function":{"name":%q,"arguments":""}}]}`,
				id, name), "null")
		}
		one, two = half(says.input)
		piece(fmt.Sprintf(`{"tool_calls":[{"index":0,"function":{"arguments":%q}}]}`, one), "null")
		piece(fmt.Sprintf(`{"tool_calls":[{"index":0,"function":{"arguments":%q}}]}`, two), "null")
	}
	piece(`{}`, why)
	return append(events, frame+`],"usage":`+spent+`}`)
}
