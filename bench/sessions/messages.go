package sessions

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"epitome/internal/lazyregexp"
)

// maxTokens is what a request of Messages asks for as an answer, in tokens. It must name a number, and one of chat
// completions need not: with this number the same part of a window is kept free.
const maxTokens = 4000

// noContent stands where somebody said nothing, as Claude Code has it.
const noContent = "(no content)"

// AsMessages returns the conversation as a client of Anthropic Messages has it: results in messages of the user, the
// system's text apart, what was thought before what was said, and a mark for the cache behind the system's text. What
// is thought is not signed. Times are of the system's text, if there is one, and then of the items in messages: of each
// answer, each result, and what the user says in one go.
func (c Conversation) AsMessages() (Conversation, error) {
	t := &turning{course: newCourse()}
	return c.turn("Messages", &t.course, t)
}

// Asking returns the conversation with requests that name the model; as it is if that is empty.
func (c Conversation) Asking(model string) Conversation {
	if model == "" {
		return c
	}
	name, err := json.Marshal(model)
	if err != nil {
		panic("BUG: a text that is no JSON: " + err.Error())
	}
	at := gjson.GetBytes(c.Body, "model")
	if at.Index > 0 {
		c.Body = slices.Concat(c.Body[:at.Index], name, c.Body[at.Index+len(at.Raw):])
		return c
	}
	start := bytes.IndexByte(c.Body, '{') + 1
	c.Body = slices.Concat(c.Body[:start], []byte(`"model":`), name, []byte{','}, c.Body[start:])
	return c
}

// Model returns the model that the requests name.
func (c Conversation) Model() string { return gjson.GetBytes(c.Body, "model").String() }

// Thinking returns the conversation with about so many tokens of thought before each answer, if its log has none at
// all. What is thought says nothing that an answer could need.
func (c Conversation) Thinking(tokens int) Conversation {
	if c.Thoughts != nil || tokens <= 0 {
		return c
	}
	const phrase = "And so on. " // of four tokens
	for i, m := range gjson.GetBytes(c.Body, "messages").Array() {
		var all []Thought
		if m.Get("role").Str == assistantRole {
			all = []Thought{{Text: fmt.Sprintf("Thought %d. ", i) + strings.Repeat(phrase, tokens/4)}}
		}
		c.Thoughts = append(c.Thoughts, all)
	}
	return c
}

// turning is a conversation being turned into one of Messages.
type turning struct {
	course
	system   []string
	systemAt time.Time
	list     []turned
	results  bool // the last message has results and nothing else
}

// turned is one message.
type turned struct {
	Role    string `json:"role"`
	Content []any  `json:"content"`
}

// The blocks of messages. Keys that are empty are left out.
type (
	textBlock struct {
		Type string          `json:"type"`
		Text string          `json:"text"`
		Mark json.RawMessage `json:"cache_control,omitempty"`
	}
	callBlock struct {
		Type  string          `json:"type"`
		ID    string          `json:"id"`
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
	}
	resultBlock struct {
		Type    string `json:"type"`
		Answers string `json:"tool_use_id"`
		Content string `json:"content"`
	}
	thoughtBlock struct {
		Type      string `json:"type"`
		Thinking  string `json:"thinking"`
		Signature string `json:"signature"`
	}
	hiddenBlock struct {
		Type string `json:"type"`
		Data string `json:"data"`
	}
	turnedTool struct {
		Name   string          `json:"name"`
		About  string          `json:"description,omitempty"`
		Schema json.RawMessage `json:"input_schema"`
	}
)

// take takes the next message.
func (t *turning) take(m value) error {
	role := m.Get("role").Str
	if role != "tool" && len(t.waiting) > 0 {
		return errors.New("a call before it has no result")
	}
	switch role {
	case systemRole, "developer":
		text, err := textOf(m.Get("content"))
		if err != nil || len(t.list) == 0 {
			t.system, t.systemAt = append(t.system, text), t.now
			return err
		}
		t.say(text) // models that are not the newest take none of the system's here
		return nil
	case userRole:
		text, err := textOf(m.Get("content"))
		t.say(text)
		return err
	case assistantRole:
		return t.answer(m)
	case "tool":
		return t.hear(m)
	}
	return fmt.Errorf("role %q is none of Messages", role)
}

