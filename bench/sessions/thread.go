package sessions

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

const (
	system    = "system"
	user      = "user"
	assistant = "assistant"
	tool      = "tool"
)

// thread builds requests from the lines of a log. For each line its reader sets id and calls say, answer, call and
// result. Where lines form a tree, it calls rewind before that and end after it.
type thread struct {
	model    string
	id       string // of the current line's message; lines with the same ID make one answer. Empty: unknown
	messages []*message
	places   map[string]int // by line ID, the number of messages at the end of the line; an empty ID is the start
	bodies   [][]byte       // of the conversations that have ended
}

// message is a message of a Chat Completions request.
type message struct {
	Role    string  `json:"role"`
	Content *string `json:"content"`
	Calls   []call  `json:"tool_calls,omitempty"`
	CallID  string  `json:"tool_call_id,omitempty"`

	id string // as thread.id
}

type call struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

func newThread() *thread { return &thread{places: map[string]int{"": 0}} }

// add adds a message: the text in its content and, of an answer, the calls in it. Messages of other roles are left out.
func (t *thread) add(role string, content gjson.Result) {
	switch text := textOf(content); role {
	case "system", "developer":
		t.say(system, text)
	case "user", "custom", "hookMessage":
		t.say(user, text)
	case "assistant":
		t.answer(text)
		for _, block := range content.Array() {
			if kind := block.Get("type").Str; kind == "tool_use" || kind == "toolCall" {
				t.call(block.Get("id").Str, block.Get("name").Str, firstOf(block, "input", "arguments"))
			}
		}
	}
}

// say adds a message of the system or the user.
func (t *thread) say(role, text string) {
	if text != "" {
		t.messages = append(t.messages, &message{Role: role, Content: &text, id: t.id})
	}
}

// result adds the result of a call.
func (t *thread) result(id, text string) {
	t.messages = append(t.messages, &message{Role: tool, Content: &text, CallID: id, id: t.id})
}

// answer adds text to the current answer.
func (t *thread) answer(text string) {
	if text == "" {
		return
	}
	m := t.currentAnswer()
	if m.Content != nil {
		text = *m.Content + "\n" + text
	}
	m.Content = &text
}

// call adds a tool call to the current answer, unless the answer has one with this ID. Arguments that are free text
// become the field input of an object.
func (t *thread) call(id, name string, arguments gjson.Result) {
	m := t.currentAnswer()
	if id == "" || name == "" || slices.ContainsFunc(m.Calls, func(c call) bool { return c.ID == id }) {
		return
	}
	c := call{ID: id, Type: "function"}
	switch c.Function.Name = name; {
	case arguments.IsObject():
		c.Function.Arguments = arguments.Get("@ugly").Raw
	case json.Valid([]byte(arguments.Str)) && gjson.Parse(arguments.Str).IsObject():
		c.Function.Arguments = arguments.Str
	default:
		object, _ := json.Marshal(map[string]string{"input": arguments.String()}) // never fails for strings
		c.Function.Arguments = string(object)
	}
	m.Calls = append(m.Calls, c)
}

// currentAnswer returns the answer that the current line continues: the last message or, if it has the same ID, the last
// one before the results at the end. Otherwise it adds an answer.
func (t *thread) currentAnswer() *message {
	last := len(t.messages) - 1
	for t.id != "" && last >= 0 && t.messages[last].Role == tool {
		last--
	}
	if last >= 0 && isAnswer(t.messages[last]) && t.messages[last].id == t.id {
		return t.messages[last]
	}
	m := &message{Role: assistant, id: t.id}
	t.messages = append(t.messages, m)
	return m
}

// end ends a line, so that later lines can rewind to it by its ID.
func (t *thread) end(line string) {
	if line != "" {
		t.places[line] = len(t.messages)
	}
}

// rewind goes back to the end of the line that is the parent of the current one, or to the start if the parent is null,
// and makes a conversation of the messages so far. Without an answer behind the parent there is no branch to leave.
func (t *thread) rewind(parent gjson.Result) {
	to, known := t.places[parent.Str]
	if parent.Exists() && known && to < len(t.messages) && slices.ContainsFunc(t.messages[to:], isAnswer) {
		t.finish()
		t.messages = t.messages[:to:to]
	}
}

// restart makes a conversation of the messages so far and goes on without them, as agents do at a compaction.
func (t *thread) restart() {
	t.finish()
	t.messages, t.places = nil, map[string]int{"": 0}
}

// finish makes a conversation of the messages so far, if they hold a request behind an answer. It returns all
// conversations of the thread.
func (t *thread) finish() [][]byte {
	messages := t.lastRequest()
	if !slices.ContainsFunc(messages, isAnswer) {
		return t.bodies
	}
	var body bytes.Buffer
	e := json.NewEncoder(&body)
	e.SetEscapeHTML(false)
	request := struct {
		Model    string     `json:"model,omitempty"`
		Messages []*message `json:"messages"`
	}{t.model, messages}
	_ = e.Encode(request) // never fails: it consists of strings
	t.bodies = append(t.bodies, bytes.TrimSpace(body.Bytes()))
	return t.bodies
}

// lastRequest returns the messages of the last request: each result behind the message of its call, no calls without a
// result, and no answers at the end.
func (t *thread) lastRequest() (messages []*message) {
	for i, m := range t.messages {
		sent := &message{Role: m.Role, Content: m.Content}
		var results []*message
		for _, c := range m.Calls {
			at := slices.IndexFunc(t.messages[i:], func(r *message) bool { return r.Role == tool && r.CallID == c.ID })
			if at > 0 {
				sent.Calls, results = append(sent.Calls, c), append(results, t.messages[i+at])
			}
		}
		if m.Role != tool && (sent.Content != nil || len(results) > 0) {
			messages = append(append(messages, sent), results...)
		}
	}
	for len(messages) > 0 && isAnswer(messages[len(messages)-1]) {
		messages = messages[:len(messages)-1]
	}
	return messages
}

func isAnswer(m *message) bool { return m.Role == assistant }

// textOf returns the text of a content, which is a string or a list of parts. It only names files.
func textOf(content gjson.Result) string {
	if !content.IsArray() {
		return content.String()
	}
	var texts []string
	for _, part := range content.Array() {
		kind := strings.TrimPrefix(part.Get("type").Str, "input_")
		switch text := part.Get("text"); {
		case part.Get("ignored").Bool() || kind == "reasoning":
		case part.Type == gjson.String:
			texts = append(texts, part.Str)
		case text.Type == gjson.String:
			texts = append(texts, text.Str)
		case kind == "image" || kind == "document" || kind == "file":
			texts = append(texts, "["+kind+" "+cmp.Or(part.Get("filename").Str, "omitted")+"]")
		}
	}
	return strings.Join(texts, "\n")
}
