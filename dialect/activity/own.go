package activity

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"epitome/dialect/conversation"
)

// recallTool matches the name of epitome's own tool recall, before which clients put that of the server
// (mcp__epitome__recall, epitome_recall), and in a declaration of tools the name of its MCP server.
var recallTool = regexp.MustCompile(`epitome[_.:/-]{1,3}recall\b|` +
	`"(?:name|server_label|mcp_server_name)"\s*:\s*"(?:mcp[_-]{1,2})?epitome_{0,2}"`)

// HasRecall reports whether epitome's own tool recall is declared before the model's first answer: later requests begin
// in the same way.
func HasRecall(r *conversation.Request) bool {
	for _, span := range r.Before(r.Head) {
		text := span.Of(r.Body)
		if bytes.Contains(text, []byte("epitome")) && recallTool.Match(text) {
			return true
		}
	}
	return false
}

// CompactAnswer is what epitome's own tool compact answers. Behind a call of the tool, the next request is compacted.
const CompactAnswer = "epitome compacts this conversation before its next request: a summary takes the place of older " +
	"turns. A conversation that is too short for that stays as it is."

// compactTool matches the names of tools that may be epitome's own tool compact, and in the first group the name of its
// server. A client may give the server another name: then the answer tells the tool from others.
var compactTool = regexp.MustCompile(`(?:^|(epitome)?[_.:/-]{1,3})compact$`)

// AsksToCompact reports whether the model's newest answer has called epitome's own tool compact. calls are those of r.
func AsksToCompact(r *conversation.Request, calls []Call) bool {
	newest := len(r.Items) - 1
	for newest > 0 && !r.Items[newest].StartsAnswer {
		newest--
	}
	for _, call := range slices.Backward(calls) {
		if call.Item < newest {
			break
		}
		m := compactTool.FindStringSubmatch(call.Tool)
		if m == nil || call.State() != "ok" {
			continue
		}
		if m[1] != "" || strings.Contains(call.ResultText(r), CompactAnswer) {
			return true
		}
	}
	return false
}
