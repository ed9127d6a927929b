package summarize

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"epitome/dialect/activity"
	"epitome/dialect/conversation"
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

// users returns what the user said in the span, newest first, and how many messages are left out. A result of kind Ask is
// one, too. The two newest messages, short ones and those with much news stand whole if they fit; of others there are the
// sentences that say something new. With a short reply comes the end of the agent's message that it answers. A message
// that is one of the lines in kept is left out: they have a section.
func (s *summary) users(kept []string) (list []message, others int) {
	const aboveMessage, longest = 8, 320 // tokens of the line above a message; bytes of the end of an agent's message
	callOf, users, latest := callsByResult(s.Calls), s.Budgets.Users+s.Budgets.Spare, s.Budgets.Latest
	newer, isReply := 0, false // messages of the user that are newer; whether the last one was a short reply
	for i := s.End - 1; i >= s.From; i-- {
		it, text, media := &s.Request.Items[i], "", ""
		switch c := callOf[i]; {
		case isReply && it.Role == conversation.Assistant:
			if said := ending(s.Request.TextOf(it), longest); said != "" { // short, so it is not charged to room
				list, isReply = append(list, message{i, "you", quote(said) + s.doubts(i, said)}), false
				s.seen.add(said)
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
			newer++
			continue
		}
		note, room := "user", &users // room: tokens that are left
		if newer == 0 {
			note, room = "user, latest: your task, unless it is done or a later message changes it", &latest
		}
		isShort := len(text) <= 400 && len(strings.Fields(text)) <= 12
		short, isLeftOut := s.shorten(text, *room-aboveMessage, newer < 2 || isShort)
		s.leftOut = s.leftOut || isLeftOut
		isReply = false
		newer++
		if short == "" && text != "" {
			others++
			continue
		}
		*room -= aboveMessage + s.Count(short)
		if media != "" {
			note += ", with " + media + ", not shown here"
		}
		list = append(list, message{i, note, short + "\n"})
		s.Sent = append(s.Sent, short)
		isReply = isShort && !strings.HasSuffix(text, "?") && it.Role == conversation.User
	}
	s.Budgets.Spare = min(s.Budgets.Spare, users)
	return list, others
}

// cut stands in a quote where something is left out.
const cut = "[…]"

// sentenceEnd matches the end of a sentence, a clause or a line.
var sentenceEnd = regexp.MustCompile(`[.!?;:]\s+|\n\s*|[。！？；]`)

// shorten returns a text whole, if it fits in room tokens and is wanted whole or has much news, or else its sentences
// that say something new, as far as they fit. isLeftOut reports whether news is left out for lack of room.
func (s *summary) shorten(text string, room int, isWanted bool) (short string, isLeftOut bool) {
	const bytesPerToken = 8 // at most, mostly: spares counting what is too long anyway
	const maxMisses = 50    // sentences that may not fit: each is counted
	fits := func(text string) bool { return len(text) <= bytesPerToken*room && s.Count(text) <= room }
	if (isWanted || s.seen.news(text) >= newsOfWhole) && fits(text) {
		s.seen.add(text)
		return text, false
	}
	isCut, misses := false, 0
	rest := text
	for rest != "" && misses < maxMisses {
		end := len(rest)
		if at := sentenceEnd.FindStringIndex(rest); at != nil {
			end = at[1]
		}
		sentence := rest[:end]
		rest = rest[end:]
		isNew := s.seen.news(sentence) >= newsOfPart
		if !isNew || !fits(sentence) {
			isCut = true
			if isNew {
				misses++
			}
			continue
		}
		if isCut {
			short += cut + " "
			isCut = false
		}
		short += sentence
		s.seen.add(sentence)
		room -= s.Count(sentence) + 1
	}
	short = strings.TrimSpace(short)
	if short != "" && (isCut || rest != "") {
		short += " " + cut
	}
	return short, misses > 0
}

// messages writes the section of what was said. Of two texts of one message, the first in the list is shown.
func (s *summary) messages(list []message, others int) {
	slices.SortStableFunc(list, func(a, b message) int { return a.item - b.item })
	list = slices.CompactFunc(list, func(a, b message) bool { return a.item == b.item && a.note == b.note })
	mark, text := "--", strings.Builder{}
	if slices.ContainsFunc(list, func(m message) bool { return strings.Contains("\n"+m.text, "\n"+mark+" ") }) {
		mark = "-- " + s.id + ":" // else a part of a message could be taken for another one
	}
	if others > 0 {
		fmt.Fprintf(&text, "(more messages of the user, in the transcript: %d)\n", others)
	}
	for _, m := range list {
		fmt.Fprintf(&text, "%s %d %s\n%s", mark, s.Request.Items[m.item].Number, m.note, m.text)
	}
	s.section("the user's messages, and the last part of yours as quotes, oldest first, with their numbers in the whole "+
		"conversation; "+cut+" stands where one is cut (the user's rules hold; finished tasks stay done)", text.String())
}
