package sessions

import (
	"fmt"
	"strings"
)

// The names of pi's logs: a line for each message, with who comes before it where the log is a tree.

// pi reads such a log.
type pi struct {
	in     *intake
	thread *thread
	places map[string]int // messages before a line, by the line's id
	before []int          // messages before each line, by its number
}

func isPi(v value) bool {
	switch v.Get("type").Str {
	case "session":
		return v.Get("cwd").Exists() || v.Get("id").Exists()
	case "message":
		return v.Get("message").IsObject()
	case "compaction", "branch_summary":
		return v.Get("summary").Exists()
	case "custom_message":
		return v.Get("content").Exists()
	case "model_change":
		return true
	}
	return false
}

func (r *pi) line(v value) {
	if r.thread == nil {
		r.thread = newThread(r.in, Pi)
	}
	t, at := r.thread, clock(v.Get("timestamp"))
	if parent, ok := r.places["after "+v.Get("parentId").Str]; ok {
		t.rewind(parent)
	}
	r.mark("at ", v)
	for len(r.before) < r.in.number-1 { // lines of no account
		r.before = append(r.before, len(t.said))
	}
	r.before = append(r.before, len(t.said))
	switch v.Get("type").Str {
	case "model_change":
		t.model = strings.Clone(v.Get("modelId").Str)
	case "message":
		r.message(v.Get("message"), v)
	case "custom_message":
		t.say(userRole, piText(v.Get("content")), at)
	case "branch_summary":
		t.say(userRole, v.Get("summary").Str, at)
	case "compaction":
		r.compaction(v)
	}
	r.mark("after ", v)
}

func (r *pi) mark(where string, v value) {
	if id := v.Get("id").Str; id != "" {
		r.places[where+id] = len(r.thread.said)
	}
}

func (r *pi) message(m, line value) {
	t, at, content := r.thread, clock(line.Get("timestamp")), m.Get("content")
	switch m.Get("role").Str {
	case "user", "custom", "hookMessage":
		t.say(userRole, piText(content), at)
	case "bashExecution":
		t.say(userRole, fmt.Sprintf("Ran `%s`\n```\n%s\n```", m.Get("command").String(), m.Get("output").String()), at)
	case "toolResult":
		t.addResult(m.Get("toolCallId").Str, piText(content), at)
	case "assistant":
		r.assistant(m, line)
	}
}

func (r *pi) assistant(m, line value) {
	t, at := r.thread, clock(line.Get("timestamp"))
	if model := m.Get("model").Str; model != "" {
		t.model = strings.Clone(model)
	}
	group := fmt.Sprint("line ", r.in.number)
	m.Get("content").ForEach(func(_, part value) bool {
		switch part.Get("type").Str {
		case "text":
			t.answer(group, part.Get("text").Str, at)
		case "toolCall":
			t.call(group, call{id: part.Get("id").Str, name: part.Get("name").Str,
				arguments: argumentsOf(part.Get("arguments"))}, at)
		}
		return true
	})
}

// compaction begins anew with the summary and what was kept behind it.
func (r *pi) compaction(v value) {
	t := r.thread
	keep, known := r.places["at "+v.Get("firstKeptEntryId").Str]
	if i := v.Get("firstKeptEntryIndex"); i.Exists() && i.Int() >= 0 && i.Int() < int64(len(r.before)) {
		keep, known = r.before[i.Int()], true
	}
	if !known || keep > len(t.said) {
		keep = len(t.said)
	}
	t.give()
	tail := t.said[keep:]
	t.said = nil
	t.say(userRole, v.Get("summary").Str, clock(v.Get("timestamp")))
	ahead := len(t.said)
	t.said = append(t.said, tail...)
	moved := func(place int) int { return max(0, place-keep) + ahead }
	for id, place := range r.places {
		r.places[id] = moved(place)
	}
	for i, place := range r.before {
		r.before[i] = moved(place)
	}
}

func (r *pi) end() { r.thread.give() }

func piText(content value) string {
	return texts(content, map[string]string{"image": "[image omitted]"})
}
