// Package ladder decides what a request leaves out, in the cheapest order: offload, clear, compact, rescue.
//
// Each step is a function that adds edits to a State, depends on the State alone, and does no I/O except through
// Artifacts and a Prose. A step that loses more acts only where the steps before it leave too much. The newest groups,
// results that the model has not seen yet and the user's words go last.
//
// Files: offload.go, clear.go (rent or buy), compact.go (cut, summary), rescue.go (stages), filter.go (the user's own
// rules), stub.go (the text in the place of a result), thinking.go.
package ladder

import (
	"epitome/event"
	"epitome/rewrite/conversation"
)

// Climb takes the steps in order: it offloads new results, then applies the user's filters, clears old results, and
// compacts where the window fills. s.Reason says why older items stay as they are.
func Climb(s *State) {
	switch { // each of these reasons forbids changes of older items, and only new results are shortened
	case s.Request.Upkeep == conversation.ProviderClears:
		s.Reason = event.CodeProviderClears
	case s.Request.Upkeep == conversation.ProviderRemembers:
		s.Reason = event.CodeProviderRemembers
	case s.isRoundOpen():
		s.Reason = event.CodeThinkingRound
	}
	Offload(s)
	switch {
	case s.Reason != event.NoCode || !s.mayDecideOlder():
		return
	case s.prefixEnd > s.Request.Head:
		Filter(s)
		Clear(s)
		Compact(s)
	case s.whyCompact() != "":
		s.Reason = event.CodeNothingOlder
	}
	if len(s.Added) > 0 && s.Total() <= s.Limits.ClearLine { // the new edits were enough
		s.Reason = event.NoCode
	}
}

// mayDecideOlder reports whether items that were sent before may be changed. They may not where only items behind the
// prefix are new: the decision is recorded for the prefix, and must not depend on what follows it in one request.
func (s *State) mayDecideOlder() bool {
	return s.Asked || s.Refused || s.prefixEnd > s.Recorded || s.Decision.OtherModel
}

// Spent returns the model's tokens sent since the last compaction, with this request; before is the sum without it.
func (s *State) Spent(before int) int {
	if s.Compaction != nil && s.Compaction.Kind == event.CompactionCompleted {
		before = 0
	}
	return before + s.OfModel(s.Total())
}
