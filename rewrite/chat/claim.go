package chat

import (
	"slices"

	"epitome/rewrite/conversation"
	"epitome/rewrite/span"
	"epitome/tokenize"
)

// Claims reports whether a body has what only requests of this dialect have: a message of a role that others lack, a
// call beside what is said, a function among the tools, or thinking that is only switched on.
func Claims(body []byte) bool {
	d := Dialect{}
	r, err := d.Read(body, nil)
	if err != nil {
		return false
	}
	named := func(t tokenize.Tool) bool { return t.Name != "" }
	if !r.Tools.Empty() && slices.ContainsFunc(d.Tools(r.Tools.Of(body)), named) {
		return true
	}
	return r.Head > 0 || switchesThinking(body) || slices.ContainsFunc(r.Items, func(it conversation.Item) bool {
		return it.Role == conversation.Tool || len(it.Calls) > 0 || it.Legacy
	})
}

// switchesThinking reports whether thinking is on, with no word on how much: GLM and Kimi take that. The API that has
// the same key wants more beside it.
func switchesThinking(body []byte) bool {
	var v span.Span
	err := span.Document(body, func(key []byte, i int) (int, error) {
		end, err := span.EndOfValue(body, i)
		if string(key) == "thinking" {
			v = span.Span{Start: i, End: end}
		}
		return end, err
	})
	if err != nil || v.Empty() || body[v.Start] != '{' {
		return false
	}
	on, more := false, false
	_, err = span.Members(body, v.Start, func(key []byte, i int) (int, error) {
		end, err := span.EndOfValue(body, i)
		if string(key) != "type" {
			more = true
		} else if err == nil {
			on = string(body[i:end]) == `"enabled"`
		}
		return end, err
	})
	return on && !more && err == nil
}
