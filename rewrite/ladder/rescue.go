package ladder

import (
	"fmt"
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
	StageCompact       // old turns become a summary, with as little of the rest as must be
	StageShort         // results are cut to some 4,000 characters
	StageShorter       // results are cut to some 500 characters
	StageBare          // calls and results are left out altogether
	StageUsers         // messages of the user are left to an artifact, the latest last
)

func (s Stage) String() string {
	return [...]string{"none", "clear", "compact", "short", "shorter", "bare", "users"}[s]
}

// Next is the stage from which a rescue goes on when the request of this one was refused too. last says that there is no
// other try.
func (s Stage) Next(last bool) Stage {
	switch {
	case s >= StageBare:
		return StageUsers
	case last:
		return StageBare
	}
	return max(s, StageClear)
}

// Tokens that are left of results when they are cut hard: some 4,000 and 500 characters.
const shortTokens, shorterTokens = 1_100, 140

// Rescue takes one stage after another, from a first one on, until a request that the provider refused fits. If that
// does not make it a tenth smaller nothing changes, and s.Stage is StageNone.
func Rescue(s *State, from Stage) {
	switch {
	case s.Request.Upkeep == conversation.ProviderRemembers:
		s.Reason = Reason{Code: event.CodeProviderRemembers}
		return
	case s.end <= s.Request.Lead:
		s.Reason = Reason{Code: event.CodeNothingToLeave}
		return
	}
	s.because(event.CauseRefused)
	enough, edits, added := int((1-minGain)*float64(s.Total())), s.Edits, s.Added
	s.Stage = max(from, StageClear)
	if s.mustThink() { // as a whole the open round may go, and no smaller part of it
		s.Stage = max(from, StageBare)
	}
	if s.Stage == StageUsers {
		s.takeStage(StageBare)
	}
	for s.takeStage(s.Stage); s.Total() > s.Limits.Usable && s.Stage < StageUsers; s.takeStage(s.Stage) {
		if s.Stage == StageBare && s.Total() <= enough { // messages of the user go only where nothing else helps
			break
		}
		s.Stage++
	}
	if s.Total() > enough {
		s.Edits, s.Added = edits, added
		s.measure()
		s.Stage, s.Compaction = StageNone, nil
		s.Reason = Reason{Code: event.CodeNotATenth}
	}
}

func (s *State) takeStage(stage Stage) {
	switch stage {
	case StageClear:
		s.clearAll(s.clearable(s.answers[s.end-1]), event.CodeRefused)
	case StageCompact:
		compact(s)
	case StageShort:
		s.cutResults(shortTokens, false)
	case StageShorter:
		s.cutResults(shorterTokens, false)
	case StageBare:
		newCompaction(s, true, 0).replace(s.end, 0, event.CodeRefused)
	case StageUsers:
		leaveUsers(s)
	}
}

// fitResults cuts results hard, those that the model has not seen yet last, until the request fits. It leaves all as it
// is where that could not help.
func fitResults(s *State) {
	least, largest := s.Total(), 0
	for i := range s.Request.Items {
		if s.mayCut(i) {
			largest = max(largest, s.forms[i].tokens)
			least -= max(0, s.forms[i].tokens-stubTokens)
		}
	}
	if least > s.Limits.Usable {
		return
	}
	s.cutResults(shortTokens, false)
	s.cutResults(shorterTokens, false)
	for keep := largest; keep > shorterTokens; keep = keep * 3 / 4 {
		s.cutResults(keep, true)
	}
}

// cutResults cuts results to keep tokens, the oldest first, until the request fits: either those that must be shown, or
// all others.
func (s *State) cutResults(keep int, shown bool) {
	for i := range s.Request.Items {
		if s.Total() <= s.Limits.Usable {
			return
		}
		if s.forms[i].tokens > keep+stubTokens && s.mayCut(i) && s.mustShow(i) == shown {
			s.cutResult(i, keep)
		}
	}
}

// cutResult cuts a result to about keep tokens, or to a stub where nothing of it has to be shown.
func (s *State) cutResult(i, keep int) {
	var edits []ledger.Edit
	saved := s.forms[i].tokens - s.Size(i) // more than before
	for _, t := range s.textsOf(i) {
		if e, ok := s.shorten(i, t, 0, t.share(keep)); ok {
			e.Step, e.Why = ledger.StepCompact, event.CodeCut
			edits, saved = append(edits, e), saved+e.Saved
		}
	}
	if saved < leastSaving && !s.mustShow(i) {
		stub := s.stub(i, ledger.StepCompact, event.CodeCut, "")
		edits, saved = []ledger.Edit{stub}, stub.Saved
	}
	if saved >= leastSaving {
		s.because(event.CauseFull)
		s.Add(edits...)
	}
}

// leaveUsers leaves messages of the user to artifacts until the request fits: the largest first, and the latest last.
// None is cut. It is for agents: a refusal tells more to who has no tools.
func leaveUsers(s *State) {
	if s.Request.Tools.Empty() {
		return
	}
	var items []int
	for i := s.Request.Lead; i < len(s.Request.Items); i++ {
		f := &s.forms[i]
		if s.Request.Items[i].Role == conversation.User && !f.dropped && !f.cleared && !s.isKept(i) {
			items = append(items, i)
		}
	}
	if len(items) == 0 {
		return
	}
	latest := items[len(items)-1]
	slices.SortStableFunc(items[:len(items)-1], func(a, b int) int { return s.forms[b].tokens - s.forms[a].tokens })
	for _, i := range items {
		e := s.userStub(i, i == latest)
		if s.Total() > s.Limits.Usable && isWorthClearing(s.forms[i].tokens, e.Saved) {
			s.Add(e)
		}
	}
}

// userStub returns the edit that leaves a message of the user to an artifact.
func (s *State) userStub(i int, latest bool) ledger.Edit {
	names, text := s.keepItem(i), s.Request.TextOf(&s.Request.Items[i])
	which, todo := "a message of the user", "Read it before you go on"
	if latest {
		which = "the newest message of the user"
	}
	if s.addressOf(names[0]) == "" {
		todo = "Ask the user for what you need of it"
	}
	stub := fmt.Sprintf("[epitome: %s stood here%s. It is too long for this window, and nothing of it is shown. %s. %s]",
		which, s.sizeOf(i, text), todo, s.whereToRead("The message", names, s.count(text)))
	return s.clearEdit(i, ledger.StepCompact, event.CodeUser, stub, names)
}
