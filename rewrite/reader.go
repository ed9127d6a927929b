package rewrite

import (
	"bytes"
	"regexp"
	"slices"

	"epitome/rewrite/conversation"
)

// readsByTool reports whether the model is told to read artifacts with epitome's own tool.
func (x *shaping) readsByTool() bool {
	recall := x.shaper.deps.Recall
	return recall == RecallAll || recall == RecallOfferedTo && offersRecall(x.request)
}

// Clients name a server's tool after both (mcp__epitome__recall, epitome_recall), or declare the server that has it.
// Where they only list it, it begins a line of a JSON text; a sentence that speaks of it is no list.
var (
	declaredTool = regexp.MustCompile(`"(?:mcp[_-]{1,2})?epitome(?:[_-]{1,3}|[.:/])recall"|` +
		`"(?:name|server_label|mcp_server_name)"\s*:\s*"(?:mcp[_-]{1,2})?epitome_{0,2}"`)
	listedTool = regexp.MustCompile(`(?:^"|[^\\]"|\\n)(?:- )?(?:mcp[_-]{1,2})` +
		`(?:epitome[_-]{1,3}recall(?:["\\:,<]|$)|epitome_{0,2}(?:["\\:<]|$))`)
)

// offersRecall reports whether the model may call the tool that reads artifacts: it stands among the tools, or is listed
// before the model's first words, which stay the same.
func offersRecall(r *conversation.Request) bool {
	word := []byte("epitome")
	declares := func(text []byte, form *regexp.Regexp) bool { return bytes.Contains(text, word) && form.Match(text) }
	if declares(r.Tools.Of(r.Body), declaredTool) || declares(r.System.Of(r.Body), listedTool) {
		return true
	}
	return slices.ContainsFunc(r.Items[:r.Head], func(it conversation.Item) bool {
		return declares(it.Of(r.Body), listedTool)
	})
}
