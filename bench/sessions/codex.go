package sessions

import (
	"slices"
	"strings"
)

// The names of Codex's logs (rollouts): a line for each item of a conversation in the Responses dialect, and others for
// what happened beside it.

// codex reads such a log.
type codex struct {
	in     *intake
	thread *thread
}

var codexLines = []string{"session_meta", "response_item", "event_msg", "turn_context", "compacted"}

func isCodex(v value) bool {
	return v.Get("payload").IsObject() && slices.Contains(codexLines, v.Get("type").Str)
}

func (r *codex) line(v value) {
	if r.thread == nil {
		r.thread = newThread(r.in, Codex)
	}
	at, payload := clock(v.Get("timestamp")), v.Get("payload")
	switch v.Get("type").Str {
	case "session_meta":
		if len(r.thread.said) == 0 { // a log that goes on with another one has its head, too
			r.thread.say(systemRole, instructions(payload), at)
		}
	case "turn_context":
		if model := payload.Get("model").Str; model != "" {
			r.thread.model = strings.Clone(model)
		}
	case "compacted":
		r.restart(v)
	case "event_msg":
	case "response_item":
		r.item(payload, v)
	}
}

func instructions(head value) string {
	for _, where := range [...]string{"base_instructions.text", "base_instructions", "instructions"} {
		if text := head.Get(where); !text.IsObject() && text.String() != "" {
			return text.String()
		}
	}
	return ""
}

// item takes in one item of a line, which has its time.
func (r *codex) item(it, line value) {
	t, at, id := r.thread, clock(line.Get("timestamp")), it.Get("call_id").Str
	switch it.Get("type").Str {
	case "message":
		text := texts(it.Get("content"), map[string]string{"input_image": "[image omitted]"})
		switch it.Get("role").Str {
		case "assistant":
			t.answer("", text, at)
		case "system", "developer":
			t.say(systemRole, text, at)
		case "user":
			t.say(userRole, text, at)
		}
	case "function_call":
		t.call("", call{id: id, name: it.Get("name").Str, arguments: argumentsOf(it.Get("arguments"))}, at)
	case "custom_tool_call":
		t.call("", call{id: id, name: it.Get("name").Str, arguments: argumentsOf(it.Get("input"))}, at)
	case "local_shell_call":
		t.call("", call{id: id, name: "local_shell", arguments: argumentsOf(it.Get("action"))}, at)
	case "function_call_output", "custom_tool_call_output":
		output := it.Get("output")
		if output.IsObject() {
			output = output.Get("content")
		}
		t.addResult(id, texts(output, map[string]string{"input_image": "[image omitted]"}), at)
	}
}

// restart begins anew with what the line says, behind the same instructions.
func (r *codex) restart(v value) {
	t := r.thread
	head := ""
	if len(t.said) > 0 && t.said[0].role == systemRole {
		head = t.said[0].text
	}
	t.restart()
	t.say(systemRole, head, clock(v.Get("timestamp")))
	if history := v.Get("payload.replacement_history"); history.IsArray() {
		history.ForEach(func(_, it value) bool {
			r.item(it, v)
			return true
		})
		return
	}
	t.say(userRole, v.Get("payload.message").Str, clock(v.Get("timestamp")))
}

func (r *codex) end() { r.thread.give() }
