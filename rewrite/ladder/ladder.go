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
		s.Reason.Code = event.CodeProviderClears
	case s.Request.Upkeep == conversation.ProviderRemembers:
		s.Reason.Code = event.CodeProviderRemembers
	case s.mustThink():
		s.Reason.Code = event.CodeThinkingRound
	}
	Offload(s)
	if s.Reason.Code != event.NoCode {
		return
	}
	Filter(s)
	Clear(s)
	Compact(s)
	if len(s.Added) > 0 && s.Total() <= s.Limits.ClearLine {
		s.Reason = Reason{}
	}
}

// Spent is how many tokens of the model were sent since the last compaction, with this request.
func (s *State) Spent(before int) int {
	if s.Compaction != nil && s.Compaction.Kind == event.CompactionCompleted {
		before = 0
	}
	return before + int(float64(s.Total())*s.Scale.Ratio)
}
