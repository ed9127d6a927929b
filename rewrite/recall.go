package rewrite

import (
	"regexp"

	"epitome/rewrite/conversation"
)

// Recall says which clients are told to read artifacts with epitome's tool, and not where they lie.
type Recall int

// Clients that are told of the tool.
const (
	RecallNobody    Recall = iota
	RecallOfferedTo        // those that offer it to their model
	RecallAll
)

// toolNames finds the tool among others, as clients name the tools of a server, or the server whose tools they hold
// back: mcp__epitome__recall, epitome_recall, epitome.recall, mcp__epitome.
var toolNames = regexp.MustCompile(`mcp__epitome\b|mcp__epitome__|(?:\b|_)epitome(?:_{1,2}|[.:/-])recall\b|` +
	`"name"\s*:\s*"epitome"`)

// by tells whether the client of a request is one of them. A tool is offered where tools are declared, or where a
// client that declares them later names them: in what comes before the model's first words, which stays the same.
func (r Recall) by(req *conversation.Request) bool {
	if r != RecallOfferedTo {
		return r == RecallAll
	}
	if toolNames.Match(req.Tools.Of(req.Body)) || toolNames.Match(req.Instructions.Of(req.Body)) {
		return true
	}
	for i := range req.Items {
		if it := &req.Items[i]; it.Role == conversation.Assistant {
			return false
		} else if toolNames.Match(it.Of(req.Body)) {
			return true
		}
	}
	return false
}
