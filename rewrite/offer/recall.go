// Package offer tells which tools a client offers to its model: epitome's own, and any that read files. It looks at a
// bounded number of places.
package offer

import (
	"bytes"

	"epitome/pattern"
	"epitome/rewrite/conversation"
)

// Recall reports whether the model may call the tool that reads artifacts. A tool is offered where tools are
// declaredTool, or where a client that declares them later lists them: in what comes before the model's first words,
// which stays the same.
func Recall(req *conversation.Request) bool {
	if names(req.Tools.Of(req.Body), declaredTool) || names(req.Instructions.Of(req.Body), listedTool) {
		return true
	}
	for i := range req.Items {
		if it := &req.Items[i]; it.Role == conversation.Assistant {
			return false
		} else if names(it.Of(req.Body), listedTool) {
			return true
		}
	}
	return false
}

// Clients name a server's tool after both (mcp__epitome__recall, mcp--epitome--recall, epitome_recall), or declare the
// server that has it. Where they only list it, it begins a line of JSON's text and is followed by nothing or by what it
// does; a sentence that speaks of it is no list.
var (
	declaredTool = pattern.Of(`"(?:mcp[_-]{1,2})?epitome(?:[_-]{1,3}|[.:/])recall"|` +
		`"(?:name|server_label|mcp_server_name)"\s*:\s*"(?:mcp[_-]{1,2})?epitome_{0,2}"`)
	listedTool = pattern.Of(`(?:^"|[^\\]"|\\n)(?:- )?(?:mcp[_-]{1,2})` +
		`(?:epitome[_-]{1,3}recall(?:["\\:,<]|$)|epitome_{0,2}(?:["\\:<]|$))`)
)

// names looks for a form at each place where epitome is named. Few places are looked at: a client that has the tool
// names it at once.
func names(text []byte, form *pattern.Pattern) bool {
	const before, behind, most = 40, 24, 200 // bytes, places
	word := []byte("epitome")
	for range most {
		i := bytes.Index(text, word)
		if i < 0 {
			return false
		}
		if form.Match(text[max(0, i-before):min(len(text), i+behind)]) {
			return true
		}
		text = text[i+len(word):]
	}
	return false
}
