package replay

import (
	"fmt"

	"github.com/tidwall/gjson"
)

// flawsOf returns the rules of Chat Completions that a body breaks, among those that a rewrite could break: it is JSON,
// the results of an answer's calls follow it, arguments are JSON, and no message is empty. It shares no code with
// epitome's own check.
func flawsOf(body []byte) (flaws []string) {
	if !gjson.ValidBytes(body) {
		return []string{"it is not JSON"}
	}
	add := func(format string, args ...any) { flaws = append(flaws, fmt.Sprintf(format, args...)) }
	waiting := map[string]bool{} // calls, by ID
	for _, m := range gjson.GetBytes(body, "messages").Array() {
		if id := m.Get("tool_call_id").Str; m.Get("role").Str == "tool" {
			if !waiting[id] {
				add("the result %q answers no call", id)
			}
			delete(waiting, id)
		} else {
			for id := range waiting {
				add("the call %q has no result", id)
			}
			clear(waiting)
		}
		calls := m.Get("tool_calls").Array()
		for _, call := range calls {
			id, arguments := call.Get("id").Str, call.Get("function.arguments")
			if waiting[id] = true; arguments.Exists() && !gjson.Valid(arguments.Str) {
				add("the arguments of the call %q are not JSON", id)
			}
		}
		content := m.Get("content")
		if content.Type != gjson.String && len(content.Array()) == 0 && len(calls) == 0 {
			add("a message of the role %q has no content", m.Get("role").Str)
		}
	}
	return flaws
}
