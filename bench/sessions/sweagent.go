package sessions

import (
	"fmt"
	"strings"
	"time"
)

// The names of SWE-agent's trajectories: one document with the history, or with what was asked and answered in each
// step.

// sweAgent reads such documents.
type sweAgent struct{ in *intake }

func isSWEAgent(v value) bool { return v.Get("history").IsArray() || v.Get("trajectory").IsArray() }

func (r sweAgent) line(v value) {
	t := newThread(r.in, SWEAgent)
	t.model = strings.Clone(v.Get("info.model").String())
	history := v.Get("history")
	if len(history.Array()) == 0 {
		history = lastAsked(v.Get("trajectory"))
	}
	if len(history.Array()) == 0 {
		steps(t, v.Get("trajectory"))
	}
	group := 0
	history.ForEach(func(_, m value) bool {
		group++
		sweMessage(t, m, fmt.Sprint("message ", group))
		return true
	})
	t.give()
}

// lastAsked returns the messages of the last step that has some.
func lastAsked(trajectory value) (messages value) {
	trajectory.ForEach(func(_, step value) bool {
		for _, name := range [...]string{"query", "messages"} {
			if list := step.Get(name); list.IsArray() && len(list.Array()) > 0 {
				messages = list
			}
		}
		return true
	})
	return messages
}

// steps takes what was done and seen where no message was kept.
func steps(t *thread, trajectory value) {
	trajectory.ForEach(func(_, step value) bool {
		text := step.Get("response").String()
		if text == "" {
			text = step.Get("thought").String() + "\n" + step.Get("action").String()
		}
		t.answer("", strings.TrimSpace(text), time.Time{})
		t.say(userRole, step.Get("observation").String(), time.Time{})
		return true
	})
}

func sweMessage(t *thread, m value, group string) {
	text := texts(m.Get("content"), map[string]string{"image_url": "[image omitted]"})
	switch m.Get("role").Str {
	case "system":
		t.say(systemRole, text, time.Time{})
	case "user":
		t.say(userRole, text, time.Time{})
	case "tool":
		id := m.Get("tool_call_id").Str
		if id == "" {
			id = m.Get("tool_call_ids.0").Str
		}
		t.addResult(id, text, time.Time{})
	case "assistant":
		t.answer(group, text, time.Time{})
		m.Get("tool_calls").ForEach(func(_, c value) bool {
			t.call(group, call{id: c.Get("id").Str, name: c.Get("function.name").Str,
				arguments: argumentsOf(c.Get("function.arguments"))}, time.Time{})
			return true
		})
	}
}

func (sweAgent) end() {}
