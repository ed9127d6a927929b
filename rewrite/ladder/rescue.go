package ladder

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"epitome/event"
	"epitome/rewrite/conversation"
	"epitome/rewrite/excerpt"
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
		s.Reason = Reason{event.CodeProviderRemembers, "earlier messages lie with the provider: nothing of them can be left out"}
		return
	case s.end <= s.Request.Lead:
		s.Reason = Reason{event.CodeNothingToLeave, "there is nothing that could be left out"}
		return
	}
	s.because(event.CauseRefused)
	total, before := s.Total(), s.checkpoint()
	enough := func() bool { return float64(s.Total()) <= (1-minGain)*float64(total) }
	least := StageClear
	if s.mustThink() { // as a whole the open round may go, and no smaller part of it
		least = StageBare
	}
	s.Stage = max(from, least)
	if s.Stage == StageUsers {
		s.takeStage(StageBare)
	}
	for ; ; s.Stage++ {
		s.takeStage(s.Stage)
		// Messages of the user go only where nothing else is known to help.
		if s.Total() <= s.Limits.Usable || s.Stage == StageBare && enough() || s.Stage == StageUsers {
			break
		}
	}
	if !enough() {
		s.undo(before)
		s.Stage, s.Compaction = StageNone, nil
		s.Reason = Reason{event.CodeNotATenth, "it cannot be made a tenth smaller"}
	}
}

func (s *State) takeStage(stage Stage) {
	switch stage {
	case StageClear:
		s.clearAll(s.clearable(s.answers[s.end-1]), event.CodeRefused)
	case StageCompact:
		if compact(s, event.ReasonOverflow); s.Total() > s.Limits.Usable {
			compactMinimally(s, event.ReasonOverflow)
		}
	case StageShort:
		shrinkResults(s, shortTokens, s.Limits.Usable)
	case StageShorter:
		shrinkResults(s, shorterTokens, s.Limits.Usable)
	case StageBare:
		leaveBare(s)
	case StageUsers:
		leaveUsers(s)
	}
}

// isShrinkable reports whether a result may be cut hard.
func (s *State) isShrinkable(i int) bool {
	if s.Request.Items[i].Role != conversation.Tool || s.isKept(i) {
		return false
	}
	e, dropped := s.editOf(i)
	return !dropped && (e == nil || e.Op != ledger.Clear)
}

// level returns to how many tokens the largest of some results have to come down so that all together are large tokens
// less; 0 if nothing may be left of them.
func (s *State) level(items []int, large int) int {
	sum := func(keep int) (n int) {
		for _, i := range items {
			n += min(s.sent[i], keep)
		}
		return n
	}
	most := 0
	for _, i := range items {
		most = max(most, s.sent[i])
	}
	room := sum(most) - large
	return max(sort.Search(most+1, func(keep int) bool { return sum(keep) > room })-1, 0)
}

// shrink cuts a result to about keep tokens, or to a stub where nothing of it has to be shown.
func (s *State) shrink(i, keep int) {
	var edits []ledger.Edit
	saved := 0
	for _, t := range s.textsOf(i) {
		c := cut{textOf: t, limit: 0, keep: t.share(max(keep, 0))}
		if c.keep == 0 || s.isMarked(t.text) {
			continue
		}
		if e, ok := s.shorten(i, c); ok {
			e.Step, e.Why = ledger.StepCompact, event.CodeCut
			edits, saved = append(edits, e), saved+e.Saved
		}
	}
	already := s.Size(i) - s.sent[i]
	if saved-already < leastSaving {
		if s.mustShow(i) {
			return
		}
		edits = []ledger.Edit{s.stub(i, ledger.StepCompact, event.CodeCut, "")}
		saved = edits[0].Saved
	}
	if saved-already >= leastSaving {
		s.because(event.CauseFull)
		s.Add(edits...)
	}
}

// shrinkResults cuts results to keep tokens, the oldest first, until the request has no more than room. Whatever must be
// shown stays as it is.
func shrinkResults(s *State, keep, room int) {
	for i := range s.Request.Items {
		if s.Total() <= room {
			return
		}
		if s.sent[i] > keep+stubTokens && s.isShrinkable(i) && !s.mustShow(i) {
			s.shrink(i, keep)
		}
	}
}

// fitResults cuts results hard, the oldest first and those that the model has not seen yet last, until the request fits.
// It leaves all as it is where that could not help.
func fitResults(s *State) {
	total, most := s.Total(), 0
	for i := range s.Request.Items {
		if s.isShrinkable(i) {
			most += max(0, s.sent[i]-stubTokens)
		}
	}
	room := s.roomFor(total - most)
	if total-most > room && float64(most) < minGain*float64(total) {
		return
	}
	shrinkResults(s, shortTokens, room)
	shrinkResults(s, shorterTokens, room)
	shrinkUnseen(s, room)
}

