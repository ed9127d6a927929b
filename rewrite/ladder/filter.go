package ladder

import (
	"fmt"
	"slices"
	"strings"

	"epitome/dialect/conversation"
	"epitome/event"
	"epitome/offload/excerpt"
	"epitome/rewrite/ledger"
)

// filter applies the user's own rules, each by itself: leave out messages by name, send only the newest turns, only the
// text of older turns, only the newest results, and at last only so many messages. The head stays, and so do lines that
// the user wants kept.
func (s State) filter() {
	rules := s.Limits.Filters
	if rules.Off() || s.Decision.Restored > 0 { // the user wants whole what the rules left out
		return
	}
	s.leaveNamed(rules.Excluded)
	turns := s.turns()
	if n := len(turns) - rules.Turns; rules.Turns > 0 && n >= 0 {
		s.leaveOut(s.Request.Head, turns[n], event.CodeOldest, "older than the turns that are to be sent", "")
	}
	if rules.TextOnly && len(turns) > 0 {
		s.leaveOlderCalls(turns[len(turns)-1])
	}
	if rules.Pairs > 0 {
		s.clearOlderResults(rules.Pairs)
	}
	s.leaveOldest(rules.Messages)
}

// Off reports whether no rule is set.
func (r *Filters) Off() bool {
	return r.Turns == 0 && r.Pairs == 0 && r.Messages == 0 && !r.TextOnly && len(r.Excluded) == 0
}

// turns returns the items, behind the head, with which turns begin: the user says something of their own after an
// answer. The head begins the first turn. Turns that begin with an item that an edit has dropped are not among them.
func (s State) turns() (starts []int) {
	hasAnswer := false // the current turn has one
	for _, g := range s.Request.Groups() {
		it := &s.Request.Items[g.First]
		isUsers := it.Role == conversation.User && (s.Request.Media(it) != "" || s.Request.OwnWords(it) != "")
		if isUsers && hasAnswer {
			hasAnswer = false
			if !s.forms[g.First].dropped {
				starts = append(starts, g.First)
			}
		}
		hasAnswer = hasAnswer || it.Role == conversation.Assistant || it.Role == conversation.Tool
	}
	return starts
}

// leaveOut drops items [first, end), except groups that stay in place, unless all that it drops was dropped before. In
// their place stands a note with the reason if it is shorter, then said, then the lines that the user wants kept.
func (s State) leaveOut(first, end int, why event.Code, reason, said string) {
	edits, isNew, kept, size := s.drops(first, end), false, []string{""}, 0
	for k := range edits {
		size += edits[k].Saved
		first, end := edits[k].First, edits[k].End()
		isNew = isNew || slices.ContainsFunc(s.forms[first:end], func(f form) bool { return !f.dropped })
		kept = append(kept, s.Request.KeepLines(first, end)...)
	}
	if !isNew {
		return
	}
	what := fmt.Sprintf("%d earlier messages left out: %s", s.messagesIn(edits), reason)
	said += strings.Join(slices.Compact(kept), "\n")
	text := excerpt.Note(what, s.transcriptAt(edits[0].Artifacts)) + said
	if s.Scale.CountText(text) > size { // the note is longer than all that it replaces
		text = strings.TrimSpace(said)
	}
	s.setText(&edits[0], text)
	s.Add(ledger.StepFilter, why, edits...)
}

// leaveNamed leaves out groups with a message whose name is listed, except the newest group, which the model is to
// answer. Groups side by side go together.
func (s State) leaveNamed(names []string) {
	isListed := func(it conversation.Item) bool { return it.Name != "" && slices.Contains(names, it.Name) }
	s.leaveRuns(func(g conversation.Group) bool {
		return g.End < len(s.Request.Items) && slices.ContainsFunc(s.Request.Items[g.First:g.End], isListed)
	}, event.CodeNamed, "their names are not to be sent", nil)
}

