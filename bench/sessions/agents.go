package sessions

import (
	"cmp"
	"strconv"

	"github.com/tidwall/gjson"
)

// readClaudeCode reads a log of Claude Code. It has a line for each block of a message. uuid and parentUuid make the
// lines trees: in one, a prompt that the user edits begins a new branch; subagents have trees of their own.
func readClaudeCode(t *tree, lines []gjson.Result) {
	for _, line := range lines {
		id := line.Get("uuid").Str
		if _, again := t.lines[id]; again && id != "" {
			continue
		}
		t.follow(line.Get("parentUuid"))
		if line.Get("subtype").Str == "compact_boundary" || line.Get("isCompactSummary").Bool() {
			t.last = nil
		}
		m := line.Get("message")
		t.part = m.Get("id").Str
		if model := m.Get("model").Str; model != "<synthetic>" { // an error message of Claude Code
			t.model = cmp.Or(model, t.model)
			t.add(line.Get("type").Str, m)
		}
		t.end(id)
	}
}

// readPi reads a log of pi. It has a line for each message; id and parentId make the lines a tree. A session that pi has
// compacted is read whole, and commands that the user ran are left out.
func readPi(t *tree, lines []gjson.Result) {
	for i, line := range lines {
		t.part = cmp.Or(line.Get("id").Str, strconv.Itoa(i)) // older logs have no IDs
		t.follow(line.Get("parentId"))
		m := line.Get("message")
		t.model = cmp.Or(firstOf(line, "modelId", "message.model").Str, t.model)
		t.add(m.Get("role").Str, m)
		t.end(t.part)
	}
}

// readCodex reads a log of Codex. It has a line for each item of a conversation in Responses, beside others for events
// and settings.
func readCodex(t *tree, lines []gjson.Result) {
	instructions := ""
	for _, line := range lines {
		payload := line.Get("payload")
		switch line.Get("type").Str {
		case "session_meta":
			if len(t.messages) == 0 { // the log of a resumed session repeats it
				instructions = firstOf(payload, "base_instructions.text", "instructions").Str
				t.say("system", instructions)
			}
		case "turn_context":
			t.model = cmp.Or(payload.Get("model").Str, t.model)
		case "response_item":
			t.add(payload.Get("role").Str, payload)
		case "compacted":
			t.last = nil
			t.say("system", instructions)
			history := payload.Get("replacement_history")
			for _, item := range history.Array() {
				t.add(item.Get("role").Str, item)
			}
			if !history.Exists() {
				t.say("user", payload.Get("message").Str)
			}
		}
	}
}

// firstOf returns the value of the first of the keys that v has.
func firstOf(v gjson.Result, keys ...string) (value gjson.Result) {
	for _, key := range keys {
		if value = v.Get(key); value.Exists() {
			break
		}
	}
	return value
}
