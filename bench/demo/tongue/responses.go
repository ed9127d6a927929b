package tongue

import (
	"encoding/json"
	"errors"
	"fmt"

	"epitome/scripted/value"
)

// inResponses is OpenAI Responses.
type inResponses struct{}

func (inResponses) path() string { return "/responses" }

func (inResponses) head() [][2]string { return [][2]string{{"Authorization", "Bearer none"}} }

// A request of Responses.
type (
	listed struct {
		Model  string       `json:"model"`
		Stream bool         `json:"stream"`
		Store  bool         `json:"store"`
		Tools  []listedTool `json:"tools,omitempty"`
		Input  []entry      `json:"input"`
		Most   int          `json:"max_output_tokens,omitempty"`
		Apart  string       `json:"instructions,omitempty"`
	}
	listedTool struct {
		Type        string          `json:"type"`
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	}
	chatTool struct {
		Type     string       `json:"type"`
		Function declaredTool `json:"function"`
	}
	declaredTool struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	}
	entry struct {
		Type      string          `json:"type"`
		Role      string          `json:"role,omitempty"`
		Content   json.RawMessage `json:"content,omitempty"`
		ID        string          `json:"id,omitempty"`
		Call      string          `json:"call_id,omitempty"`
		Name      string          `json:"name,omitempty"`
		Arguments *string         `json:"arguments,omitempty"`
		Output    *string         `json:"output,omitempty"`
	}
	listedPart struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
)

// Tools are the declarations as they are: they are turned with the request.
func (inResponses) Tools(chat json.RawMessage) (json.RawMessage, error) { return chat, nil }

// fromChat turns a request of chat completions into one of Responses.
func (inResponses) fromChat(body []byte) ([]byte, error) {
	var from chatRequest
	if err := json.Unmarshal(body, &from); err != nil {
		return nil, fmt.Errorf("cannot read the request: %w", err)
	}
	to := listed{Model: from.Model, Stream: from.Stream}
	var tools []chatTool
	if err := json.Unmarshal(from.Tools, &tools); err != nil {
		return nil, fmt.Errorf("cannot read the tools: %w", err)
	}
	for _, t := range tools {
		to.Tools = append(to.Tools, listedTool{"function", t.Function.Name, t.Function.Description, t.Function.Parameters})
	}
	for _, raw := range from.Messages {
		var m chatMessage
		if err := json.Unmarshal(raw, &m); err != nil {
			return nil, fmt.Errorf("cannot read a message: %w", err)
		}
		to.Input = append(to.Input, entriesOf(m)...)
	}
	return value.Encode(to), nil
}

// entriesOf are the items that say what a message does.
func entriesOf(m chatMessage) (all []entry) {
	said := func(role, kind string) entry {
		return entry{Type: "message", Role: role, Content: value.Encode([]listedPart{{kind, m.Content}})}
	}
	switch m.Role {
	case "tool":
		return []entry{{Type: "function_call_output", Call: m.Answers, Output: &m.Content}}
	case "system":
		return []entry{said("developer", "input_text")}
	case "user":
		return []entry{said("user", "input_text")}
	}
	if m.Content != "" {
		all = append(all, said("assistant", "output_text"))
	}
	for _, c := range m.Calls {
		all = append(all, entry{Type: "function_call", Call: c.ID, Name: c.Function.Name, Arguments: &c.Function.Arguments})
	}
	return all
}

// toChat turns a request of Responses into one of chat completions.
func (in inResponses) toChat(body []byte) ([]byte, error) {
	var from struct {
		listed
		Input []json.RawMessage `json:"input"`
	}
	if err := json.Unmarshal(body, &from); err != nil {
		return nil, fmt.Errorf("cannot read the request: %w", err)
	}
	to := chatRequest{Model: from.Model}
	var tools []chatTool
	for _, t := range from.Tools {
		tools = append(tools, chatTool{"function", declaredTool{t.Name, t.Description, t.Parameters}})
	}
	if tools != nil {
		to.Tools = value.Encode(tools)
	}
	if from.Apart != "" {
		to.Messages = append(to.Messages, value.Encode(chatMessage{Role: "system", Content: from.Apart}))
	}
	said, err := in.spoken(from.Input)
	to.Messages = append(to.Messages, said...)
	return value.Encode(to), err
}

// spoken turns items into messages: what the model says at once is one.
func (inResponses) spoken(list []json.RawMessage) (all []json.RawMessage, err error) {
	said := chatMessage{Role: assistant}
	end := func() {
		if said.Content != "" || len(said.Calls) > 0 {
			all = append(all, value.Encode(said))
		}
		said = chatMessage{Role: assistant}
	}
	for _, raw := range list {
		var e entry
		if err := json.Unmarshal(raw, &e); err != nil {
			return nil, fmt.Errorf("cannot read an item: %w", err)
		}
		switch {
		case e.Type == "message" && e.Role == assistant:
			said.Content, err = contentOf(e.Content)
		case e.Type == "function_call" && e.Arguments != nil:
			said.Calls = append(said.Calls, chatCall{Index: len(said.Calls), ID: e.Call, Type: "function",
				Function: chatFunction{e.Name, *e.Arguments}})
		default:
			end()
			m := chatMessage{Role: e.Role, Answers: e.Call}
			m.Content, err = e.says(&m)
			all = append(all, value.Encode(m))
		}
		if err != nil {
			return nil, err
		}
	}
	end()
	return all, nil
}

// assistant is who answers.
const assistant = "assistant"

// says is what an item says that is none of the model's, and sees to the role of who says it.
func (e *entry) says(m *chatMessage) (string, error) {
	switch {
	case e.Type == "function_call_output" && e.Output != nil:
		m.Role = "tool"
		return *e.Output, nil
	case e.Type != "message":
		return "", fmt.Errorf("an item of type %q has no place here", e.Type)
	case e.Role == "developer":
		m.Role = "system"
	case e.Role == "":
		return "", errNoMessage
	}
	return contentOf(e.Content)
}

// contentOf is the text of a content: of a text, or of parts.
func contentOf(content json.RawMessage) (text string, err error) {
	if len(content) > 0 && content[0] == '"' {
		return text, json.Unmarshal(content, &text)
	}
	var parts []listedPart
	if err = json.Unmarshal(content, &parts); err != nil {
		return "", errors.New("a message has no text")
	}
	var all []string
	for _, p := range parts {
		all = append(all, p.Text)
	}
	return textOf(all), nil
}
