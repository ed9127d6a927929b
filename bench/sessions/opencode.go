package sessions

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"
)

// readOpenCode reads a document that `opencode export` writes. It has a list of messages, each with a list of parts.
func readOpenCode(document gjson.Result) [][]byte {
	t := newThread()
	for i, m := range document.Get("messages").Array() {
		info, parts := m.Get("info"), m.Get("parts").Array()
		t.id = fmt.Sprint("message ", i)
		t.model = cmp.Or(info.Get("modelID").Str, t.model)
		switch {
		case info.Get("role").Str != assistant:
			t.say(user, openCodeText(parts))
		case info.Get("summary").Bool(): // of a compaction
			t.restart()
			t.say(user, openCodeText(parts))
		default:
			addOpenCodeAnswers(t, parts)
		}
	}
	return t.finish()
}

// addOpenCodeAnswers adds the parts of an assistant's message. Each step in it is the answer to a request.
func addOpenCodeAnswers(t *thread, parts []gjson.Result) {
	message := t.id
	for i, part := range parts {
		switch part.Get("type").Str {
		case "step-start":
			t.id = fmt.Sprint(message, " step ", i) // another id begins another answer
		case "text":
			t.answer(part.Get("text").Str)
		case "tool":
			id, state := part.Get("callID").Str, part.Get("state")
			t.call(id, part.Get("tool").Str, state.Get("input"))
			switch state.Get("status").Str {
			case "completed":
				t.result(id, state.Get("output").String())
			case "error":
				t.result(id, state.Get("error").String())
			}
		}
	}
}

// openCodeText returns the text of the parts that the model sees, with the names of files.
func openCodeText(parts []gjson.Result) string {
	var texts []string
	for _, part := range parts {
		switch {
		case part.Get("ignored").Bool():
		case part.Get("type").Str == "text":
			texts = append(texts, part.Get("text").Str)
		case part.Get("type").Str == "file":
			texts = append(texts, "[file "+part.Get("filename").Str+"]")
		}
	}
	return strings.Join(texts, "\n")
}
