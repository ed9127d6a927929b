package ladder

import (
	"epitome/event"
	"epitome/rewrite/conversation"
)

// Climb takes the steps in order: offload results that come, then the user's filters, clear, and compact where the
// window fills.
func Climb(s *State) {
	if s.Reason = whyElsewhere(s.Request.Upkeep); s.Request.Upkeep == conversation.NobodyElse && s.mustThink() {
		s.Reason = Reason{event.CodeThinkingRound,
			"the model's thinking binds all before it until its calls are answered: nothing changes until the user's next message"}
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

// whyElsewhere says why older items stay as they are where somebody else shortens the conversation.
func whyElsewhere(by conversation.Upkeep) Reason {
	switch by {
	case conversation.ProviderClears:
		return Reason{event.CodeProviderClears, "the provider clears or compacts this conversation: only new results are shortened"}
	case conversation.ProviderRemembers:
		return Reason{event.CodeProviderRemembers, "earlier messages lie with the provider: only new results are shortened"}
	}
	return Reason{}
}

// Spent is how many tokens of the model were sent since the last compaction, with this request.
func (s *State) Spent(before int) int {
	if s.Compaction != nil && s.Compaction.Kind == event.CompactionCompleted {
		before = 0
	}
	return before + int(float64(s.Total())*s.Scale.Ratio)
}
