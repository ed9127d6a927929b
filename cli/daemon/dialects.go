package daemon

import (
	"fmt"

	"github.com/tidwall/gjson"

	"epitome/proxy"
	"epitome/rewrite/chat"
	"epitome/rewrite/messages"
	"epitome/rewrite/responses"
)

// Dialect is an API in which conversations are shaped.
type Dialect = proxy.Dialect

// dialects are all that there are.
func dialects() []Dialect { return []Dialect{chat.Dialect{}, messages.Dialect{}, responses.Dialect{}} }

// titles are the names of all APIs, in a sentence.
const titles = "Chat Completions, Anthropic Messages or OpenAI Responses"

// DialectOf returns the API of a request whose path nobody knows: the one of that name, or without a name the one whose
// marks the body has. Without any mark it is Chat Completions.
func DialectOf(name string, body []byte) (Dialect, error) {
	all := dialects()
	for _, d := range all {
		if d.Name() == name {
			return d, nil
		}
	}
	if name != "" {
		return nil, fmt.Errorf("cannot read dialect %.40q: write chat, messages or responses", name)
	}
	marks := [...]struct {
		dialect Dialect
		paths   []string
	}{
		{all[1], []string{"system", "anthropic_version", "stop_sequences", "thinking.budget_tokens", "tools.#.input_schema|0",
			`messages.#.content.#(type=="tool_use")#|@flatten|0`, `messages.#.content.#(type=="tool_result")#|@flatten|0`}},
		{all[0], []string{`messages.#(role=="tool")`, `messages.#(role=="developer")`, `messages.#(role=="system")`,
			"messages.#.tool_calls|0", "tools.#.function|0", "max_completion_tokens"}},
		{all[2], []string{"input", "instructions", "previous_response_id"}},
	}
	for _, m := range marks {
		for _, found := range gjson.GetManyBytes(body, m.paths...) {
			if found.Exists() && found.Type != gjson.Null {
				return m.dialect, nil
			}
		}
	}
	return all[0], nil
}
