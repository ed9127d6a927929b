// Package ladder decides what a request leaves out, in the cheapest order: offload, clear, compact, rescue.
//
// Each step is a function that adds edits to a State, depends on the State alone, and does no I/O except through
// Artifacts and a Prose. A step that loses more acts only where the steps before it leave too much. The newest groups,
// results that the model has not seen yet and the user's words go last.
//
// Files: offload.go, clear.go (rent or buy), compact.go (cut, summary), pictures.go, rescue.go (stages), filter.go (the
// user's own rules), stub.go (the text in the place of a result), thinking.go.
package ladder

import (
	"epitome/dialect/conversation"
	"epitome/event"
)

// Climb takes the steps in order: it offloads new results, then applies the user's filters, clears old results, and
// compacts where the window fills. s.Reason says why older items stay as they are.
func (s State) Climb() {
	switch { // in these cases no older item may change: only new results are shortened
	case s.isSmall() && s.Limits.Conf.Rules.Off():
		s.Reason = event.CodeFloor
	case s.Request.Upkeep == conversation.ProviderClears: // the provider changes older items by itself
		s.Reason = event.CodeProviderClears
	case s.Request.Upkeep == conversation.ProviderRemembers: // the provider has older items that the body lacks
		s.Reason = event.CodeProviderRemembers
	case s.isRoundOpen():
		s.Reason = event.CodeThinkingRound
	}
	s.offload()
	mayChange := (s.Reason == event.NoCode || s.Reason == event.CodeFloor) && s.mayDecideOlder()
	if mayChange && s.Limits.Stale > 0 && !s.ArtifactsOff {
		s.clearAll(s.stale(s.Decision.Restored, s.Limits.Stale), 1, event.CodeStale)
	}
	switch {
	case s.Reason != event.NoCode || !s.mayDecideOlder():
		return
	case s.prefixEnd > s.Request.Head: // the model has answered: there is more than the head, which never changes
		s.filter()
		s.clearOld()
		s.compact()
		s.leaveOldPictures()
	default:
		if reason, _ := s.whyCompact(); reason != "" { // and there is nothing but the head
			s.Reason = event.CodeNothingOlder
		}
	}
	switch {
	case s.isCrowded() && s.Total() > s.most():
		s.Reason = event.CodeOverhead
	case len(s.Added) > 0 && s.Total() <= s.Limits.ClearLine && s.Due() == "": // the new edits were enough: no reason
		s.Reason = event.NoCode
	}
}

// mayDecideOlder reports whether items that were sent before may be changed: if the recorded decision will be replaced
// (Asked, Refused), covers less than the prefix, or is another model's. Else only items behind the prefix are new, and
// the decision, which is recorded for the prefix, must not depend on items that follow it in one request.
func (s State) mayDecideOlder() bool {
	return s.Asked || s.Refused || s.prefixEnd > s.Recorded || s.Decision.OtherModel
}
