package rewrite

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"epitome/event"
	"epitome/prose"
)

// Style is of what a summary is made, and how much it says: two keys of the table [summarize], where each is explained for users.
type Style struct {
	Mode   string // one of prose.Modes; empty is auto
	Detail string // one of prose.Details; empty is medium
}

// With is s with another value under the name of a header: summarize-mode or summarize-detail. ok says that the name is one of them.
func (s Style) With(name, value string) (with Style, ok bool, err error) {
	field, list := &s.Mode, prose.Modes()
	switch strings.ToLower(name) {
	case "summarize-mode":
	case "summarize-detail":
		field, list = &s.Detail, prose.Details()
	default:
		return s, false, nil
	}
	if !slices.Contains(list, value) {
		return s, true, fmt.Errorf("cannot use x-epitome-%s: write one of %s", strings.ToLower(name), strings.Join(list, ", "))
	}
	*field = value
	return s, true, nil
}

// Summariser makes prose of a span of a conversation, once for each question.
type Summariser interface {
	// Look returns prose that was made before. If there is none, pending says that it is being made.
	Look(key string) (p prose.Prose, found, pending bool)
	// Ask returns the answer. It waits no longer than it should, and not after ctx has ended; the making goes on then.
	Ask(ctx context.Context, q prose.Question) (prose.Prose, error)
	// Prepare has the question answered for whoever looks later.
	Prepare(q prose.Question)
	// Prepares reports whether that is done for conversations with the upstream.
	Prepares(upstream string) bool
	// Needs is how many tokens of the model a request needs besides Question.Continue: for the instruction and the answer.
	// Of the model's tokens usable may be filled, and one of the vocabulary is ratio of them.
	Needs(detail string, usable int, ratio float64) int
}

// Listener hears what happens while a request is shaped, on its goroutine. It must not wait. Events come without a time:
// shaping knows no clock, so the listener sets it.
type Listener interface {
	// RecordCompaction hears each step of a compaction: that it has begun, and then how it ended.
	RecordCompaction(e event.Compaction)
	// RecordWarning hears that a conversation is about to cost more, or to be more, than it should.
	RecordWarning(e event.Warning)
}
