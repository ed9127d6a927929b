package ladder

import (
	"fmt"
	"slices"
	"strings"

	"epitome/dialect/conversation"
	"epitome/event"
	"epitome/offload/excerpt"
	"epitome/rewrite/view"
)

// whyLeftOut says to a model why a filter has left messages out.
var whyLeftOut = map[event.Code]string{
	event.CodeNamed:    "their names are not to be sent",
	event.CodeOldest:   "older than the turns that are to be sent",
	event.CodeTextOnly: "calls and results of older turns are not sent",
	event.CodeMessages: "older than the messages that are to be sent",
}

// filter applies the user's filters, each by itself: leave out messages by name, send only the newest turns, only the
// text of older turns, only the newest results, and at last only so many messages. The head stays, and so do lines that
// the user wants kept.
func (k *Known) filter(p *Plan) {
	filters := &k.Limits.Filters
	if filters.Off() || k.Before.Restored > 0 { // the user wants whole what the filters left out
		return
	}
	isNamed := func(it conversation.Item) bool { return it.Name != "" && slices.Contains(filters.Excluded, it.Name) }
	isOfCall := func(it conversation.Item) bool { return len(it.Calls) > 0 || it.Role == conversation.Tool }
	answered := len(k.Request.Items) - 1 // the model is to answer the newest group, whoever speaks in it
	k.leaveGroups(p, event.CodeNamed, answered, isNamed)
	turns := k.turns(&p.View)
	if n := filters.Turns; n > 0 && len(turns) >= n {
		newest := min(turns[len(turns)-n], k.prefixEnd) // the decision must not depend on a message that may pass
		k.leaveOut(p, event.CodeOldest, k.Request.Head, newest)
	}
	if filters.TextOnly && len(turns) > 0 {
		k.leaveGroups(p, event.CodeTextOnly, turns[len(turns)-1], isOfCall)
	}
	if filters.Pairs > 0 {
		k.clearOlderResults(p, filters.Pairs)
	}
	if filters.Messages > 0 {
		k.leaveOldest(p, filters.Messages)
	}
}

// Off reports whether no filter is set.
func (f *Filters) Off() bool {
	return f.Turns == 0 && f.Pairs == 0 && f.Messages == 0 && !f.TextOnly && len(f.Excluded) == 0
}

// turns returns the items, behind the head, with which turns begin: the user says something of their own after an
// answer. The head begins the first turn. Turns that begin with an item that an edit has dropped are not among them.
func (k *Known) turns(v *view.View) (starts []int) {
	hasAnswer := false // the current turn has one
	for _, g := range k.Request.Groups() {
		it := &k.Request.Items[g.First]
		isSaid := it.Name != "" || k.Request.Media(it) != "" || k.Request.OwnWords(g.First) != ""
		isUsers := it.Role == conversation.User && isSaid
		if isUsers && hasAnswer {
			hasAnswer = false
			if !v.Forms[g.First].Gone {
				starts = append(starts, g.First)
			}
		}
		hasAnswer = hasAnswer || it.Role == conversation.Assistant || it.Role == conversation.Tool
	}
	return starts
}

// leaveOut drops items [first, end), except groups that stay in place, unless all that it drops was dropped before. In
// their place stands a note with the reason, quotes, and the lines that the user wants kept. If all this is longer, the
// items stay, or where nothing is to be quoted, they go without a note.
func (k *Known) leaveOut(p *Plan, reason event.Code, first, end int) {
	const around = 8 // tokens that a model may count around a message
	edits := k.drops(p, first, end)
	if !slices.ContainsFunc(edits, func(e view.Edit) bool { return p.View.Sends(e.First, e.End()) }) {
		return
	}
	tokens, said := 0, "" // of the items as they came
	for _, e := range edits {
		tokens += e.Saved
		lines := k.quotes(e, reason == event.CodeTextOnly)
		lines = append(lines, k.Request.KeepLines(e.First, e.End())...)
		for _, line := range slices.Compact(lines) {
			said += "\n" + line
		}
	}
	what := fmt.Sprintf("%d earlier messages left out: %s", k.messagesIn(edits), whyLeftOut[reason])
	text := excerpt.Note(what, k.TranscriptAt(edits[0].Artifacts)) + said
	if k.Scale.CountText(text)+around > tokens {
		if said != "" { // which cannot stand without the note, as if the user said it
			return
		}
		text = ""
	}
	k.setText(&edits[0], text)
	p.View = k.with(p.View, view.StepFilter, reason, edits...)
}

