package demo

import (
	"encoding/json"
	"fmt"

	"epitome/tokenize"
)

// What agent and model say to each other: the dialect of chat completions, as far as the two need it. Both read it
// with the standard library and know nothing of how epitome does.

// modelName is a name whose tokens are counted exactly, and for which nobody's account is needed.
const modelName = "gpt-oss-demo"

// message is one message of a conversation.
type message struct {
	Role    string     `json:"role"`
	Content text       `json:"content"`
	Calls   []toolCall `json:"tool_calls,omitempty"`
	Answers string     `json:"tool_call_id,omitempty"`
}

// toolCall is a call of a tool, or a piece of one in a stream.
type toolCall struct {
	Index    int    `json:"index"`
	ID       string `json:"id,omitempty"`
	Type     string `json:"type,omitempty"`
	Function struct {
		Name      string `json:"name,omitempty"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// text is what a message says: a string, or the text parts of a list.
type text string

// UnmarshalJSON reads either form; null says nothing.
func (t *text) UnmarshalJSON(raw []byte) error {
	var parts []struct{ Text string }
	if len(raw) == 0 || raw[0] != '[' {
		return json.Unmarshal(raw, (*string)(t))
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return err
	}
	*t = ""
	for _, p := range parts {
		*t += text(p.Text)
	}
	return nil
}

// request is what the model is asked.
type request struct {
	Model         string            `json:"model"`
	Stream        bool              `json:"stream"`
	StreamOptions *streamOptions    `json:"stream_options,omitempty"`
	MaxTokens     int               `json:"max_tokens,omitempty"`
	MaxCompletion int               `json:"max_completion_tokens,omitempty"`
	Tools         json.RawMessage   `json:"tools,omitempty"`
	Messages      []json.RawMessage `json:"messages"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

// usage is the model's own count of a request.
type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
	Details    struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// reply is the whole of an answer.
type reply struct {
	ID      string   `json:"id"`
	Object  string   `json:"object"`
	Model   string   `json:"model"`
	Choices []choice `json:"choices"`
	Usage   *usage   `json:"usage,omitempty"`
}

type choice struct {
	Index   int      `json:"index"`
	Message *message `json:"message,omitempty"`
	Delta   *delta   `json:"delta,omitempty"`
	Finish  *string  `json:"finish_reason"`
}

type delta struct {
	Role    string     `json:"role,omitempty"`
	Content text       `json:"content,omitempty"`
	Calls   []toolCall `json:"tool_calls,omitempty"`
}

// failure is an error as an answer holds it.
type failure struct {
	Error struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    *string `json:"code"`
	} `json:"error"`
}

// ruler counts tokens as the provider of the model does.
type ruler struct {
	model   tokenize.Model
	counter *tokenize.Counter
	memo    *tokenize.Memo
}

// memoEntries is larger than the number of texts in a long session.
const memoEntries = 1 << 14

func newRuler() (*ruler, error) {
	model := tokenize.NewModels().Of(modelName)
	counter, err := new(tokenize.Counters).For(model.Vocabulary)
	if err != nil {
		return nil, fmt.Errorf("cannot count tokens: %w", err)
	}
	return &ruler{model: model, counter: counter, memo: tokenize.NewMemo(memoEntries)}, nil
}

func (r *ruler) text(s string) int { return r.memo.Count(r.counter, []byte(s)) }

// message returns the size of one message. beside says that it is the result of one call of several.
func (r *ruler) message(m *message, beside bool) int {
	n := tokenize.PerMessage + 1 // a role is one token
	for i, c := range m.Calls {
		n += tokenize.PerCall + r.text(c.Function.Name) + r.text(c.Function.Arguments)
		if i == 1 {
			n += tokenize.PerCallBatch
		}
	}
	if m.Role == "tool" {
		n += tokenize.PerResult
	}
	if beside {
		return n + r.counter.CountEscaped([]byte(m.Content))
	}
	return n + r.text(string(m.Content))
}

// declared is a tool as a request declares it.
type declared struct {
	Type     string `json:"type"`
	Function struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		Parameters  struct {
			Type       string              `json:"type"`
			Properties map[string]property `json:"properties"`
			Required   []string            `json:"required"`
		} `json:"parameters"`
	} `json:"function"`
}

type property struct {
	Type        string `json:"type"`
	Description string `json:"description"`
}

// tools returns the size of the declarations.
func (r *ruler) tools(raw json.RawMessage) (int, error) {
	var list []declared
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &list); err != nil {
			return 0, err
		}
	}
	tools := make([]tokenize.Tool, len(list))
	for i, d := range list {
		properties := map[string]tokenize.Schema{}
		for key, p := range d.Function.Parameters.Properties {
			properties[key] = tokenize.Schema{Type: p.Type, Description: p.Description}
		}
		tools[i] = tokenize.Tool{Name: d.Function.Name, Description: d.Function.Description,
			Parameters: tokenize.Schema{Properties: properties}}
	}
	return tokenize.Tools(r.counter.CountString, tools), nil
}

// view is a request as its receiver sees it.
type view struct {
	asked    request
	messages []message
	sizes    []int // tokens of each message
	fixed    int   // of what stands beside the messages
	tokens   int   // of all of it
	toolSize int   // of the declarations
}

// look reads and measures a body.
func (r *ruler) look(body []byte) (*view, error) {
	v := &view{}
	if err := json.Unmarshal(body, &v.asked); err != nil {
		return nil, fmt.Errorf("cannot read the request: %w", err)
	}
	var err error
	if v.toolSize, err = r.tools(v.asked.Tools); err != nil {
		return nil, fmt.Errorf("cannot read the tools: %w", err)
	}
	v.fixed = tokenize.PerReply + v.toolSize
	v.tokens = v.fixed
	several := false
	for _, raw := range v.asked.Messages {
		var m message
		if err := json.Unmarshal(raw, &m); err != nil {
			return nil, fmt.Errorf("cannot read a message: %w", err)
		}
		if m.Role == "assistant" {
			several = len(m.Calls) > 1
		}
		n := r.message(&m, several && m.Role == "tool")
		v.messages, v.sizes, v.tokens = append(v.messages, m), append(v.sizes, n), v.tokens+n
	}
	return v, nil
}

// countShared returns how many leading messages two requests have in common, byte for byte, and how many tokens: those
// of whatever precedes the first difference.
func (r *ruler) countShared(a, b *view) (messages, tokens int) {
	if a == nil || string(a.asked.Tools) != string(b.asked.Tools) {
		return 0, 0
	}
	tokens = b.toolSize
	for n := range min(len(a.asked.Messages), len(b.asked.Messages)) {
		if string(a.asked.Messages[n]) != string(b.asked.Messages[n]) {
			return n, tokens + r.counter.CountString(sameStart(string(a.messages[n].Content),
				string(b.messages[n].Content)))
		}
		tokens += b.sizes[n]
	}
	return min(len(a.asked.Messages), len(b.asked.Messages)), tokens
}

func sameStart(a, b string) string {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return a[:n]
}
