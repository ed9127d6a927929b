package tongue

import (
	"encoding/json"
	"fmt"

	"epitome/scripted/value"
)

// inMessages is Anthropic Messages.
type inMessages struct{}

func (inMessages) path() string { return "/messages" }

func (inMessages) head() [][2]string {
	return [][2]string{{"Anthropic-Version", "2023-06-01"}, {"X-Api-Key", "none"}}
}

// A request of Messages.
type (
	request struct {
		Model    string          `json:"model"`
		Most     int             `json:"max_tokens"`
		Stream   bool            `json:"stream"`
		System   json.RawMessage `json:"system,omitempty"`
		Tools    json.RawMessage `json:"tools,omitempty"`
		Messages []message       `json:"messages"`
	}
	message struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	}
	block struct {
		Type    string          `json:"type"`
		Text    string          `json:"text,omitempty"`
		ID      string          `json:"id,omitempty"`
		Name    string          `json:"name,omitempty"`
		Input   json.RawMessage `json:"input,omitempty"`
		Answers string          `json:"tool_use_id,omitempty"`
		Content json.RawMessage `json:"content,omitempty"`
		Mark    *mark           `json:"cache_control,omitempty"`
	}
	mark struct {
		Type string `json:"type"`
	}
)

// answerRoom is how many tokens an agent leaves for the answer.
const answerRoom = 1000

// Tools are declarations as the API has them: the agent counts them so.
func (inMessages) Tools(chat json.RawMessage) (json.RawMessage, error) {
	var list []struct {
		Function struct {
			Name        string
			Description string
			Parameters  json.RawMessage
		}
	}
	if err := json.Unmarshal(chat, &list); err != nil {
		return nil, fmt.Errorf("cannot read the tools: %w", err)
	}
	type tool struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Schema      json.RawMessage `json:"input_schema"`
	}
	var all []tool
	for _, t := range list {
		all = append(all, tool{t.Function.Name, t.Function.Description, t.Function.Parameters})
	}
	return value.Encode(all), nil
}

// fromChat turns a request of chat completions, whose tools are those of Messages, into one of Messages, with marks
// for the cache.
func (inMessages) fromChat(body []byte) ([]byte, error) {
	var from chatRequest
	if err := json.Unmarshal(body, &from); err != nil {
		return nil, fmt.Errorf("cannot read the request: %w", err)
	}
	to := request{Model: from.Model, Most: answerRoom, Stream: from.Stream, Tools: from.Tools}
	var spoken []turn
	for _, raw := range from.Messages {
		var m chatMessage
		if err := json.Unmarshal(raw, &m); err != nil {
			return nil, fmt.Errorf("cannot read a message: %w", err)
		}
		if m.Role == "system" {
			to.System = value.Encode([]block{{Type: "text", Text: m.Content, Mark: &mark{"ephemeral"}}})
			continue
		}
		spoken = appendTurn(spoken, m)
	}
	if n := len(spoken); n > 0 {
		last := spoken[n-1].blocks
		last[len(last)-1].Mark = &mark{"ephemeral"}
	}
	for _, t := range spoken {
		to.Messages = append(to.Messages, message{t.role, value.Encode(t.blocks)})
	}
	return value.Encode(to), nil
}

// turn is a message with its blocks.
type turn struct {
	role   string
	blocks []block
}

// appendTurn appends what a message says: results go into one message, and what the user says behind them with them.
func appendTurn(all []turn, m chatMessage) []turn {
	var t turn
	switch m.Role {
	case "tool":
		t = turn{"user", []block{{Type: "tool_result", Answers: m.Answers, Content: value.Encode(m.Content)}}}
	case "user":
		t = turn{"user", []block{{Type: "text", Text: m.Content}}}
	default:
		t.role = "assistant"
		if m.Content != "" {
			t.blocks = append(t.blocks, block{Type: "text", Text: m.Content})
		}
		for _, c := range m.Calls {
			t.blocks = append(t.blocks,
				block{Type: "tool_use", ID: c.ID, Name: c.Function.Name, Input: json.RawMessage(c.Function.Arguments)})
		}
	}
	if n := len(all) - 1; n >= 0 && t.role == "user" && all[n].role == "user" {
		if before := all[n].blocks; before[len(before)-1].Type == "tool_result" {
			all[n].blocks = append(before, t.blocks...)
			return all
		}
	}
	return append(all, t)
}

// toChat turns a request of Messages into one of chat completions, but for its tools.
func (inMessages) toChat(body []byte) ([]byte, error) {
	var from request
	if err := json.Unmarshal(body, &from); err != nil {
		return nil, fmt.Errorf("cannot read the request: %w", err)
	}
	to := chatRequest{Model: from.Model, Tools: from.Tools}
	if len(from.System) > 0 {
		said, err := read(message{"system", from.System})
		if err != nil {
			return nil, err
		}
		to.Messages = append(to.Messages, said...)
	}
	for _, m := range from.Messages {
		said, err := read(m)
		if err != nil {
			return nil, err
		}
		to.Messages = append(to.Messages, said...)
	}
	return value.Encode(to), nil
}

// read turns one message into those of chat completions that say the same: one for each result, one for all else.
func read(m message) (all []json.RawMessage, err error) {
	blocks, err := blocksOf(m.Content)
	if err != nil {
		return nil, err
	}
	said := chatMessage{Role: m.Role}
	var texts []string
	for _, b := range blocks {
		switch b.Type {
		case "text":
			texts = append(texts, b.Text)
		case "tool_use":
			said.Calls = append(said.Calls, chatCall{Index: len(said.Calls), ID: b.ID, Type: "function",
				Function: chatFunction{b.Name, string(b.Input)}})
		case "tool_result":
			inner, err := blocksOf(b.Content)
			if err != nil {
				return nil, err
			}
			all = append(all, value.Encode(chatMessage{Role: "tool", Content: textOf(textsOf(inner)), Answers: b.Answers}))
		default:
			return nil, fmt.Errorf("a block of type %q has no place here", b.Type)
		}
	}
	if len(texts) > 0 || len(said.Calls) > 0 {
		said.Content = textOf(texts)
		all = append(all, value.Encode(said))
	}
	return all, nil
}

// blocksOf reads a content: blocks, or a text, which is one of them.
func blocksOf(content json.RawMessage) (all []block, err error) {
	if text := ""; len(content) > 0 && content[0] == '"' {
		err = json.Unmarshal(content, &text)
		return []block{{Type: "text", Text: text}}, err
	}
	if len(content) == 0 {
		return nil, nil
	}
	return all, json.Unmarshal(content, &all)
}

func textsOf(blocks []block) (all []string) {
	for _, b := range blocks {
		all = append(all, b.Text)
	}
	return all
}

func (inMessages) spoken(list []json.RawMessage) (all []json.RawMessage, err error) {
	for _, raw := range list {
		var m message
		if err := json.Unmarshal(raw, &m); err != nil {
			return nil, fmt.Errorf("cannot read a message: %w", err)
		}
		said, err := read(m)
		if err != nil || m.Role == "" {
			return nil, errNoMessage
		}
		all = append(all, said...)
	}
	return all, nil
}
