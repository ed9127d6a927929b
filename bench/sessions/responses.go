package sessions

import (
	"cmp"
	"encoding/json"
	"fmt"

	"epitome/internal/lazyregexp"
)

// AsResponses returns the conversation as a client of OpenAI Responses has it: a flat list of what is said, called and
// came back, each answer behind what the model reasoned, which nobody can read, if it does so, and the system's text
// as the developer's. Times are of the items that belong together: of each answer, each output, and each other message.
func (c Conversation) AsResponses() (Conversation, error) {
	l := &listing{course: newCourse(), reasons: !thoughtless().MatchString(c.Model())}
	return c.turn("Responses", &l.course, l)
}

// thoughtless are how the names of models begin that do not reason, and take no reasoning.
var thoughtless = lazyregexp.New(`^gpt-[34]`)

// listing is a conversation being turned into one of Responses.
type listing struct {
	course
	reasons bool // the model does
	list    []any
	answers bool // the last item is the model's
}

// The items. Keys that are empty are left out.
type (
	listedMessage struct {
		Type    string       `json:"type"`
		ID      string       `json:"id,omitempty"`
		Role    string       `json:"role"`
		Status  string       `json:"status,omitempty"`
		Content []listedText `json:"content"`
	}
	listedText struct {
		Type string `json:"type"`
		Text string `json:"text"`
		Of   *[]any `json:"annotations,omitempty"`
	}
	listedReasoning struct {
		Type    string `json:"type"`
		ID      string `json:"id"`
		Summary []any  `json:"summary"`
		Sealed  string `json:"encrypted_content"`
	}
	listedCall struct {
		Type      string  `json:"type"`
		ID        string  `json:"id"`
		Call      string  `json:"call_id"`
		Name      string  `json:"name"`
		Arguments *string `json:"arguments,omitempty"`
		Input     *string `json:"input,omitempty"`
	}
	listedOutput struct {
		Type   string `json:"type"`
		Call   string `json:"call_id"`
		Output string `json:"output"`
	}
	listedTool struct {
		Type   string          `json:"type"`
		Name   string          `json:"name"`
		About  string          `json:"description,omitempty"`
		Schema json.RawMessage `json:"parameters"`
	}
)

// add adds what belongs together.
func (l *listing) add(answers bool, items ...any) {
	l.list = append(l.list, items...)
	if !answers || !l.answers { // answers that follow one another are one
		l.times = append(l.times, l.now)
	}
	l.answers = answers
}

// take takes the next message.
func (l *listing) take(m value) error {
	role := m.Get("role").Str
	switch role {
	case systemRole, "developer", userRole:
		if role == systemRole {
			role = "developer"
		}
		text, err := textOf(m.Get("content"))
		l.add(false, listedMessage{Type: "message", Role: role, Content: []listedText{{Type: "input_text", Text: text}}})
		return err
	case assistantRole:
		return l.answer(m)
	case "tool":
		call, err := l.calledBy(m)
		if err != nil {
			return err
		}
		text, err := textOf(m.Get("content"))
		l.add(false, listedOutput{call.output, call.id, text})
		return err
	}
	return fmt.Errorf("role %q is none of Responses", role)
}

// answer adds what the model reasoned, says and calls.
func (l *listing) answer(m value) error {
	text, err := textOf(m.Get("content"))
	calls, n := m.Get("tool_calls").Array(), len(l.list)
	if text == "" && len(calls) == 0 {
		return err
	}
	var items []any
	if l.reasons {
		items = append(items, listedReasoning{"reasoning", fmt.Sprintf("rs_%d", n), []any{}, fmt.Sprintf("gAAAAA%d", n)})
	}
	if text != "" {
		items = append(items, listedMessage{"message", fmt.Sprintf("msg_%d", n), assistantRole, "completed",
			[]listedText{{"output_text", text, &[]any{}}}})
	}
	for _, c := range calls {
		items = append(items, l.call(c))
	}
	l.add(true, items...)
	return err
}

// call is a call with an id of its own.
func (l *listing) call(c value) listedCall {
	was := c.Get("id").Str
	id := l.newID(was)
	call := listedCall{Type: "function_call", ID: fmt.Sprintf("fc_%d", len(l.used)), Call: id, Name: c.Get("function.name").Str}
	text := c.Get("function.arguments").String()
	if call.Arguments = &text; c.Get("type").Str == "custom" {
		text = c.Get("custom.input").String()
		call.Type, call.Name, call.Arguments, call.Input = "custom_tool_call", c.Get("custom.name").Str, nil, &text
		call.ID = fmt.Sprintf("ctc_%d", len(l.used))
	}
	l.waiting[was] = called{id, call.Type + "_output"}
	return call
}

// body writes the request. What of the other one stands beside the messages stays out, but for the tools.
func (l *listing) body(from value) []byte {
	var tools []listedTool
	for _, tool := range toolsOf(from) {
		tools = append(tools, listedTool{"function", tool.name, tool.about, tool.schema})
	}
	return encoded(struct {
		Model   string       `json:"model"`
		Input   []any        `json:"input"`
		Tools   []listedTool `json:"tools,omitempty"`
		Stored  bool         `json:"store"`
		Include []string     `json:"include,omitempty"`
	}{cmp.Or(from.Get("model").Str, "unknown"), l.list, tools, false, l.includes()})
}

// includes is what a client wants to have of an answer beside what is said.
func (l *listing) includes() []string {
	if !l.reasons {
		return nil
	}
	return []string{"reasoning.encrypted_content"}
}
