package sessions

import (
	"cmp"

	"github.com/tidwall/gjson"
)

// readCodex reads a log of Codex. It has a line for each item of a conversation in Responses, beside others for events
// and settings.
func readCodex(lines []gjson.Result) [][]byte {
	t := newThread()
	instructions := ""
	for _, line := range lines {
		payload := line.Get("payload")
		switch line.Get("type").Str {
		case "session_meta":
			if len(t.messages) == 0 { // the log of a resumed session repeats it
				instructions = cmp.Or(payload.Get("base_instructions.text").Str, payload.Get("instructions").Str)
				t.say(system, instructions)
			}
		case "turn_context":
			t.model = cmp.Or(payload.Get("model").Str, t.model)
		case "response_item":
			addCodexItem(t, payload)
		case "compacted":
			t.restart()
			t.say(system, instructions)
			history := payload.Get("replacement_history")
			for _, item := range history.Array() {
				addCodexItem(t, item)
			}
			if !history.Exists() {
				t.say(user, payload.Get("message").Str)
			}
		}
	}
	return t.finish()
}

// addCodexItem adds an item of Responses to the messages.
func addCodexItem(t *thread, item gjson.Result) {
	id, name := item.Get("call_id").Str, item.Get("name").Str
	switch item.Get("type").Str {
	case "message":
		text := textOf(item.Get("content"))
		switch item.Get("role").Str {
		case "assistant":
			t.answer(text)
		case "system", "developer":
			t.say(system, text)
		case "user":
			t.say(user, text)
		}
	case "function_call":
		t.call(id, name, item.Get("arguments"))
	case "custom_tool_call":
		t.call(id, name, item.Get("input"))
	case "local_shell_call":
		t.call(id, "local_shell", item.Get("action"))
	case "function_call_output", "custom_tool_call_output":
		output := item.Get("output")
		if output.IsObject() {
			output = output.Get("content")
		}
		t.result(id, textOf(output))
	}
}
