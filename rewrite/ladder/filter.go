package ladder

import (
	"fmt"
	"strings"

	"epitome/event"
	"epitome/rewrite/conversation"
	"epitome/rewrite/excerpt"
	"epitome/rewrite/ledger"
)

// Filter applies the user's own rules: only text of older turns, the newest turns or results alone. Each acts in
// strides, so that the beginning of a conversation stays as it is for many turns.
func Filter(s *State) {
	rules := s.Limits.Conf.Rules
	if rules == (Rules{}) {
		return
	}
	s.leaveOldest(rules.Turns)
	s.clearOlderResults(rules.Pairs)
	if rules.TextOnly {
		s.leaveOlderCalls(max(1, s.Limits.Age))
	}
}

// oldest returns what a rule takes away that keeps the newest keep of a list: all before them, but nothing until there
// are half as many again, so that it acts in strides; nothing if keep is 0.
func oldest[T any](list []T, keep int) []T {
	n := len(list) - keep
	if keep <= 0 || n < max(1, keep/2) {
		return nil
	}
	return list[:n]
}

// sentGroups returns the groups of the prefix that may be decided on, but for those that were left out before.
func (s *State) sentGroups() (groups []conversation.Group) {
	for _, g := range s.Request.Groups() {
		if g.End <= s.end && !s.forms[g.First].dropped {
			groups = append(groups, g)
		}
	}
	return groups
}

// leaveOldest leaves the oldest turns out.
func (s *State) leaveOldest(keep int) {
	var turns []int // the items with which they begin
	for _, g := range s.sentGroups() {
		if s.Request.Speaks(&s.Request.Items[g.First]) {
			turns = append(turns, g.First)
		}
	}
	if n := len(oldest(turns, keep)); n > 0 {
		s.leaveOut(s.Request.Head, turns[n], event.CodeOldest, "older than the turns that are to be sent", "")
	}
}

// leaveOut leaves items out, but for groups that have to stay. A note says so, and what the model said in them.
func (s *State) leaveOut(first, end int, why event.Code, reason, said string) {
	edits := s.drops(first, end, ledger.StepFilter, why)
	if len(edits) == 0 {
		return
	}
	what := fmt.Sprintf("%d earlier messages left out: %s", s.Request.MessagesIn(first, end), reason)
	s.setText(&edits[0], excerpt.Note(what, s.transcriptAt(&edits[0]))+said)
	s.addIfSmaller(leastSaving, event.CauseRules, edits)
}

// clearOlderResults clears all results but the newest.
func (s *State) clearOlderResults(keep int) {
	var results, list []candidate
	for i := range s.Request.Items[:s.end] {
		if s.forms[i].tokens >= leastFreed && s.mayCut(i) {
			results = append(results, candidate{item: i})
		}
	}
	for _, c := range oldest(results, keep) {
		if !s.mustShow(c.item) {
			list = append(list, c)
		}
	}
	s.clearAll(list, event.CodeOlderResults, event.CauseRules)
}

// leaveOlderCalls leaves the calls and results of older groups out, and keeps what the model said beside them.
func (s *State) leaveOlderCalls(keep int) {
	var groups []conversation.Group
	for _, g := range s.sentGroups() {
		if len(s.Request.Items[g.First].Calls) > 0 && !s.isPinned(g) {
			groups = append(groups, g)
		}
	}
	groups = oldest(groups, keep)
	for k := 0; k < len(groups); {
		first, end, said := groups[k].First, groups[k].First, ""
		for ; k < len(groups) && groups[k].First == end; k++ {
			if text := strings.TrimSpace(s.Request.TextOf(&s.Request.Items[end])); text != "" {
				said += "\nYou said before a call:\n> " + strings.ReplaceAll(text, "\n", "\n> ")
			}
			end = groups[k].End
		}
		s.leaveOut(first, end, event.CodeTextOnly, "calls and results of older turns are not sent", said)
	}
}
