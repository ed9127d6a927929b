package sessions

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// course is what every conversation needs that is being turned into one of another API.
type course struct {
	now      time.Time   // of the message at hand
	thoughts []Thought   // before it
	times    []time.Time // of what became of the messages before
	waiting  map[string]called
	used     map[string]bool // ids of calls
}

// newCourse returns one that has not begun.
func newCourse() course { return course{waiting: make(map[string]called), used: make(map[string]bool)} }

// called is a call that waits for its result, which may have a type.
type called struct{ id, output string }

// turner turns one message after the other, and writes the request in the end.
type turner interface {
	take(m value) error
	body(from value) []byte
}

// turn returns the conversation as t writes it for an API, with times of its own if it had any.
func (c Conversation) turn(api string, w *course, t turner) (Conversation, error) {
	v, ok := parsed(c.Body)
	if !ok {
		return c, errors.New("the body is not JSON")
	}
	for i, m := range v.Get("messages").Array() {
		if i < len(c.Times) {
			w.now = c.Times[i]
		}
		if i < len(c.Thoughts) {
			w.thoughts = c.Thoughts[i]
		}
		if err := t.take(m); err != nil {
			return c, fmt.Errorf("it cannot be turned into %s: message %d: %w", api, i, err)
		}
	}
	if len(w.waiting) > 0 {
		return c, fmt.Errorf("it cannot be turned into %s: a call at its end has no result", api)
	}
	c.Body = t.body(v)
	if c.Times != nil {
		c.Times = w.times
	}
	return c, nil
}

// newID returns an id that no call has yet: the wanted one, or a longer one.
func (w *course) newID(id string) string {
	for id == "" || w.used[id] {
		id += fmt.Sprintf("_%d", len(w.used))
	}
	w.used[id] = true
	return id
}

// calledBy returns the call that a message has the result of. It waits no more.
func (w *course) calledBy(m value) (called, error) {
	id := m.Get("tool_call_id").Str
	call, waits := w.waiting[id]
	if !waits {
		return called{}, errors.New("a result that no call waits for")
	}
	delete(w.waiting, id)
	return call, nil
}

// textOf is the text of a content. Other parts than texts have no place here.
func textOf(content value) (string, error) {
	var err error
	content.ForEach(func(_, part value) bool {
		if kind := part.Get("type").Str; content.IsArray() && kind != "text" {
			err = fmt.Errorf("a part of type %q", kind)
		}
		return err == nil
	})
	return texts(content, nil), err
}

// declared is a tool as a request declares it.
type declared struct {
	name, about string
	schema      json.RawMessage
}

// toolsOf are the tools of a request that have a name.
func toolsOf(from value) (tools []declared) {
	for _, tool := range from.Get("tools").Array() {
		f := tool.Get("function")
		if f.Get("name").Str == "" {
			continue
		}
		schema := json.RawMessage(f.Get("parameters").Raw)
		if !f.Get("parameters").IsObject() {
			schema = json.RawMessage(`{"type":"object"}`)
		}
		tools = append(tools, declared{f.Get("name").Str, f.Get("description").Str, schema})
	}
	return tools
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
