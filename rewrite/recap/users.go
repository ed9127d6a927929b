package recap

import (
	"fmt"
	"slices"
	"strings"

	"epitome/rewrite/activity"
	"epitome/rewrite/conversation"
)

// users adds the user's newest messages that fit, and the numbers of others. A result of kind Ask is a message, too.
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
		if text == "" && media == "" {
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
		isTooLong := len(text) > 8*(*room) // without counting, as a token rarely has more than 8 bytes
		if text == "" || isTooLong || frame+s.Count(text) > *room {
			others = append(others, fmt.Sprint(it.Number))
			continue
		}
		*room -= frame + s.Count(text)
		if media != "" {
			note += ", with " + media + ", not shown here"
		}
		question := s.question(i, text)
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

// question returns, quoted, the end of the agent's message to which the user's item i replies, as a short reply such as
// "2" says nothing without it. It is empty if the reply is long, or is a question.
func (s *summary) question(i int, reply string) string {
	const maxWords, maxBytes, near, longest = 12, 400, 8, 320 // of the reply, in items before it, bytes that are quoted
	isShort := len(reply) <= maxBytes && len(strings.Fields(reply)) <= maxWords
	if !isShort || strings.HasSuffix(reply, "?") || s.Request.Items[i].Role != conversation.User {
		return ""
	}
	for k := i - 1; k >= max(0, i-near) && s.Request.Items[k].Role != conversation.User; k-- {
		it := &s.Request.Items[k]
		if said := strings.TrimSpace(s.Request.TextOf(it)); said != "" && it.Role == conversation.Assistant {
			return quote(ending(said, longest))
		}
	}
	return ""
}
