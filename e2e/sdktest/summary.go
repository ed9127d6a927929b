//go:build e2e

package sdktest

import (
	"encoding/json"
	"regexp"
	"strings"
)

// section is how epitome asks for one section of a summary.
var section = regexp.MustCompile(`(?m)^## ([A-Z][A-Za-z ]+)\n\[`)

// said is a message, or an item that may be one.
type said struct{ Content json.RawMessage }

// Summary is what a scripted model answers to a request that is epitome's own, and "" to any other. It knows nothing of
// the conversation: each section says which one it is.
func Summary(body []byte) string {
	var request struct {
		Messages []said
		Input    []said // of Responses
	}
	if json.Unmarshal(body, &request) != nil {
		return ""
	}
	all := append(request.Messages, request.Input...)
	if len(all) == 0 {
		return ""
	}
	question := lastText(all[len(all)-1].Content)
	var summary strings.Builder
	for _, heading := range section.FindAllStringSubmatch(question, -1) {
		summary.WriteString("## " + heading[1] + "\n- What a model says of: " + heading[1] + ".\n")
	}
	return summary.String()
}

// lastText is a message's text, or the last one of several.
func lastText(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var blocks []struct{ Text string }
	if json.Unmarshal(content, &blocks) != nil || len(blocks) == 0 {
		return ""
	}
	return blocks[len(blocks)-1].Text
}
