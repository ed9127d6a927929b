package ladder

import (
	"fmt"
	"slices"
	"strings"

	"epitome/event"
	"epitome/rewrite/conversation"
	"epitome/rewrite/excerpt"
	"epitome/rewrite/ledger"
	"epitome/summarize"
)

// Filter applies the user's own rules, each by itself: send only the newest turns, only the newest results, only the
// text of older turns. A rule acts in strides (see oldest), as each change costs the provider's cache.
func Filter(s *State) {
	rules := s.Limits.Conf.Rules
	if rules == (Rules{}) || s.Decision.Restored > 0 { // the user wants whole what the rules left out
		return
	}
	s.leaveOldest(rules.Turns)
	s.clearOlderResults(rules.Pairs)
	if rules.TextOnly {
		s.leaveOlderCalls(max(1, s.Limits.Age)) // at least 1, as 0 turns a rule off (oldest)
	}
}

// oldest returns the elements of a list that have to go if the newest keep elements stay. It returns none until half of
// keep have to go, so that a rule seldom changes the request. If keep is 0, the rule is off and none have to go.
func oldest[T any](list []T, keep int) []T {
	n := len(list) - keep
	if keep <= 0 || n < max(1, keep/2) {
		return nil
	}
	return list[:n]
}

// sentGroups returns the groups, all behind the head, that rules may leave out: those that no edit has dropped before
// (groups are dropped whole, so the first item shows it) and that end by prefixEnd, behind which no decision reaches.
func (s *State) sentGroups() (groups []conversation.Group) {
	for _, g := range s.Request.Groups() {
		if g.End <= s.prefixEnd && !s.forms[g.First].dropped {
			groups = append(groups, g)
		}
	}
	return groups
}

// leaveOldest leaves out all turns except the newest keep. A turn begins where the user says something of their own.
func (s *State) leaveOldest(keep int) {
	var turns []int // the first items of those that begin behind the head, which stays
	for _, g := range s.sentGroups() {
		it := &s.Request.Items[g.First]
		if it.Role == conversation.User && (s.Request.Media(it) != "" || s.Request.OwnWords(it) != "") {
			turns = append(turns, g.First)
		}
	}
	if n := len(oldest(turns, keep)); n > 0 {
		span := summarize.Span{Request: s.Request, To: turns[n], Count: s.Scale.CountText,
			Budgets: summarize.BudgetsFor(s.SummaryMode, s.SummaryDetail, s.Limits.Window, s.Scale.Ratio)}
		kept, _ := span.Kept()
		s.leaveOut(s.Request.Head, turns[n], event.CodeOldest, "older than the turns that are to be sent, but for lines "+
			"that the user wants kept", strings.Join(append([]string{""}, kept...), "\n"))
	}
}

// leaveOut drops items [first, end), except groups that stay in place. A note in their place has the reason, then said.
func (s *State) leaveOut(first, end int, why event.Code, reason, said string) {
	edits := s.drops(first, end, ledger.StepFilter, why)
	if len(edits) == 0 {
		return
	}
	what := fmt.Sprintf("%d earlier messages left out: %s", s.messagesIn(edits), reason)
	s.setText(&edits[0], excerpt.Note(what, s.transcriptAt(&edits[0]))+said)
	s.addIfSmaller(leastSaving, edits)
}

// clearOlderResults clears all results except the newest keep, those that the model has not seen yet, and small ones.
func (s *State) clearOlderResults(keep int) {
	var results []candidate
	for i := range s.Request.Items[:s.prefixEnd] {
		if s.forms[i].tokens >= leastFreed && s.mayShorten(i) {
			results = append(results, candidate{item: i}) // clearAll needs no more of it
		}
	}
	list := slices.DeleteFunc(oldest(results, keep), func(c candidate) bool { return s.mustShow(c.item) })
	s.clearAll(list, event.CodeOlderResults)
}

// leaveOlderCalls leaves out all groups with calls except the newest keep. Groups side by side go together: one note
// takes their place, and quotes what the model said beside its calls.
func (s *State) leaveOlderCalls(keep int) {
	var groups []conversation.Group
	for _, g := range s.sentGroups() { // a pinned group stays in place, so nothing of it is to be quoted
		if len(s.Request.Items[g.First].Calls) > 0 && !s.isPinned(g) {
			groups = append(groups, g)
		}
	}
	groups = oldest(groups, keep)
	for k := 0; k < len(groups); {
		first, end, said := groups[k].First, groups[k].First, ""
		for ; k < len(groups) && groups[k].First == end; k++ {
			if text := strings.TrimSpace(s.Request.TextOf(&s.Request.Items[groups[k].First])); text != "" {
				said += "\nYou said before a call:\n" + excerpt.Quote(text)
			}
			end = groups[k].End
		}
		s.leaveOut(first, end, event.CodeTextOnly, "calls and results of older turns are not sent", said)
	}
}
