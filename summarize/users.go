package summarize

import (
	"fmt"
	"slices"
	"strings"

	"epitome/rewrite/activity"
	"epitome/rewrite/conversation"
)

// message is a message, or the end of one, in the section of what was said.
type message struct {
	item       int
	note, text string // note says whose it is, and what else the reader should know
}

// Kept returns the lines of the user before the end of the span that begin with "keep:", oldest first and each once, in
// Budgets.Keep tokens. omitted is how many others there are: of lines that do not fit together, the newest are kept.
func (s *Span) Kept() (lines []string, omitted int) {
	room := s.Budgets.Keep
	for i := s.To - 1; i >= 0; i-- {
		for _, line := range slices.Backward(s.Request.KeepLines(&s.Request.Items[i])) {
			isTooLong := len(line) > 8*room // spares counting: a token rarely has over 8 bytes
			switch {
			case slices.Contains(lines, line):
			case isTooLong || s.Count(line) > room:
				omitted++
			default:
				room -= s.Count(line)
				lines = append(lines, line)
			}
		}
	}
	slices.Reverse(lines)
	return lines, omitted
}

// users returns the user's newest messages that fit, and the numbers of others. A result of kind Ask is one, too. With
// a short reply comes the end of the agent's message that it answers. A message that is one of the lines in kept is
// left out: they have a section.
func (s *summary) users(kept []string) (list []message, others string) {
	const frame, maxOthers = 14, 20 // tokens of the line above a message; numbers of others that are listed
	var numbers []string
	callOf, isNewest, users, latest := callsByResult(s.Calls), true, s.Budgets.Users, s.Budgets.Latest
	for i := s.End - 1; i >= s.From; i-- {
		it, text, media := &s.Request.Items[i], "", ""
		switch c := callOf[i]; {
		case it.Role == conversation.User:
			text, media = s.Request.OwnWords(it), it.Media()
		case c != nil && c.Kind == activity.Ask:
			text = strings.TrimSpace(s.Request.TextOf(it))
		}
		if text == "" && media == "" || slices.Contains(kept, text) { // not the user's, or only what the client put in
			continue
		}
		if i >= s.To { // messages behind the span are sent anyway, and are newer than all of the span
			isNewest = false
			continue
		}
		note, room := "the user's", &users // room: tokens that are left
		if isNewest {
			note, room = "the user's newest: go on with it unless it is done", &latest
		}
		isNewest = false
		isTooLong := len(text) > 8*(*room)                          // spares counting, as in Kept
		if text == "" || isTooLong || frame+s.Count(text) > *room { // media alone cannot be shown
			numbers = append(numbers, fmt.Sprint(it.Number))
			continue
		}
		*room -= frame + s.Count(text)
		if media != "" {
			note += ", with " + media + ", not shown here"
		}
		list = append(list, message{i, note, text + "\n"})
		if k, said := s.question(i, text); said != "" { // not charged: it is short, and only a short text has one
			list = append(list, message{k, "yours", said})
		}
	}
	if n := len(numbers) - maxOthers; n > 0 {
		numbers = append(numbers[:maxOthers], fmt.Sprintf("and %d older ones", n))
	}
	return list, strings.Join(numbers, ", ")
}

// question returns the end of the agent's message k before the user's item i, quoted, if that is a short reply such as
// "2", which says nothing without it. It is empty for a reply that is long or asks something: it can be read alone.
func (s *summary) question(i int, reply string) (k int, said string) {
	const maxWords, maxBytes, near, longest = 12, 400, 8, 320 // of a short reply; items to look at before; bytes quoted
	isShort := len(reply) <= maxBytes && len(strings.Fields(reply)) <= maxWords
	if !isShort || strings.HasSuffix(reply, "?") || s.Request.Items[i].Role != conversation.User {
		return 0, "" // a result, too: it answers a call, not a text
	}
	for k := i - 1; k >= max(0, i-near) && s.Request.Items[k].Role != conversation.User; k-- {
		it := &s.Request.Items[k]
		if said := strings.TrimSpace(s.Request.TextOf(it)); said != "" && it.Role == conversation.Assistant {
			return k, quote(ending(said, longest))
		}
	}
	return 0, ""
}

// messages writes the section of what was said. Of two texts of one message, the first in the list is shown.
func (s *summary) messages(list []message, others string) {
	slices.SortStableFunc(list, func(a, b message) int { return a.item - b.item })
	list = slices.CompactFunc(list, func(a, b message) bool { return a.item == b.item })
	mark := "--"
	if slices.ContainsFunc(list, func(m message) bool { return strings.Contains("\n"+m.text, "\n"+mark) }) {
		mark += " " + s.id // else a part of a message could be taken for another message
	}
	text := ""
	if others != "" {
		text = fmt.Sprintf("%s not shown here: the user's message %s\n", mark, others)
	}
	for _, m := range list {
		text += fmt.Sprintf("%s message %d, %s\n%s", mark, s.Request.Items[m.item].Number, m.note, m.text)
	}
	s.section("messages, oldest first: the user's word for word, and rules in them still hold; of yours the ends", text)
}
