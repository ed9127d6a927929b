package ladder

import (
	"slices"

	"epitome/event"
	"epitome/rewrite/conversation"
	"epitome/rewrite/ledger"
)

// Stage is how far a rescue goes. Each takes away more than the one before.
type Stage uint8

const (
	StageNone    Stage = iota
	StageClear         // all old results are cleared
	StageCompact       // old turns become a summary, with as little of the rest as must be; then results are cut hard
	StageBare          // calls and results are left out altogether
	StageUsers         // messages of the user are left to an artifact, the latest last
)

func (s Stage) String() string { return [...]string{"none", "clear", "compact", "bare", "users"}[s] }

// Next is the stage from which a rescue goes on when the request of this one was refused too. last says that there is
// no other try.
func (s Stage) Next(last bool) Stage {
	switch {
	case s >= StageBare:
		return StageUsers
	case last:
		return StageBare
	}
	return max(s, StageClear)
}

// Rescue takes one stage after another, from a first one on, until a request that the provider refused fits. If that
// does not make it a tenth smaller nothing changes, and s.Stage is StageNone.
func Rescue(s *State, from Stage) {
	switch {
	case s.Request.Upkeep == conversation.ProviderRemembers:
		s.Reason = event.CodeProviderRemembers
		return
	case s.end <= s.Request.Lead:
		s.Reason = event.CodeNothingToLeave
		return
	}
	enough, undo := int((1-minGain)*float64(s.Total())), s.undo()
	s.Stage = max(StageClear, min(from, StageBare))
	if s.isRoundOpen() { // as a whole the open round may go, and no smaller part of it
		s.Stage = StageBare
	}
	for s.take(s.Stage); s.Total() > s.Limits.Usable && s.Stage < StageUsers; s.take(s.Stage) {
		if s.Stage == StageBare && from < StageUsers && s.Total() <= enough {
			break // messages of the user go only where nothing else helps
		}
		s.Stage++
	}
	if s.Total() > enough {
		undo()
		s.Stage, s.Compaction = StageNone, nil
		s.Reason = event.CodeNotATenth
	}
}

// take takes one stage of a rescue.
func (s *State) take(stage Stage) {
	switch stage {
	case StageClear:
		s.clearAll(s.clearable(s.now()), event.CodeRefused, event.CauseRefused)
	case StageCompact:
		compact(s)
	case StageBare:
		newCompaction(s, true).replace(s.end, 0)
	case StageUsers:
		leaveUsers(s)
	}
}

// fitResults cuts results hard, those that the model has not seen yet last, until the request fits. It leaves all as it
// is where that does not help, unless the provider has refused that.
func fitResults(s *State) {
	const shortTokens, shorterTokens = 1_100, 140 // that are left: some 4,000 and 500 characters
	undo := s.undo()
	s.cutResults(shortTokens, false)
	s.cutResults(shorterTokens, false)
	for keep := s.Limits.Usable; keep > shorterTokens; keep = keep * 3 / 4 {
		s.cutResults(keep, true)
	}
	if s.Total() > s.Limits.Usable && !s.Refused {
		undo()
	}
}

// cutResults cuts results to about keep tokens, the oldest first, until the request fits: either those that must be
// shown, or all others. Of those a stub is left where an excerpt saves nothing.
func (s *State) cutResults(keep int, shown bool) {
	for i := range s.Request.Items {
		if s.Total() <= s.Limits.Usable {
			return
		}
		if s.forms[i].tokens <= keep+stubTokens || !s.mayCut(i) || s.mustShow(i) != shown {
			continue
		}
		edits := s.shorten(i, 0, keep)
		for k := range edits {
			edits[k].Step, edits[k].Why = ledger.StepCompact, event.CodeCut
		}
		if !s.addIfSmaller(leastSaving, event.CauseFull, edits) && !shown {
			s.addIfSmaller(leastSaving, event.CauseFull, []ledger.Edit{s.stub(i, ledger.StepCompact, event.CodeCut, "")})
		}
	}
}

// leaveUsers leaves messages of the user to artifacts until the request fits: the largest first, and the latest last.
// None is cut. It is for agents: a refusal tells more to who has no tools.
func leaveUsers(s *State) {
	var items []int
	for i := s.Request.Lead; i < len(s.Request.Items); i++ {
		if s.mayReplace(i, conversation.User) {
			items = append(items, i)
		}
	}
	if len(items) == 0 || s.Request.Tools.Empty() {
		return
	}
	older := items[:len(items)-1]
	slices.SortStableFunc(older, func(a, b int) int { return s.forms[b].tokens - s.forms[a].tokens })
	for k, i := range items {
		what := "a message of the user"
		if k == len(older) {
			what = "the newest message of the user"
		}
		e := s.clearEdit(i, what, ", too long for this window: you need to read it before you go on", "")
		e.Step, e.Why = ledger.StepCompact, event.CodeUser
		if s.Total() > s.Limits.Usable && e.Saved >= leastFreed {
			s.Add(event.CauseRefused, e)
		}
	}
}
