package sessions

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/tidwall/gjson"
)

// readPi reads a log of pi. It has a line for each message; id and parentId make the lines a tree. Older logs have no
// IDs: their compactions refer to lines by number.
func readPi(lines []gjson.Result) [][]byte {
	t := newThread()
	for i, line := range lines {
		id := cmp.Or(line.Get("id").Str, strconv.Itoa(i))
		t.id = id
		t.rewind(line.Get("parentId"))
		switch line.Get("type").Str {
		case "model_change":
			t.model = cmp.Or(line.Get("modelId").Str, t.model)
		case "message":
			addPiMessage(t, line.Get("message"))
		case "custom_message":
			t.say(user, textOf(line.Get("content")))
		case "branch_summary":
			t.say(user, line.Get("summary").Str)
		case "compaction":
			compactPi(t, line)
		}
		t.end(id)
	}
	return t.finish()
}

func addPiMessage(t *thread, m gjson.Result) {
	content := m.Get("content")
	switch m.Get("role").Str {
	case "user", "custom", "hookMessage":
		t.say(user, textOf(content))
	case "bashExecution":
		t.say(user, fmt.Sprintf("Ran `%s`\n```\n%s\n```", m.Get("command").Str, m.Get("output").Str))
	case "toolResult":
		t.result(m.Get("toolCallId").Str, textOf(content))
	case "assistant":
		t.model = cmp.Or(m.Get("model").Str, t.model)
		for _, part := range content.Array() {
			switch part.Get("type").Str {
			case "text":
				t.answer(part.Get("text").Str)
			case "toolCall":
				t.call(part.Get("id").Str, part.Get("name").Str, part.Get("arguments"))
			}
		}
	}
}

// compactPi goes on with the summary of a compaction and the messages that it kept.
func compactPi(t *thread, line gjson.Result) {
	first := cmp.Or(line.Get("firstKeptEntryId").Str, line.Get("firstKeptEntryIndex").Raw)
	var kept []*message
	if i := slices.IndexFunc(t.messages, func(m *message) bool { return m.id == first }); i >= 0 {
		kept = t.messages[i:]
	}
	t.restart()
	t.say(user, line.Get("summary").Str)
	for _, m := range kept {
		t.messages = append(t.messages, m)
		t.end(m.id)
	}
}
