package sessions

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// Roles of what is said. Results belong to their calls.
const (
	systemRole    = "system"
	userRole      = "user"
	assistantRole = "assistant"
)

// thread is a conversation that is being put together.
type thread struct {
	in     *intake
	format string
	model  string
	said   []*said
	open   map[string]*call // calls without a result, by id
	bytes  int              // kept
	calls  int              // so far, for ids that are missing
}

// said is a message.
type said struct {
	role     string
	group    string // what is said in pieces has one; empty: it has none
	text     string
	calls    []*call
	thoughts []Thought
	ids      map[string]bool // of the calls; nil: there are none
	heard    bool            // a call has its result
	at       time.Time
}

type call struct {
	id, name, arguments string
	of                  *said
	result              *result // nil: there is none
}

type result struct {
	text string
	at   time.Time
}

func newThread(in *intake, format string) *thread {
	return &thread{in: in, format: format, open: make(map[string]*call)}
}

// keep returns a copy of the text, which does not hold its line in memory; false if there is no more room.
func (t *thread) keep(text string) (string, bool) {
	if !t.in.keep(len(text)) {
		return "", false
	}
	t.bytes += len(text)
	return strings.Clone(text), true
}

// say adds a message of the system or the user.
func (t *thread) say(role, text string, at time.Time) {
	if text == "" {
		return
	}
	if text, ok := t.keep(text); ok {
		t.said = append(t.said, &said{role: role, text: text, at: at})
	}
}

// speaker returns the assistant's message that goes on: that of the same group, or without a group the last one if
// nothing has answered it.
func (t *thread) speaker(group string, at time.Time) *said {
	if n := len(t.said); n > 0 {
		last := t.said[n-1]
		if last.role == assistantRole && last.group == group && (group != "" || !last.heard) {
			if last.text == "" && len(last.calls) == 0 { // it only thought
				last.at = at
			}
			return last
		}
	}
	m := &said{role: assistantRole, group: strings.Clone(group), at: at}
	t.said = append(t.said, m)
	return m
}

// answer adds to what the assistant says.
func (t *thread) answer(group, text string, at time.Time) {
	if text == "" {
		return
	}
	text, ok := t.keep(text)
	if !ok {
		return
	}
	m := t.speaker(group, at)
	if m.text != "" {
		text = m.text + "\n" + text
	}
	m.text = text
}

// think adds to what the assistant thinks before it speaks.
func (t *thread) think(group string, thought Thought, at time.Time) {
	text, ok := t.keep(thought.Text)
	if !ok {
		return
	}
	thought.Text = text
	m := t.speaker(group, at)
	m.thoughts = append(m.thoughts, thought)
}

// call adds a call to what the assistant says. It drops a second call with the same id in the same message.
func (t *thread) call(group string, c call, at time.Time) {
	arguments, ok := t.keep(c.arguments)
	if !ok {
		return
	}
	m := t.speaker(group, at)
	if t.calls++; c.id == "" {
		c.id = fmt.Sprintf("call_%d", t.calls)
	}
	if c.name == "" {
		c.name = "unknown"
	}
	if m.ids[c.id] {
		return
	}
	if m.ids == nil {
		m.ids = make(map[string]bool)
	}
	made := &call{id: strings.Clone(c.id), name: strings.Clone(c.name), arguments: arguments, of: m}
	m.ids[made.id] = true
	m.calls = append(m.calls, made)
	t.open[made.id] = made
}

// addResult adds the result of a call, and leaves out one that answers no call. Without an id it answers the first call
// that waits.
func (t *thread) addResult(id, text string, at time.Time) {
	c := t.open[id]
	if id == "" {
		c = t.firstWaiting()
	}
	if c == nil {
		return
	}
	if text, ok := t.keep(text); ok {
		c.result, c.of.heard = &result{text, at}, true
		delete(t.open, c.id)
	}
}

// firstWaiting returns the first call of the last message without a result.
func (t *thread) firstWaiting() *call {
	if len(t.said) == 0 {
		return nil
	}
	for _, c := range t.said[len(t.said)-1].calls {
		if c.result == nil {
			return c
		}
	}
	return nil
}

// answersFrom reports whether the assistant has said something from message i on.
func (t *thread) answersFrom(i int) bool {
	for ; i < len(t.said); i++ {
		if t.said[i].role == assistantRole {
			return true
		}
	}
	return false
}

// rewind goes on from message to. It hands out what was said since as a conversation of its own.
func (t *thread) rewind(to int) {
	if to >= len(t.said) || !t.answersFrom(to) {
		return
	}
	t.give()
	t.said = t.said[:to:to]
}

