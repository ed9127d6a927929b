package summarize

import (
	"fmt"
	"slices"
	"strings"

	"epitome/rewrite/activity"
	"epitome/rewrite/conversation"
)

// users adds the user's newest messages that fit, and the numbers of others. A result of kind Ask is one, too. The line
// above each has s.id, the mark of what epitome writes: no message can have it (idBefore), so none can look like two.
func (s *summary) users() {
	const frame, maxOthers = 14, 20 // tokens of the line above a message; numbers of others that are listed
	var list, others []string
	callOf, isNewest, users, latest := callsByResult(s.Calls), true, s.Budgets.Users, s.Budgets.Latest
	for i := s.End - 1; i >= s.From; i-- {
		it, text, media := &s.Request.Items[i], "", ""
		switch c := callOf[i]; {
		case it.Role == conversation.User:
			text, media = s.Request.OwnWords(it), it.Media()
		case c != nil && c.Kind == activity.Ask:
			text = strings.TrimSpace(s.Request.TextOf(it))
		}
		if text == "" && media == "" { // the item is not the user's, or has only what the client put in
			continue
		}
		if i >= s.To { // messages behind the span are sent anyway, and are newer than all of the span
			isNewest = false
			continue
		}
		note, room := "", &users // room: tokens that are left
		if isNewest {
			note, room = ", the newest: go on with it unless it is done", &latest
		}
		isNewest = false
		isTooLong := len(text) > 8*(*room)                          // spares counting: a token rarely has over 8 bytes
		if text == "" || isTooLong || frame+s.Count(text) > *room { // media alone cannot be shown
			others = append(others, fmt.Sprint(it.Number))
			continue
		}
		*room -= frame + s.Count(text)
		if media != "" {
			note += ", with " + media + ", not shown here"
		}
		question := s.question(i, text) // not charged to room: it is short, and only a short text has one
		if question != "" {
			note = ", in answer to your lines after >" + note
		}
		list = append(list, fmt.Sprintf("-- %s: message %d%s\n%s%s\n", s.id, it.Number, note, question, text))
	}
	if n := len(others) - maxOthers; n > 0 {
		others = append(others[:maxOthers], fmt.Sprintf("and %d older ones", n))
	}
	if len(others) > 0 {
		list = append(list, fmt.Sprintf("-- %s: not shown here: message %s\n", s.id, strings.Join(others, ", ")))
	}
	slices.Reverse(list)
	s.section("the user's messages, word for word, oldest first; rules in them still hold", strings.Join(list, ""))
}

// question returns, quoted, the end of the agent's message before the user's item i, if that is a short reply such as
// "2", which says nothing without it. It is empty for a reply that is long or asks something: it can be read alone.
func (s *summary) question(i int, reply string) string {
	const maxWords, maxBytes, near, longest = 12, 400, 8, 320 // of a short reply; items to look at before; bytes quoted
	isShort := len(reply) <= maxBytes && len(strings.Fields(reply)) <= maxWords
	if !isShort || strings.HasSuffix(reply, "?") || s.Request.Items[i].Role != conversation.User {
		return "" // a result, too: it answers a call, not a text
	}
	for k := i - 1; k >= max(0, i-near) && s.Request.Items[k].Role != conversation.User; k-- {
		it := &s.Request.Items[k]
		if said := strings.TrimSpace(s.Request.TextOf(it)); said != "" && it.Role == conversation.Assistant {
			return quote(ending(said, longest))
		}
	}
	return ""
}