// leaveOlderCalls leaves out all groups with calls before item end. A note quotes what was said beside the calls.
func (s State) leaveOlderCalls(end int) {
	s.leaveRuns(func(g conversation.Group) bool {
		return g.End <= end && slices.ContainsFunc(s.Request.Items[g.First:g.End], func(it conversation.Item) bool {
			return len(it.Calls) > 0 || it.Role == conversation.Tool
		})
	}, event.CodeTextOnly, "calls and results of older turns are not sent", s.saidBeside)
}

// saidBeside quotes what the texts of a group say, except its results.
func (s State) saidBeside(g conversation.Group) (said string) {
	for i := g.First; i < g.End; i++ {
		it, text := &s.Request.Items[i], strings.TrimSpace(s.Request.TextOf(&s.Request.Items[i]))
		switch {
		case text == "":
		case it.Role == conversation.Assistant:
			said += "\nYou said before a call:\n" + excerpt.Quote(text)
		case it.Role == conversation.User:
			said += "\nThe user said meanwhile:\n" + excerpt.Quote(text)
		}
	}
	return said
}

// leaveRuns leaves out the groups that go. One note takes the place of groups side by side, and ends with what said, if
// not nil, returns of each.
func (s State) leaveRuns(
	goes func(conversation.Group) bool, why event.Code, reason string, said func(conversation.Group) string,
) {
	first, end, quotes := 0, 0, "" // of the groups side by side so far
	for _, g := range s.Request.Groups() {
		if s.forms[g.First].dropped || s.staysInPlace(g) || !goes(g) {
			continue
		}
		if g.First != end {
			s.leaveOut(first, end, why, reason, quotes)
			first, quotes = g.First, ""
		}
		end = g.End
		if said != nil {
			quotes += said(g)
		}
	}
	s.leaveOut(first, end, why, reason, quotes)
}

// leaveOldest leaves out the oldest groups if more than most messages would be sent, those of the head and notes among
// them. Then a fifth of most stays free, so that not every request changes the prefix. Groups that the model has not
// answered yet stay. Once the conversation has four fifths of most, NearlyFull tells it, one time.
func (s State) leaveOldest(most int) {
	groups, n := s.Request.Groups(), s.Request.MessagesIn(0, s.Request.Head)
	sent := make([]int, len(groups)) // messages of each group
	for k, g := range groups {
		if !s.forms[g.First].dropped {
			sent[k] = s.Request.MessagesIn(g.First, g.End)
		} else if s.forms[g.First].tokens > 0 && g.First > 0 && s.Request.Items[g.First-1].Role != conversation.User {
			sent[k] = 1 // its note is a message of its own
		}
		n += sent[k]
	}
	if most > 0 && n >= most*4/5 && !s.Decision.NearlyFull {
		s.NearlyFull = n // one warning
	}
	if most == 0 || n <= most {
		return
	}
	cut := s.Request.Head
	for k, g := range groups {
		isWhole := !s.forms[g.First].dropped
		if isWhole && (n <= most*4/5 || s.mustShow(g.First)) { // not within groups that one edit has dropped
			break
		}
		if !s.staysInPlace(g) {
			n -= sent[k]
		}
		cut = g.End
	}
	s.leaveOut(s.Request.Head, cut, event.CodeMessages, "older than the messages that are to be sent", "")
}

// clearOlderResults clears all results except the newest keep, those that the model has not seen yet, and small ones.
// It waits until half of keep have to go, so that it seldom changes the request.
func (s State) clearOlderResults(keep int) {
	var results []candidate
	for i := range s.Request.Items[:s.prefixEnd] {
		if s.forms[i].tokens >= leastFreed && s.mayShorten(i) {
			results = append(results, candidate{item: i}) // clearAll needs no more of it
		}
	}
	if n := len(results) - keep; n >= max(1, keep/2) {
		older := slices.DeleteFunc(results[:n], func(c candidate) bool { return s.mustShow(c.item) })
		s.clearAll(older, leastFreed, event.CodeOlderResults)
	}
}
