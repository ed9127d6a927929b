package ladder

import (
	"fmt"
	"strings"

	"epitome/event"
	"epitome/rewrite/conversation"
	"epitome/rewrite/excerpt"
	"epitome/rewrite/ledger"
)

// Filter applies the user's own rules: only text of older turns, the newest turns, messages or results alone, shorter
// old answers. Each acts in strides, so that the beginning of a conversation stays as it is for many turns.
func Filter(s *State) {
	rules := s.Limits.Conf.Rules
	if rules == (Rules{}) || s.end <= s.Request.Head || !s.mayDecideOlder() {
		return
	}
	added := len(s.Added)
	s.leaveOldest(rules.Turns, rules.Messages)
	s.clearOlderResults(rules.Pairs)
	if rules.TextOnly {
		s.leaveOlderCalls(max(1, s.Limits.Age))
	}
	if rules.Assistant > 0 {
		s.shortenAnswers(rules.Assistant)
	}
	if len(s.Added) > added {
		s.because(event.CauseRules)
	}
}

// older returns those of a list that a rule which keeps the newest keep of them takes away: none until half as many more
// have come, and none if keep is 0.
func older[T any](list []T, keep int) []T {
	n := len(list) - keep
	if keep <= 0 || n < max(1, keep/2) {
		return nil
	}
	return list[:n]
}

// leaveOldest leaves the oldest turns or messages out, in whole groups.
func (s *State) leaveOldest(keepTurns, keepMessages int) {
	var turns, messages []int // the items with which they begin, behind those that were left out before
	done, end := s.Request.Head, 0
	for i := done; i < s.end; i++ {
		if s.forms[i].dropped {
			done, turns, messages = i+1, nil, nil
			continue
		}
		if s.Request.Speaks(&s.Request.Items[i]) {
			turns = append(turns, i)
		}
		if s.Request.MessagesIn(i-1, i+1) == 2 {
			messages = append(messages, i)
		}
	}
	if n := len(older(turns, keepTurns)); n > 0 {
		end = turns[n]
	}
	if n := len(older(messages, keepMessages)); n > 0 {
		end = max(end, messages[n])
	}
	for _, g := range s.Request.Groups() { // to the beginning of a group
		if g.First < end && end < g.End {
			end = g.First
		}
	}
	if end > done {
		s.leaveOut(s.Request.Head, end, event.CodeOldest, "older than the messages that are to be sent", "")
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
	s.addIfSmaller(leastSaving, edits)
}

// clearOlderResults clears all results but the newest.
func (s *State) clearOlderResults(keep int) {
	var results []int
	for i := range s.Request.Items[:s.end] {
		if s.forms[i].tokens >= leastFreed && s.mayCut(i) {
			results = append(results, i)
		}
	}
	var list []candidate
	for _, i := range older(results, keep) {
		if !s.mustShow(i) {
			list = append(list, candidate{item: i})
		}
	}
	s.clearAll(list, event.CodeOlderResults)
}

// leaveOlderCalls leaves the calls and results of older groups out, and keeps what the model said beside them.
func (s *State) leaveOlderCalls(keep int) {
	var groups []conversation.Group
	for _, g := range s.Request.Groups() {
		if g.End <= s.end && len(s.Request.Items[g.First].Calls) > 0 && !s.forms[g.First].dropped && !s.isPinned(g) {
			groups = append(groups, g)
		}
	}
	groups = older(groups, keep)
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

// shortenAnswers cuts long texts of the model's in older groups, several at once.
func (s *State) shortenAnswers(limit int) {
	const atOnce = 3
	newest := s.answers[s.end-1]
	var edits []ledger.Edit
	for i := range s.Request.Items[:s.end] {
		it, f := &s.Request.Items[i], &s.forms[i]
		isWhole := !f.dropped && !f.cleared && !f.shortened && !it.Locked
		if it.Role != conversation.Assistant || !isWhole || newest-s.answers[i] < s.Limits.Age || f.tokens <= limit {
			continue
		}
		for _, t := range s.textsOf(i) {
			if e, ok := s.shorten(i, t, limit, limit); ok {
				e.Step, e.Why = ledger.StepFilter, event.CodeLongAnswer
				edits = append(edits, e)
			}
		}
	}
	if len(edits) >= atOnce {
		s.Add(edits...)
	}
}
