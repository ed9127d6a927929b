package sessions

import (
	"fmt"
	"strings"
	"time"
)

// The names of what `opencode export` writes: one document with a head and messages, each of a head and parts.

// openCode reads such documents.
type openCode struct{ in *intake }

func isOpenCode(v value) bool {
	first := v.Get("messages.0")
	return first.Get("info").IsObject() && first.Get("parts").IsArray()
}

func (r openCode) line(v value) {
	t := newThread(r.in, OpenCode)
	n := 0
	v.Get("messages").ForEach(func(_, m value) bool {
		n++
		head, parts := m.Get("info"), m.Get("parts")
		at := clock(head.Get("time.created"))
		if head.Get("role").Str != "assistant" {
			t.say(userRole, openCodeText(parts), at)
			return true
		}
		if model := head.Get("modelID").Str; model != "" {
			t.model = strings.Clone(model)
		}
		if head.Get("summary").Bool() { // a compaction: from here on it stands for all before
			t.restart()
			t.say(userRole, openCodeText(parts), at)
			return true
		}
		r.answer(t, n, m)
		return true
	})
	t.give()
}

// answer takes in an assistant's message, in which there may be several steps.
func (r openCode) answer(t *thread, number int, m value) {
	step := 0
	start := clock(m.Get("info.time.created"))
	m.Get("parts").ForEach(func(_, part value) bool {
		group := fmt.Sprintf("message %d step %d", number, step)
		switch part.Get("type").Str {
		case "step-start":
			step++
		case "text":
			t.answer(group, part.Get("text").Str, start)
		case "tool":
			state := part.Get("state")
			at := since(start, clock(state.Get("time.start")))
			t.call(group, call{id: part.Get("callID").Str, name: part.Get("tool").Str,
				arguments: argumentsOf(state.Get("input"))}, at)
			switch state.Get("status").Str {
			case "completed":
				t.addResult(part.Get("callID").Str, state.Get("output").String(),
					since(start, clock(state.Get("time.end"))))
			case "error":
				t.addResult(part.Get("callID").Str, state.Get("error").String(),
					since(start, clock(state.Get("time.end"))))
			}
		}
		return true
	})
}

// since returns the time of a part, or that of its message.
func since(message, part time.Time) time.Time {
	if part.IsZero() {
		return message
	}
	return part
}

func openCodeText(parts value) string {
	var all []string
	parts.ForEach(func(_, part value) bool {
		switch {
		case part.Get("ignored").Bool():
		case part.Get("type").Str == "text":
			all = append(all, part.Get("text").Str)
		case part.Get("type").Str == "file":
			all = append(all, "[file "+part.Get("filename").Str+"]")
		}
		return true
	})
	return strings.Join(all, "\n")
}

func (openCode) end() {}
