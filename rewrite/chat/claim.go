package chat

import (
	"slices"

	"epitome/rewrite/conversation"
	"epitome/tokenize"
)

// Claims reports whether a body has what only requests of this dialect have: a message of a role that others lack, a
// call beside what is said, or a function among the tools.
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
	return r.Head > 0 || slices.ContainsFunc(r.Items, func(it conversation.Item) bool {
		return it.Role == conversation.Tool || len(it.Calls) > 0 || it.Legacy
	})
}
