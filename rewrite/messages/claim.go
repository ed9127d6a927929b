package messages

import (
	"slices"

	"epitome/rewrite/conversation"
	"epitome/rewrite/span"
)

// Claims reports whether a body has what only requests of this dialect have: a setting, a tool's declaration, or a
// block of a message.
func Claims(body []byte) bool {
	var tools span.Span
	claims := false
	err := span.Document(body, func(key []byte, i int) (int, error) {
		end, err := span.EndOfValue(body, i)
		switch string(key) {
		case "system", "anthropic_version", "stop_sequences":
			claims = claims || err == nil && !span.UnlessNull(body, span.Span{Start: i, End: end}).Empty()
		case "thinking":
			claims = claims || setsThinking(body, i)
		case "tools":
			tools = span.Span{Start: i, End: end}
		}
		return end, err
	})
	if err != nil || claims {
		return claims && err == nil
	}
	if declares(body, tools) {
		return true
	}
	r, err := Dialect{}.Read(body, nil)
	return err == nil && slices.ContainsFunc(r.Items, func(it conversation.Item) bool {
		return it.Role == conversation.Tool || len(it.Calls) > 0 || len(it.Thinking) > 0 || it.Compacts
	})
}

// setsThinking reports whether the value at i is how this API has a model think. Others have the key, too, and say
// there only whether it does.
func setsThinking(body []byte, i int) bool {
	o, err := span.ObjectAt(body, i)
	if err != nil {
		return false
	}
	return !o.Value("budget_tokens").Empty() || string(o.Value("type").Of(body)) == `"adaptive"`
}

// declares reports whether a list of tools has one as this API takes it.
func declares(body []byte, tools span.Span) (found bool) {
	if tools.Empty() || body[tools.Start] != '[' {
		return false
	}
	_, err := span.Elements(body, tools.Start, func(i int) (int, error) {
		if body[i] != '{' {
			return span.EndOfValue(body, i)
		}
		return span.Members(body, i, func(key []byte, i int) (int, error) {
			found = found || string(key) == "input_schema"
			return span.EndOfValue(body, i)
		})
	})
	return found && err == nil
}
