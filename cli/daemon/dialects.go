package daemon

import (
	"fmt"
	"slices"

	"github.com/tidwall/gjson"

	"epitome/proxy"
	"epitome/rewrite/chat"
	"epitome/rewrite/messages"
	"epitome/rewrite/responses"
)

// dialects are all that there are.
func dialects() []proxy.Dialect {
	return []proxy.Dialect{chat.Dialect{}, messages.Dialect{}, responses.Dialect{}}
}

// DialectOf returns the API of a request whose path nobody knows: the one of that name, or without a name the one whose
// fields the body has. Without any of them it is Chat Completions.
func DialectOf(name string, body []byte) (proxy.Dialect, error) {
	for _, d := range dialects() {
		if d.Name() == name {
			return d, nil
		}
	}
	if name != "" {
		return nil, fmt.Errorf("cannot read dialect %.40q: write chat, messages or responses", name)
	}
	has := func(paths ...string) bool {
		return slices.ContainsFunc(gjson.GetManyBytes(body, paths...), func(found gjson.Result) bool {
			return found.Exists() && found.Type != gjson.Null
		})
	}
	switch {
	case has("system", "anthropic_version", "stop_sequences", "thinking.budget_tokens", "tools.#.input_schema|0",
		`messages.#.content.#(type=="tool_use")#|@flatten|0`, `messages.#.content.#(type=="tool_result")#|@flatten|0`):
		return messages.Dialect{}, nil
	case !has("messages") && has("input", "instructions", "previous_response_id"):
		return responses.Dialect{}, nil
	}
	return chat.Dialect{}, nil
}
