package sessions

import (
	"cmp"

	"github.com/tidwall/gjson"
)

// claudeLog is a log of Claude Code. It has a line for each block of a message. uuid and parentUuid make the lines a
// tree, in which a prompt that the user edits begins a new branch. Subagents have conversations of their own.
type claudeLog struct {
	threads map[string]*thread // by key, which is empty for the main conversation
	ordered []*thread
	keys    map[string]string // by uuid, the key of the line's thread
}

func readClaudeCode(lines []gjson.Result) (bodies [][]byte) {
	log := claudeLog{threads: make(map[string]*thread), keys: make(map[string]string)}
	for _, line := range lines {
		id := line.Get("uuid").Str
		if _, again := log.keys[id]; again && id != "" {
			continue
		}
		t := log.threadOf(line)
		addClaudeLine(t, line)
		t.end(id)
	}
	for _, t := range log.ordered {
		bodies = append(bodies, t.finish()...)
	}
	return bodies
}

// threadOf returns the thread of a line. The key of a subagent's thread is the ID of the subagent or, in older logs,
// the uuid of the first line.
func (log *claudeLog) threadOf(line gjson.Result) *thread {
	key, id := "", line.Get("uuid").Str
	if line.Get("isSidechain").Bool() {
		key = cmp.Or(line.Get("agentId").Str, log.keys[line.Get("parentUuid").Str], id)
	}
	log.keys[id] = key
	t := log.threads[key]
	if t == nil {
		t = newThread()
		log.threads[key], log.ordered = t, append(log.ordered, t)
	}
	return t
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
		hasResults := m.Get(`content.#(type=="tool_result")`).Exists()
		switch {
		case line.Get("isCompactSummary").Bool():
			t.restart()
		case !hasResults: // results of parallel calls have parents that are not the last line
			t.rewind(line.Get("parentUuid"))
		}
		for _, block := range m.Get("content").Array() {
			if block.Get("type").Str == "tool_result" {
				t.result(block.Get("tool_use_id").Str, textOf(block.Get("content")))
			}
		}
		t.say(user, textOf(m.Get("content")))
	case "assistant":
		if m.Get("model").Str == "<synthetic>" { // an error message of Claude Code
			return
		}
		t.model = cmp.Or(m.Get("model").Str, t.model)
		for _, block := range m.Get("content").Array() {
			switch block.Get("type").Str {
			case "text":
				t.answer(block.Get("text").Str)
			case "tool_use":
				t.call(block.Get("id").Str, block.Get("name").Str, block.Get("input"))
			}
		}
	}
}