// restart goes on behind a compaction, with nothing of what was said before.
func (t *thread) restart() {
	if len(t.said) > 0 {
		t.give()
		t.said, t.open = nil, make(map[string]*call)
		t.in.room += t.bytes
		t.bytes = 0
	}
}

// chatMessage is a message of a request.
type chatMessage struct {
	Role    string     `json:"role"`
	Content *string    `json:"content"`
	Calls   []chatCall `json:"tool_calls,omitempty"`
	Answers string     `json:"tool_call_id,omitempty"`

	at       time.Time
	thoughts []Thought
}

type chatCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// give hands out what was said so far.
func (t *thread) give() {
	messages := t.messages()
	end, answered := len(messages), false
	for end > 0 && messages[end-1].Role == assistantRole {
		end--
	}
	for _, m := range messages[:end] {
		answered = answered || m.Role == assistantRole
	}
	switch {
	case len(messages) == 0:
		return
	case !answered:
		t.in.leave("a session has fewer than two requests")
		return
	}
	t.in.give(Conversation{Format: t.format, Body: chatBody(t.model, messages[:end]), Times: timesOf(messages[:end]),
		Thoughts: thoughtsOf(messages[:end])})
}

// messages returns all messages in the order of a request: results behind the message that called.
func (t *thread) messages() (messages []chatMessage) {
	for _, s := range t.said {
		m := chatMessage{Role: s.role, Content: &s.text, at: s.at, thoughts: s.thoughts}
		if s.text == "" {
			m.Content = nil
		}
		for _, c := range s.calls {
			if c.result != nil {
				m.Calls = append(m.Calls, chatCall{c.id, "function", chatFunction{c.name, c.arguments}})
			}
		}
		if s.text == "" && len(m.Calls) == 0 {
			continue
		}
		messages = append(messages, m)
		for _, c := range s.calls {
			if c.result != nil {
				messages = append(messages,
					chatMessage{Role: "tool", Content: &c.result.text, Answers: c.id, at: c.result.at})
			}
		}
	}
	return messages
}

// chatBody returns the body of a request.
func chatBody(model string, messages []chatMessage) []byte {
	return encoded(struct {
		Model    string        `json:"model,omitempty"`
		Messages []chatMessage `json:"messages"`
	}{model, messages})
}

// timesOf returns the time of each message; nil where none is known.
func timesOf(messages []chatMessage) []time.Time {
	times, known := make([]time.Time, len(messages)), false
	for i, m := range messages {
		times[i], known = m.at, known || !m.at.IsZero()
	}
	if !known {
		return nil
	}
	return times
}

// thoughtsOf returns what was thought before each message; nil where nothing was.
func thoughtsOf(messages []chatMessage) [][]Thought {
	all, known := make([][]Thought, len(messages)), false
	for i, m := range messages {
		all[i], known = m.thoughts, known || len(m.thoughts) > 0
	}
	if !known {
		return nil
	}
	return all
}

// argumentsOf returns a call's arguments as a request has them: an object, in which free text is one field.
func argumentsOf(v value) string {
	switch {
	case v.Type == gjson.String && json.Valid([]byte(v.Str)) && gjson.Parse(v.Str).IsObject():
		return v.Str
	case v.Type == gjson.String:
		text, err := json.Marshal(map[string]string{"input": v.Str})
		if err != nil {
			panic("BUG: a text that is no JSON: " + err.Error())
		}
		return string(text)
	case v.IsObject() && json.Valid([]byte(v.Raw)):
		var b bytes.Buffer
		if json.Compact(&b, []byte(v.Raw)) == nil {
			return b.String()
		}
	}
	return "{}"
}

// texts returns the texts in a content, which is one or a list of parts; pictures and the like are named.
func texts(content value, omitted map[string]string) string {
	if !content.IsArray() {
		return content.String()
	}
	var all []string
	content.ForEach(func(_, part value) bool {
		switch text := part.Get("text"); {
		case part.Type == gjson.String:
			all = append(all, part.Str)
		case text.Type == gjson.String:
			all = append(all, text.Str)
		case omitted[part.Get("type").Str] != "":
			all = append(all, omitted[part.Get("type").Str])
		}
		return true
	})
	return strings.Join(all, "\n")
}

// clock reads a time; zero where there is none.
func clock(v value) time.Time {
	if v.Type == gjson.Number && v.Num > 0 && v.Num < 1e15 {
		return time.UnixMilli(v.Int()).UTC()
	}
	t, err := time.Parse(time.RFC3339, v.Str)
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

// encoded is a request as JSON, with its texts as they are.
func encoded(request any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(request); err != nil {
		panic("BUG: texts that are no JSON: " + err.Error())
	}
	return bytes.TrimSpace(b.Bytes())
}
