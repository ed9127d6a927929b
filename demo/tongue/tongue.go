// Package tongue lets agent and model of a demo speak Anthropic Messages with each other, while each of them thinks in
// chat completions: it turns requests and answers into the other dialect at both ends of the wire.
//
// It promises that what is turned there and back is what it was, byte for byte, unless somebody between has changed it;
// that a request goes out as a client of that API writes it, with marks for the cache; and that one which breaks a rule
// of the API is refused in its words. It knows nothing of who stands between.
package tongue

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"epitome/scripted/value"
)

// A request of chat completions, as far as agents of a demo write it.
type (
	chatRequest struct {
		Model    string            `json:"model"`
		Stream   bool              `json:"stream"`
		Tools    json.RawMessage   `json:"tools,omitempty"`
		Messages []json.RawMessage `json:"messages"`
	}
	chatMessage struct {
		Role    string     `json:"role"`
		Content string     `json:"content"`
		Calls   []chatCall `json:"tool_calls,omitempty"`
		Answers string     `json:"tool_call_id,omitempty"`
	}
	chatCall struct {
		Index    int          `json:"index"`
		ID       string       `json:"id,omitempty"`
		Type     string       `json:"type,omitempty"`
		Function chatFunction `json:"function"`
	}
	chatFunction struct {
		Name      string `json:"name,omitempty"`
		Arguments string `json:"arguments"`
	}
)

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

// Tools are declarations of chat completions as Messages has them.
func Tools(chat json.RawMessage) (json.RawMessage, error) {
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

// fromChat turns a request of chat completions, whose tools are those of Messages, into one of Messages.
func fromChat(body []byte) ([]byte, error) {
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
func toChat(body []byte) ([]byte, error) {
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
			all = append(all, value.Encode(chatMessage{Role: "tool", Content: textOf(inner), Answers: b.Answers}))
		default:
			return nil, fmt.Errorf("a block of type %q has no place here", b.Type)
		}
	}
	if len(texts) > 0 || len(said.Calls) > 0 {
		said.Content = strings.Join(texts, "\n")
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

func textOf(blocks []block) string {
	var all []string
	for _, b := range blocks {
		all = append(all, b.Text)
	}
	return strings.Join(all, "\n")
}

// Translate turns those texts that are messages, with commas between them, into messages of chat completions.
func Translate(texts map[string]string) {
	for name, text := range texts {
		texts[name] = translated(text)
	}
}

func translated(list string) string {
	var all []message
	if json.Unmarshal([]byte("["+list+"]"), &all) != nil {
		return list
	}
	var out [][]byte
	for _, m := range all {
		said, err := read(m)
		if err != nil || m.Role == "" {
			return list
		}
		for _, raw := range said {
			out = append(out, raw)
		}
	}
	return string(bytes.Join(out, []byte{'\n'}))
}

// errNoAnswer is what an answer lacks that a demo's agent could go on with.
var errNoAnswer = errors.New("the answer ended too early")