// roomFor is how many tokens a request may take that can come down to least: usable, or where that is out of reach, the
// window less a short answer.
func (s *State) roomFor(least int) int {
	const answer, share = 1_024, 32 // tokens of the model; the part of the window that it takes at most
	if least <= s.Limits.Usable || s.Refused {
		return s.Limits.Usable
	}
	asked := max(float64(s.Request.MaxOutput), answer) / s.Scale.Ratio
	if s.Request.MaxOutput == 0 {
		asked = min(asked, float64(s.Limits.Window)/share)
	}
	return max(s.Limits.Usable, s.Limits.Window-int(asked))
}

// shrinkUnseen cuts the largest of the results that must be shown, until the request has no more than room. Something
// stays of each.
func shrinkUnseen(s *State, room int) {
	var items []int
	for i := range s.Request.Items {
		if s.isShrinkable(i) && s.mustShow(i) {
			items = append(items, i)
		}
	}
	slack := stubTokens
	for range 3 { // what stands in the place of the rest may take more than was thought
		over := s.Total() - room
		if over <= 0 || len(items) == 0 {
			return
		}
		level := max(s.level(items, over), shorterTokens+stubTokens)
		for _, i := range items {
			if s.sent[i] > level {
				s.shrink(i, level-slack)
			}
		}
		slack += stubTokens
	}
}

// leaveBare leaves out all behind the head up to the last answer or result, if that makes the request smaller.
func leaveBare(s *State) {
	c := newCompaction(s, true)
	total, before := s.Total(), s.checkpoint()
	if c.from >= s.end {
		return
	}
	if c.write(s.end); s.Total() >= total {
		s.undo(before)
		s.Reason = noSmaller
	}
}

// leaveUsers leaves messages of the user to artifacts so that the request fits: the largest first, and the latest only
// if the request does not fit without the others. None is cut, and none goes in vain. It is for agents: a refusal tells
// more to who has no tools.
func leaveUsers(s *State) {
	if s.Request.Tools.Empty() {
		return
	}
	dropped, cleared, _ := s.edited()
	var items []int
	for i := s.Request.Lead; i < len(s.Request.Items); i++ {
		if s.Request.Items[i].Role == conversation.User && !dropped[i] && !cleared[i] && !s.isKept(i) {
			items = append(items, i)
		}
	}
	if len(items) == 0 {
		return
	}
	latest := items[len(items)-1]
	slices.SortStableFunc(items, func(a, b int) int {
		if (a == latest) != (b == latest) {
			return cmp.Compare(a, b) // the latest has the highest number
		}
		return cmp.Compare(s.sent[b], s.sent[a])
	})
	over, all := s.Total()-s.Limits.Usable, 0
	edits := make([]ledger.Edit, len(items))
	for k, i := range items {
		edits[k] = s.userStub(i, i == latest)
		if isWorthClearing(s.sent[i], edits[k].Saved) {
			all += edits[k].Saved
		}
	}
	if over <= 0 || all < over {
		return
	}
	if last := &edits[len(edits)-1]; all-last.Saved < over { // it has to go anyway, so that fewer others do
		s.Add(*last)
	}
	for _, e := range edits {
		if s.Total() > s.Limits.Usable && isWorthClearing(s.sent[e.First], e.Saved) {
			s.Add(e)
		}
	}
}

// userStub returns the edit that leaves a message of the user to an artifact.
func (s *State) userStub(i int, latest bool) ledger.Edit {
	it := &s.Request.Items[i]
	text := s.Request.TextOf(it)
	names := []string{s.keep(s.Request.ContentSource(it))}
	if text != "" {
		names = append([]string{s.keep([]byte(text))}, names...)
	}
	which, todo := "a message of the user", "Read it before you go on"
	if latest {
		which = "the newest message of the user"
	}
	if s.addressOf(names[0]) == "" {
		todo = "Ask the user for what you need of it"
	}
	size := fmt.Sprintf("%s, %d bytes", lines(excerpt.CountLines(text)), len(text))
	if media := it.Media(); media != "" {
		size += ", " + media
	}
	stub := fmt.Sprintf("[epitome: %s stood here (%s). It is too long for this window, and nothing of it is shown. %s. %s]",
		which, size, todo, s.whereToRead(names, s.count(text)))
	return s.clearEdit(i, ledger.StepCompact, event.CodeUser, stub, names)
}
