package sessions

import "strings"

// The names of Claude Code's logs: a line for each block that somebody said. Lines form a tree by what they follow.
// Helpers that the agent has sent out are on threads of their own.

// claude reads such a log.
type claude struct {
	in     *intake
	main   *thread
	side   []*thread
	agents map[string]*thread // by the helper's id
	places map[string]place   // by the line's id
}

// place is how far a thread was behind a line.
type place struct {
	on *thread
	at int // messages
}

func isClaude(v value) bool {
	switch v.Get("type").Str {
	case "user", "assistant":
		return v.Get("message").IsObject()
	case "system":
		return v.Get("uuid").Exists() || v.Get("subtype").Exists()
	case "progress", "attachment": // others may follow them
		return v.Get("uuid").Exists()
	}
	return false
}

func (r *claude) line(v value) {
	id := v.Get("uuid").Str
	if _, again := r.places[id]; again && id != "" {
		return
	}
	t := r.thread(v)
	switch v.Get("type").Str {
	case "system":
		if v.Get("subtype").Str == "compact_boundary" {
			t.restart()
		}
	case "user":
		r.user(t, v)
	case "assistant":
		r.assistant(t, v)
	}
	if id != "" {
		r.places[strings.Clone(id)] = place{t, len(t.said)}
	}
}

// thread returns the thread that a line belongs to.
func (r *claude) thread(v value) *thread {
	if !v.Get("isSidechain").Bool() {
		if r.main == nil {
			r.main = newThread(r.in, ClaudeCode)
		}
		return r.main
	}
	agent := v.Get("agentId").Str
	if t := r.agents[agent]; t != nil && agent != "" {
		return t
	}
	if before, ok := r.places[v.Get("parentUuid").Str]; ok && agent == "" && before.on != r.main {
		return before.on
	}
	t := newThread(r.in, ClaudeCode)
	r.side = append(r.side, t)
	if agent != "" {
		r.agents[strings.Clone(agent)] = t
	}
	return t
}

func (r *claude) user(t *thread, v value) {
	at, content := clock(v.Get("timestamp")), v.Get("message.content")
	carries := false // results, so it is no new word of the user
	if content.IsArray() {
		content.ForEach(func(_, block value) bool {
			if block.Get("type").Str == "tool_result" {
				carries = true
				t.addResult(block.Get("tool_use_id").Str, claudeText(block.Get("content")), at)
			}
			return true
		})
	}
	switch parent := v.Get("parentUuid"); {
	case v.Get("isCompactSummary").Bool():
		t.restart()
	case carries:
	case parent.Exists() && parent.Str == "" && t.answersFrom(0):
		t.restart()
	default:
		if before, ok := r.places[parent.Str]; ok && before.on == t {
			t.rewind(before.at)
		}
	}
	t.say(userRole, claudeText(content), at)
}

func (r *claude) assistant(t *thread, v value) {
	m, at := v.Get("message"), clock(v.Get("timestamp"))
	if m.Get("model").Str == "<synthetic>" { // Claude Code itself tells of an error
		return
	}
	if model := m.Get("model").Str; model != "" {
		t.model = strings.Clone(model)
	}
	group, content := m.Get("id").Str, m.Get("content")
	if !content.IsArray() {
		t.answer(group, content.String(), at)
		return
	}
	content.ForEach(func(_, block value) bool {
		switch block.Get("type").Str {
		case "text":
			t.answer(group, block.Get("text").Str, at)
		case "thinking":
			t.think(group, Thought{Text: block.Get("thinking").Str}, at)
		case "redacted_thinking":
			t.think(group, Thought{Redacted: true}, at)
		case "tool_use":
			t.call(group, call{id: block.Get("id").Str, name: block.Get("name").Str,
				arguments: argumentsOf(block.Get("input"))}, at)
		}
		return true
	})
}

func (r *claude) end() {
	if r.main != nil {
		r.main.give()
	}
	for _, t := range r.side {
		t.give()
	}
}

func claudeText(content value) string {
	return texts(content, map[string]string{"image": "[image omitted]", "document": "[document omitted]"})
}
