package replay

import "github.com/tidwall/gjson"

// flawsOf returns the rules of Chat Completions that a body breaks, among those that a rewrite could break: it is JSON,
// the results of an answer's calls follow it, arguments are JSON, and no message is empty. It shares no code with
// epitome's own check.
func flawsOf(body []byte) (flaws []string) {
	if !gjson.ValidBytes(body) {
		return []string{"it is not JSON"}
	}
	waiting := map[string]bool{} // calls, by ID
	for _, m := range gjson.GetBytes(body, "messages").Array() {
		id, calls, content := m.Get("tool_call_id").Str, m.Get("tool_calls").Array(), m.Get("content")
		isResult := m.Get("role").Str == "tool"
		switch {
		case isResult && !waiting[id]:
			flaws = append(flaws, "a result answers no call: "+id)
		case isResult:
			delete(waiting, id)
		case len(waiting) > 0:
			flaws = append(flaws, "a call has no result before "+m.Raw)
			clear(waiting)
		}
		if content.Type != gjson.String && len(content.Array()) == 0 && len(calls) == 0 {
			flaws = append(flaws, "a message has no content: "+m.Raw)
		}
		for _, call := range calls {
			arguments := call.Get("function.arguments")
			if waiting[call.Get("id").Str] = true; arguments.Exists() && !gjson.Valid(arguments.Str) {
				flaws = append(flaws, "the arguments of a call are not JSON: "+call.Raw)
			}
		}
	}
	return flaws
}
