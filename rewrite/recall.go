package rewrite

import (
	"epitome/rewrite/conversation"
	"epitome/rewrite/offer"
)

// Recall says which clients are told to read artifacts with epitome's tool, and not where they lie.
type Recall int

// Clients that are told of the tool.
const (
	RecallNobody    Recall = iota
	RecallOfferedTo        // those that offer it to their model
	RecallAll
)

// by tells whether the client of a request is one of them.
func (r Recall) by(req *conversation.Request) bool {
	return r == RecallAll || r == RecallOfferedTo && offer.Recall(req)
}
