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

// filter applies the user's filters, each by itself: leave out messages by name, send only the newest turns, only the
// text of older turns, only the newest results, and at last only so many messages. The head stays, and so do lines that
// the user wants kept.
func (s State) filter() {
	filters := s.Limits.Filters
	if filters.Off() || s.Decision.Restored > 0 { // the user wants whole what the filters left out
		return
	}
	isNamed := func(it conversation.Item) bool { return it.Name != "" && slices.Contains(filters.Excluded, it.Name) }
	isOfCall := func(it conversation.Item) bool { return len(it.Calls) > 0 || it.Role == conversation.Tool }
	answered := len(s.Request.Items) - 1 // the model is to answer the newest group, whoever speaks in it
	s.leaveRuns(answered, isNamed, event.CodeNamed, "their names are not to be sent", false)
	turns := s.turns()
	if n := filters.Turns; n > 0 && len(turns) >= n {
		first := turns[len(turns)-n] // of the turns that are sent
		s.leaveOut(s.Request.Head, first, event.CodeOldest, "older than the turns that are to be sent", "")
	}
	if filters.TextOnly && len(turns) > 0 {
		newest := turns[len(turns)-1]
		s.leaveRuns(newest, isOfCall, event.CodeTextOnly, "calls and results of older turns are not sent", true)
	}
	if filters.Pairs > 0 {
		s.clearOlderResults(filters.Pairs)
	}
	if filters.Messages > 0 {
		s.leaveOldest(filters.Messages)
	}
}

// Off reports whether no filter is set.
func (f *Filters) Off() bool {
	return f.Turns == 0 && f.Pairs == 0 && f.Messages == 0 && !f.TextOnly && len(f.Excluded) == 0
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
// their place stands a note with the reason, then said, then the lines that the user wants kept and what the system
// said. If all this is longer, the items stay, or where nothing is to be said, they go without a note.
func (s State) leaveOut(first, end int, reason event.Code, inWords, said string) {
	const around = 8 // tokens that a model may count around a message
	edits := s.drops(first, end)
	kept := []string{""} // the first is empty, so that a line break parts it from what was said
	tokens := 0          // of the items as they came
	isNew := false
	for _, e := range edits {
		tokens += e.Saved
		kept = append(kept, s.Request.KeepLines(e.First, e.End())...)
		kept = append(kept, s.rulesIn(e)...)
		isSent := func(f form) bool { return !f.dropped }
		isNew = isNew || slices.ContainsFunc(s.forms[e.First:e.End()], isSent)
	}
	if !isNew {
		return
	}
	what := fmt.Sprintf("%d earlier messages left out: %s", s.messagesIn(edits), inWords)
	said += strings.Join(slices.Compact(kept), "\n")
	text := excerpt.Note(what, s.transcriptAt(edits[0].Artifacts)) + said
	if s.Scale.CountText(text)+around > tokens { // the note is longer than all that it replaces
		if said != "" { // which cannot stand without the note, as if the user said it
			return
		}
		text = ""
	}
	s.setText(&edits[0], text)
	s.Add(ledger.StepFilter, reason, edits...)
}

// rulesIn quotes the messages of the system that an edit drops as they cannot stay in place: they still hold.
func (s State) rulesIn(e ledger.Edit) (quoted []string) {
	for i := e.First; i < e.End(); i++ {
		it := &s.Request.Items[i]
		if it.Role == conversation.System {
			quoted = append(quoted, "The system said:\n"+excerpt.Quote(s.Request.TextOf(it)))
		}
	}
	return quoted
}

// saidBeside quotes what the texts of a group say, except its results.
func (s State) saidBeside(g conversation.Group) (said string) {
	for i := g.First; i < g.End; i++ {
		it := &s.Request.Items[i]
		text := strings.TrimSpace(s.Request.TextOf(it))
		if text == "" {
			continue
		}
		switch it.Role {
		case conversation.Assistant:
			said += "\nYou said before a call:\n" + excerpt.Quote(text)
		case conversation.User:
			said += "\nThe user said meanwhile:\n" + excerpt.Quote(text)
		}
	}
	return said
}

// leaveRuns leaves out the groups before item end that have an item which goes. One note takes the place of groups side
// by side. If quotes is set, it ends with what was said in them beside the results.
func (s State) leaveRuns(
	end int, goes func(conversation.Item) bool, reason event.Code, inWords string, quotes bool,
) {
	runFirst, runEnd, said := 0, 0, "" // of the groups side by side so far
	for _, g := range s.Request.Groups() {
		isLeft := g.End <= end && slices.ContainsFunc(s.Request.Items[g.First:g.End], goes)
		if !isLeft || s.forms[g.First].dropped || s.staysInPlace(g) {
			continue
		}
		if g.First != runEnd {
			s.leaveOut(runFirst, runEnd, reason, inWords, said)
			runFirst, said = g.First, ""
		}
		runEnd = g.End
		if quotes {
			said += s.saidBeside(g)
		}
	}
	s.leaveOut(runFirst, runEnd, reason, inWords, said)
}

// leaveOldest leaves out the oldest groups if more than most messages would be sent, those of the head and notes among
// them. Then a fifth of most stays free, so that not every request changes the prefix. Groups that the model has not
// answered yet stay. Once the conversation has four fifths of most, NearlyFull tells it, one time.
func (s State) leaveOldest(most int) {
	n := s.Request.MessagesIn(0, s.Request.Head)
	for _, g := range s.Request.Groups() {
		n += s.messagesSent(g)
	}
	if n >= most*4/5 && !s.Decision.NearlyFull {
		s.NearlyFull = n
	}
	if n <= most {
		return
	}
	cut := s.Request.Head
	for _, g := range s.Request.Groups() {
		isSent := !s.forms[g.First].dropped
		if isSent && (n <= most*4/5 || s.mustShow(g.First)) { // not within groups that one edit has dropped
			break
		}
		if !s.staysInPlace(g) {
			n -= s.messagesSent(g)
		}
		cut = g.End
	}
	s.leaveOut(s.Request.Head, cut, event.CodeMessages, "older than the messages that are to be sent", "")
}

// messagesSent returns how many messages of a group are sent. One that was dropped may have a note, which is a message
// of its own unless it is appended to the user's message before.
func (s State) messagesSent(g conversation.Group) int {
	f := &s.forms[g.First]
	switch {
	case !f.dropped:
		return s.Request.MessagesIn(g.First, g.End)
	case f.tokens > 0 && g.First > 0 && s.Request.Items[g.First-1].Role != conversation.User:
		return 1
	}
	return 0
}

// clearOlderResults clears all results except the newest keep, those that the model has not seen yet, and small ones.
func (s State) clearOlderResults(keep int) {
	var results []candidate
	for i := range s.Request.Items[:s.prefixEnd] {
		if s.forms[i].tokens >= leastFreed && s.mayShorten(i) {
			results = append(results, candidate{item: i}) // clearAll needs no more of it
		}
	}
	older := results[:max(0, len(results)-keep)]
	older = slices.DeleteFunc(older, func(c candidate) bool { return s.mustShow(c.item) })
	s.clearAll(older, leastFreed, event.CodeOlderResults)
}
