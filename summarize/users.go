package summarize

import (
	"fmt"
	"slices"
	"strings"

	"epitome/rewrite/activity"
	"epitome/rewrite/conversation"
)

// message is a message of the user, or the end of one of the agent's.
type message struct {
	item       int
	note, text string // note says whose it is, and what else a reader should know
}

// Kept returns the lines of the user before the end of the span that begin with "keep:", oldest first and each once, in
// Budgets.Keep tokens. omitted is how many others there are: of lines that do not fit together, the newest are kept.
func (s *Span) Kept() (lines []string, omitted int) {
	room, seen := s.Budgets.Keep, map[string]bool{}
	for _, line := range slices.Backward(s.Request.KeepLines(0, s.To)) {
		switch {
		case seen[line]:
		case room <= 0 || s.Count(line) > room:
			omitted++
			room-- // so not all lines are counted in vain
		default:
			lines, room = append(lines, line), room-s.Count(line)
		}
		seen[line] = true
	}
	slices.Reverse(lines)
	return lines, omitted
}

// users returns the user's newest messages that fit, and how many others there are. A result of kind Ask is one, too.
// With a short reply comes the end of the agent's message that it answers. A message that is one of the lines in kept
// is left out: they have a section. The messages are added to Sent.
func (s *summary) users(kept []string) (list []message, others int) {
	const frame, longest = 14, 320 // tokens of the line above a message; bytes of the end of an agent's message
	callOf, users, latest := callsByResult(s.Calls), s.Budgets.Users, s.Budgets.Latest
	isNewest, isReply := true, false // whether the next message is the newest; whether the last one was short
	for i := s.End - 1; i >= s.From; i-- {
		it, text, media := &s.Request.Items[i], "", ""
		switch c := callOf[i]; {
		case isReply && it.Role == conversation.Assistant:
			if said := quote(ending(s.Request.TextOf(it), longest)); said != "" { // short, so it is not charged to room
				list, isReply = append(list, message{i, "yours", said}), false
			}
		case it.Role == conversation.User:
			text, media = s.Request.OwnWords(it), s.Request.Media(it)
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
			note, room = "the user's latest: your task, unless it is done or a later message changes it", &latest
		}
		isNewest, isReply = false, false
		isTooLong := len(text) > 8*(*room) // spares counting: a token rarely has over 8 bytes
		if isTooLong || frame+s.Count(text) > *room {
			others++
			continue
		}
		*room -= frame + s.Count(text)
		if media != "" {
			note += ", with " + media + ", not shown here"
		}
		list = append(list, message{i, note, text + "\n"})
		s.Sent = append(s.Sent, text)
		isShort := len(text) <= 400 && len(strings.Fields(text)) <= 12
		isReply = isShort && !strings.HasSuffix(text, "?") && it.Role == conversation.User
	}
	return list, others
}

// messages writes the section of what was said. Of two texts of one message, the first in the list is shown.
func (s *summary) messages(list []message, others int) {
	slices.SortStableFunc(list, func(a, b message) int { return a.item - b.item })
	list = slices.CompactFunc(list, func(a, b message) bool { return a.item == b.item })
	mark, text := "-- message", strings.Builder{}
	if slices.ContainsFunc(list, func(m message) bool { return strings.Contains("\n"+m.text, "\n"+mark) }) {
		mark = "-- " + s.id + ": message" // else a part of a message could be taken for another one
	}
	if others > 0 {
		fmt.Fprintf(&text, "(more messages of the user, in the transcript: %d)\n", others)
	}
	for _, m := range list {
		fmt.Fprintf(&text, "%s %d, %s\n%s", mark, s.Request.Items[m.item].Number, m.note, m.text)
	}
	s.section("the user's messages in full, the last part of each of yours, oldest first (the user's rules hold; "+
		"finished tasks stay done)", text.String())
}
