package recap

import (
	"fmt"
	"slices"
	"strings"

	"epitome/rewrite/activity"
	"epitome/rewrite/conversation"
)

// users writes the newest messages of the user that fit, oldest first, and which others there are.
func (s *summary) users() {
	const frame, maxOthers = 14, 20 // tokens of a message and of the line above it; numbers of those left out
	var list, others []string
	called, isNewest, users, latest := byResult(s.Calls), true, s.Budgets.Users, s.Budgets.Latest
	for i := s.End - 1; i >= s.From; i-- {
		it, text, media := &s.Request.Items[i], "", ""
		switch c := called[i]; {
		case it.Role == conversation.User:
			text, media = s.Request.OwnWords(it), it.Media()
		case c != nil && c.Kind == activity.Ask:
			text = strings.TrimSpace(s.Request.TextOf(it))
		}
		if text == "" && media == "" {
			continue
		}
		note, room := "", &users
		if isNewest && i < s.To {
			note, room = ", the newest: go on with it unless it is done", &latest
		}
		if isNewest = false; i >= s.To {
			continue
		}
		if text == "" || len(text) > 8**room || frame+s.Count(text) > *room { // tokens of 8 bytes are rare
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

// question returns the end of what the agent said before the user's item i, quoted, if that is a short answer.
func (s *summary) question(i int, reply string) string {
	const maxWords, maxBytes, near, longest = 12, 400, 8, 320 // near is in items, longest in bytes of what was said
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