// quotes quotes what the items of an edit say and what still holds: messages of the system that cannot stay in place,
// and if calls are left out, what was said beside their results.
func (k *Known) quotes(e view.Edit, besideCalls bool) (quotes []string) {
	said := map[conversation.Role]string{conversation.System: "The system said:\n"}
	if besideCalls {
		said[conversation.Assistant] = "You said before a call:\n"
		said[conversation.User] = "The user said meanwhile:\n"
	}
	for i := e.First; i < e.End(); i++ {
		it := &k.Request.Items[i]
		text := strings.TrimSpace(k.Request.TextOf(it))
		if said[it.Role] != "" && text != "" {
			quotes = append(quotes, said[it.Role]+excerpt.Quote(text))
		}
	}
	return quotes
}

// leaveGroups leaves out the groups before item end that have an item which goes. One note takes the place of groups
// side by side.
func (k *Known) leaveGroups(p *Plan, reason event.Code, end int, goes func(conversation.Item) bool) {
	first, last := 0, 0 // the groups side by side so far
	for _, g := range k.Request.Groups() {
		isLeft := g.End <= end && slices.ContainsFunc(k.Request.Items[g.First:g.End], goes)
		if !isLeft || p.View.Forms[g.First].Gone || k.staysInPlace(p, g) {
			continue
		}
		if g.First != last {
			k.leaveOut(p, reason, first, last)
			first = g.First
		}
		last = g.End
	}
	k.leaveOut(p, reason, first, last)
}

// leaveOldest leaves out the oldest groups if more than most messages would be sent, those of the head and notes among
// them. Then a fifth of most stays free, so that not every request changes the prefix. Groups that the model has not
// answered yet stay. Once the conversation has four fifths of most, NearlyFull tells it, one time.
func (k *Known) leaveOldest(p *Plan, most int) {
	n := k.Request.MessagesIn(0, k.Request.Head)
	for _, g := range k.Request.Groups() {
		n += k.messagesSent(&p.View, g)
	}
	if n >= most*4/5 && !k.Before.NearlyFull {
		p.NearlyFull = n
	}
	if n <= most {
		return
	}
	cut := k.Request.Head
	for _, g := range k.Request.Groups() {
		isSent := !p.View.Forms[g.First].Gone
		if isSent && (n <= most*4/5 || k.mustShow(g.First)) { // not within groups that one edit has dropped
			break
		}
		if !k.staysInPlace(p, g) {
			n -= k.messagesSent(&p.View, g)
		}
		cut = g.End
	}
	k.leaveOut(p, event.CodeMessages, k.Request.Head, cut)
}

// messagesSent returns how many messages of a group are sent. One that was dropped may have a note, which is a message
// of its own unless it is appended to the user's message before.
func (k *Known) messagesSent(v *view.View, g conversation.Group) int {
	f := &v.Forms[g.First]
	switch {
	case !f.Gone:
		return k.Request.MessagesIn(g.First, g.End)
	case f.Tokens > 0 && g.First > 0 && k.Request.Items[g.First-1].Role != conversation.User:
		return 1
	}
	return 0
}

// clearOlderResults clears all results except the newest keep, those that the model has not seen yet, and small ones.
func (k *Known) clearOlderResults(p *Plan, keep int) {
	var older []candidate
	for i := k.prefixEnd - 1; i >= 0; i-- {
		if p.View.Forms[i].Tokens < leastFreed || !k.mayReplace(&p.View, i, conversation.Tool) {
			continue
		}
		keep--
		if keep < 0 && !k.mustShow(i) {
			older = append(older, candidate{item: i}) // clearAll needs no more of it
		}
	}
	k.clearAll(p, older, leastFreed, event.CodeOlderResults)
}