// add adds a message, or goes on with the user's last one that has results alone.
func (t *turning) add(role string, blocks ...any) {
	if last := len(t.list) - 1; role == userRole && t.results {
		t.list[last].Content = append(t.list[last].Content, blocks...)
		return
	}
	t.list = append(t.list, turned{role, blocks})
}

// say adds what the user says.
func (t *turning) say(text string) {
	t.add(userRole, textBlock{Type: "text", Text: worded(text)})
	t.times, t.results = append(t.times, t.now), false
}

// worded is a text that may stand in a block.
func worded(text string) string {
	if blank().MatchString(text) {
		return noContent
	}
	return text
}

var (
	blank = lazyregexp.New(`^\s*$`)
	odd   = lazyregexp.New(`[^a-zA-Z0-9_-]`) // in the id of a call
)

// answer adds what the model says and calls.
func (t *turning) answer(m value) error {
	if len(t.list) == 0 {
		t.begin()
	}
	var blocks []any
	for _, thought := range t.thoughts {
		if thought.Redacted {
			blocks = append(blocks, hiddenBlock{"redacted_thinking", "unsigned"})
			continue
		}
		blocks = append(blocks, thoughtBlock{"thinking", thought.Text, "unsigned"})
	}
	thought := len(blocks)
	text, err := textOf(m.Get("content"))
	if !blank().MatchString(text) {
		blocks = append(blocks, textBlock{Type: "text", Text: text})
	}
	for _, c := range m.Get("tool_calls").Array() {
		blocks = append(blocks, t.call(c))
	}
	if len(blocks) == thought {
		return err
	}
	t.results = false
	t.add(assistantRole, blocks...)
	t.times = append(t.times, t.now)
	return err
}

// call is a call with an id of its own.
func (t *turning) call(c value) callBlock {
	was := c.Get("id").Str
	id := t.newID(odd().ReplaceAllString(was, "_"))
	t.waiting[was] = called{id: id}
	name, arguments := c.Get("function.name").Str, c.Get("function.arguments")
	if c.Get("type").Str == "custom" {
		name, arguments = c.Get("custom.name").Str, c.Get("custom.input")
	}
	return callBlock{"tool_use", id, name, json.RawMessage(argumentsOf(arguments))}
}

// hear adds the result of a call of the last answer.
func (t *turning) hear(m value) error {
	call, err := t.calledBy(m)
	if err != nil {
		return err
	}
	text, err := textOf(m.Get("content"))
	t.add(userRole, resultBlock{"tool_result", call.id, text})
	t.times, t.results = append(t.times, t.now), true
	return err
}

// begin has the user say what the system said last: no conversation begins with an answer.
func (t *turning) begin() {
	text, last := noContent, len(t.system)-1
	if last >= 0 {
		text, t.system = t.system[last], t.system[:last]
	}
	t.say(text)
}

// body writes the request. What of the other one stands beside the messages stays out, but for the tools.
func (t *turning) body(from value) []byte {
	mark := json.RawMessage(`{"type":"ephemeral"}`)
	var system []textBlock
	for _, text := range t.system {
		if !blank().MatchString(text) {
			system = append(system, textBlock{Type: "text", Text: text})
		}
	}
	if last := len(system) - 1; last >= 0 {
		system[last].Mark = mark
		t.times = append([]time.Time{t.systemAt}, t.times...)
	}
	var tools []turnedTool
	for _, tool := range toolsOf(from) {
		tools = append(tools, turnedTool{tool.name, tool.about, tool.schema})
	}
	return encoded(struct {
		Model    string       `json:"model"`
		Messages []turned     `json:"messages"`
		System   []textBlock  `json:"system,omitempty"`
		Tools    []turnedTool `json:"tools,omitempty"`
		Most     int          `json:"max_tokens"`
	}{cmp.Or(from.Get("model").Str, "unknown"), t.list, system, tools, maxTokens})
}
