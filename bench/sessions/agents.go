package sessions

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/tidwall/gjson"
)

// readClaudeCode reads a log of Claude Code. It has a line for each block of a message. uuid and parentUuid make the
// lines a tree, in which a prompt that the user edits begins a new branch. Subagents have conversations of their own.
func readClaudeCode(lines []gjson.Result) (bodies [][]byte) {
	var ordered []*thread
	threads := map[string]*thread{} // by the ID of a subagent or, in older logs, the uuid of its first line; else by ""
	keys := map[string]string{}     // of threads, by uuid
	for _, line := range lines {
		id := line.Get("uuid").Str
		if _, again := keys[id]; again && id != "" {
			continue
		}
		key := ""
		if line.Get("isSidechain").Bool() {
			key = cmp.Or(line.Get("agentId").Str, keys[line.Get("parentUuid").Str], id)
		}
		keys[id] = key
		t := threads[key]
		if t == nil {
			t = newThread()
			threads[key], ordered = t, append(ordered, t)
		}
		addClaudeLine(t, line)
		t.end(id)
	}
	for _, t := range ordered {
		bodies = append(bodies, t.finish()...)
	}
	return bodies
}

func addClaudeLine(t *thread, line gjson.Result) {
	m := line.Get("message")
	t.id = m.Get("id").Str
	switch line.Get("type").Str {
	case "system":
		if line.Get("subtype").Str == "compact_boundary" {
			t.restart()
		}
	case "user":
		results := m.Get(`content.#(type=="tool_result")#`).Array()
		switch {
		case line.Get("isCompactSummary").Bool():
			t.restart()
		case len(results) == 0: // results of parallel calls have parents that are not the last line
			t.rewind(line.Get("parentUuid"))
		}
		for _, block := range results {
			t.result(block.Get("tool_use_id").Str, textOf(block.Get("content")))
		}
		t.add("user", m.Get("content"))
	case "assistant":
		if model := m.Get("model").Str; model != "<synthetic>" { // an error message of Claude Code
			t.model = cmp.Or(model, t.model)
			t.add("assistant", m.Get("content"))
		}
	}
}

// readPi reads a log of pi. It has a line for each message; id and parentId make the lines a tree.
func readPi(lines []gjson.Result) [][]byte {
	t := newThread()
	for i, line := range lines {
		t.id = cmp.Or(line.Get("id").Str, strconv.Itoa(i)) // older logs have no IDs, and refer to lines by number
		t.rewind(line.Get("parentId"))
		switch line.Get("type").Str {
		case "model_change":
			t.model = cmp.Or(line.Get("modelId").Str, t.model)
		case "custom_message":
			t.add("user", line.Get("content"))
		case "branch_summary":
			t.add("user", line.Get("summary"))
		case "compaction":
			compactPi(t, line)
		case "message":
			m := line.Get("message")
			switch role := m.Get("role").Str; role {
			case "toolResult":
				t.result(m.Get("toolCallId").Str, textOf(m.Get("content")))
			case "bashExecution":
				t.say("user", fmt.Sprintf("Ran `%s`\n```\n%s\n```", m.Get("command").Str, m.Get("output").Str))
			default:
				t.model = cmp.Or(m.Get("model").Str, t.model)
				t.add(role, m.Get("content"))
			}
		}
		t.end(t.id)
	}
	return t.finish()
}

// compactPi goes on with the summary of a compaction and the messages that it kept.
func compactPi(t *thread, line gjson.Result) {
	first := cmp.Or(line.Get("firstKeptEntryId").Str, line.Get("firstKeptEntryIndex").Raw)
	var kept []message
	if i := slices.IndexFunc(t.messages, func(m message) bool { return m.id == first }); i >= 0 {
		kept = t.messages[i:]
	}
	t.restart()
	t.add("user", line.Get("summary"))
	for _, m := range kept {
		t.messages = append(t.messages, m)
		t.end(m.id)
	}
}

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
				instructions = firstOf(payload, "base_instructions.text", "instructions").Str
				t.say("system", instructions)
			}
		case "turn_context":
			t.model = cmp.Or(payload.Get("model").Str, t.model)
		case "response_item":
			addCodexItem(t, payload)
		case "compacted":
			t.restart()
			t.say("system", instructions)
			history := payload.Get("replacement_history")
			for _, item := range history.Array() {
				addCodexItem(t, item)
			}
			if !history.Exists() {
				t.add("user", payload.Get("message"))
			}
		}
	}
	return t.finish()
}

// addCodexItem adds an item of Responses to the messages.
func addCodexItem(t *thread, item gjson.Result) {
	id := item.Get("call_id").Str
	switch item.Get("type").Str {
	case "message":
		t.add(item.Get("role").Str, item.Get("content"))
	case "function_call", "custom_tool_call":
		t.call(id, item.Get("name").Str, firstOf(item, "arguments", "input"))
	case "local_shell_call":
		t.call(id, "local_shell", item.Get("action"))
	case "function_call_output", "custom_tool_call_output":
		t.result(id, textOf(firstOf(item, "output.content", "output")))
	}
}

// readOpenCode reads a document that `opencode export` writes. It has a list of messages, each with a list of parts.
func readOpenCode(document gjson.Result) [][]byte {
	t := newThread()
	for i, m := range document.Get("messages").Array() {
		info, parts := m.Get("info"), m.Get("parts")
		t.id = fmt.Sprint("message ", i)
		t.model = cmp.Or(info.Get("modelID").Str, t.model)
		isAnswer, isSummary := info.Get("role").Str == "assistant", info.Get("summary").Bool() // of a compaction
		if isAnswer && isSummary {
			t.restart()
		}
		if !isAnswer || isSummary {
			t.add("user", parts)
			continue
		}
		for step, part := range parts.Array() {
			state := part.Get("state")
			switch part.Get("type").Str {
			case "step-start": // begins another answer
				t.id = fmt.Sprint("message ", i, " step ", step)
			case "text":
				t.say("assistant", part.Get("text").Str)
			case "tool":
				t.call(part.Get("callID").Str, part.Get("tool").Str, state.Get("input"))
				if result := firstOf(state, "output", "error"); result.Exists() {
					t.result(part.Get("callID").Str, result.String())
				}
			}
		}
	}
	return t.finish()
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
