// Package ladder decides what a request leaves out, in the cheapest order: offload, clear, compact, rescue.
//
// Each step is a function over a State and adds edits to it. The newest groups, whatever the model has not seen yet and
// the user's words stay. It stops at the first step that suffices, depends on the State alone, and does no I/O but
// through Artifacts and a Prose.
//
// Files: offload.go, clear.go (rent or buy), compact.go (cut, summary), rescue.go (stages), filter.go (the user's own
// rules), stub.go (what stands in the place of a result), thinking.go.
package ladder

import (
	"epitome/event"
	"epitome/rewrite/conversation"
)

// Climb takes the steps in order: offload results that come, then the user's filters, clear, and compact where the
// window fills.
func Climb(s *State) {
	switch { // who else decides about older items: then only new results are shortened
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
	case s.end > s.Request.Head:
		Filter(s)
		Clear(s)
		Compact(s)
	case s.whyCompact() != "":
		s.Reason = event.CodeNothingOlder
	}
	if len(s.Added) > 0 && s.Total() <= s.Limits.ClearLine {
		s.Reason = event.NoCode
	}
}

// mayDecideOlder reports whether items that were sent before may be decided on: not because of what stands behind them
// alone, so that the decision for a prefix depends on the prefix.
func (s *State) mayDecideOlder() bool {
	return s.Asked || s.Refused || s.end > s.Recorded || s.Decision.OtherModel
}

// Spent is how many tokens of the model were sent since the last compaction, with this request.
func (s *State) Spent(before int) int {
	if s.Compaction != nil && s.Compaction.Kind == event.CompactionCompleted {
		before = 0
	}
	return before + s.OfModel(s.Total())
}
