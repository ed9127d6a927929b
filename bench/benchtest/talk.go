// Package benchtest has conversations and shapers for tests of what is replayed. Tokens are those of package price.
package benchtest

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"epitome/bench/policy"
)

// Twenty is a text of 20 characters, which makes a message of 10 tokens: 20/3.6 is 5, one more, and 4 of framing.
const Twenty = "twenty characters!!!"

// Third is the last of three things the user says, of the same length.
const Third = "now the third user's"

// Says returns a message of one text.
func Says(role, text string) string { return fmt.Sprintf(`{"role":%q,"content":%q}`, role, text) }

// Calls returns an assistant's message with one call.
func Calls(id, tool, arguments string) string {
	call := fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":%q,"arguments":%q}}`, id, tool, arguments)
	return `{"role":"assistant","content":null,"tool_calls":[` + call + `]}`
}

// Answers returns the result of a call.
func Answers(id, text string) string {
	return fmt.Sprintf(`{"role":"tool","tool_call_id":%q,"content":%q}`, id, text)
}

// Chat returns a request with the messages.
func Chat(messages ...string) string {
	return `{"model":"m", "messages": [` + strings.Join(messages, ",\n ") + ` ], "seed":1.50}`
}

// Smalltalk returns a conversation with three requests, of 11, 31 and 51 tokens.
func Smalltalk() string {
	return Chat(Says("user", Twenty), Says("assistant", Twenty), Says("user", Twenty+"!"), Says("assistant", Twenty),
		Says("user", Third))
}

// Unchanged sends each request as it came.
type Unchanged struct{}

// Shape is of policy.Shaper.
func (Unchanged) Shape(body []byte, _ time.Time) (policy.Shaped, error) {
	return policy.Shaped{Body: body}, nil
}

// ShaperFunc shapes without a memory.
type ShaperFunc func(body []byte) (policy.Shaped, error)

// Shape is of policy.Shaper.
func (f ShaperFunc) Shape(body []byte, _ time.Time) (policy.Shaped, error) { return f(body) }

// Replacing sends what strings.NewReplacer makes of a request once it holds what triggers it.
func Replacing(trigger string, pairs ...string) ShaperFunc {
	was := false
	return func(body []byte) (policy.Shaped, error) {
		if !bytes.Contains(body, []byte(trigger)) {
			return policy.Shaped{Body: body}, nil
		}
		decided := !was
		was = true
		return policy.Shaped{Body: []byte(strings.NewReplacer(pairs...).Replace(string(body))), Decided: decided}, nil
	}
}

// Needy returns a conversation whose last answer names four things and one line: src/old, of eight groups ago,
// src/new of the group before, other_name of both, and never_said, which nobody has said.
func Needy() string {
	messages := []string{Says("user", "Mend src/new please."), Calls("1", "list", `{}`),
		Answers("1", "src/old other_name\n"+Line+"\n")}
	for range 7 {
		messages = append(messages, Says("assistant", "Well."), Says("user", "Go on."))
	}
	messages = append(messages, Calls("2", "list", `{}`), Answers("2", "src/new other_name"),
		Calls("3", "edit", `{"path":"src/old","to":"src/new","text":"other_name never_said\n`+Line+`\n"}`),
		Answers("3", "ok"))
	return Chat(messages...)
}

// Line is the line of Needy.
const Line = "a line of code that is repeated"

// Stub names an artifact.
const Stub = "see aaaabbbbccccddddeeeeffff22"
