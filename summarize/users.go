package summarize

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"epitome/dialect/activity"
	"epitome/dialect/conversation"
	"epitome/offload/excerpt"
)

// message is a message of the user, or the end of one of the agent's.
type message struct {
	item       int
	note, text string // note says whose it is, and what else a reader should know
}

// Kept returns the lines of the user before the end of the span that begin with "keep:", oldest first and each once, in
// Budgets.Keep tokens. omitted is how many others there are: of lines that do not fit together, the newest are kept.
func (s *Span) Kept() (lines []string, omitted int) {
	room := s.Budgets.Keep
	seen := map[string]bool{}
	for _, line := range slices.Backward(s.Request.KeepLines(0, s.To)) {
		if seen[line] {
			continue
		}
		seen[line] = true
		if room <= 0 || s.Count(line) > room {
			omitted++
			room-- // so not all lines are counted in vain
			continue
		}
		lines = append(lines, line)
		room -= s.Count(line)
	}
	slices.Reverse(lines)
	return lines, omitted
}

// users returns what the user said in the span, newest first, and how many messages are left out. The two newest
// messages, short ones and those with much news stand whole if they fit; of others there are the sentences that say
// something new. With a short reply comes the end of the agent's message that it answers. A message that is one of the
// lines in kept is left out: they have a section. An answer that a tool gives, and what others say in the user's role,
// is quoted. leftOut reports whether something new found no room.
func (s *summary) users(kept []string) (list []message, others int, leftOut bool) {
	older, latest := s.Budgets.Users+s.Budgets.Spare, s.Budgets.Latest // tokens that are left for messages
	newer := 0                                                         // messages of the user behind the item
	isReply := false                                                   // the last of them was a short reply
	var reports []message
	for i := s.End - 1; i >= s.From; i-- {
		it := &s.Request.Items[i]
		if isReply && it.Role == conversation.Assistant {
			answered := s.answered(i)
			list = append(list, answered...)
			isReply = len(answered) == 0
		}
		if report := s.report(i); report.text != "" && i < s.To {
			reports = append(reports, report)
		}
		text, media := s.usersOwn(i)
		if text+media == "" || slices.Contains(kept, text) { // not the user's, or only what the client put in
			continue
		}
		isTyped := it.Role == conversation.User
		if isTyped {
			newer++
		}
		if i >= s.To { // messages behind the span are sent anyway, and are newer than all of the span
			continue
		}
		m, room := message{item: i, note: "user" + media}, &older
		if newer == 1 && isTyped {
			m.note = "user, latest: your task, unless it is done or a later message changes it" + media
			room = &latest
		}
		isShort := len(text) <= 400 && len(strings.Fields(text)) <= 12
		var isCut bool
		m.text, isCut = s.shorten(text, room, newer <= 2 || isShort || !isTyped)
		leftOut = leftOut || isCut
		isReply = isShort && m.text != "" && !strings.HasSuffix(text, "?") && isTyped
		if m.text == "" {
			others++
			continue
		}
		if !isTyped {
			m.note = "the user's answer to your question, as the tool gave it"
			m.text = quote(m.text)
		}
		list = append(list, m)
	}
	for _, m := range reports {
		text, isCut := s.shorten(m.text, &older, false)
		leftOut = leftOut || isCut
		if m.text = quote(text); m.text != "" {
			list = append(list, m)
		}
	}
	s.Budgets.Spare = min(s.Budgets.Spare, older)
	return list, others, leftOut
}

// report returns what others say in an item of the user's role; its text is empty if they say nothing.
func (s *summary) report(i int) message {
	_, others := s.Request.Said(i)
	note := "not the user, but " + cmp.Or(s.Request.Items[i].Name, "a result that the client sent")
	return message{item: i, note: excerpt.OneLine(note, 100), text: strings.Join(others, "\n")}
}

// usersOwn returns what the user says in an item: what they typed, or their answer as a tool gives it. media says which
// media are with it, for the note above.
func (s *summary) usersOwn(i int) (text, media string) {
	it := &s.Request.Items[i]
	if it.Role != conversation.User {
		return s.answer(i), ""
	}
	media = s.Request.Media(it)
	if media != "" {
		media = ", with " + media + ", not shown here"
	}
	return s.typedIn(i), media
}

// answer returns what a tool that asks the user says that they answered; empty if the item is no such result, or
// the question failed before the user saw it.
func (s *summary) answer(i int) string {
	c := callOf(s.Request, s.Calls, i)
	if c == nil || c.Kind != activity.Ask {
		return ""
	}
	text := strings.TrimSpace(s.Request.TextOf(&s.Request.Items[i]))
	if activity.Unasked(text) {
		return ""
	}
	return text
}

// typedIn returns what the user typed in an item. It is read once, as several sections ask.
func (s *summary) typedIn(i int) string {
	text, isKnown := s.typed[i]
	if !isKnown {
		text = s.Request.OwnWords(i)
		s.typed[i] = text
	}
	return text
}

// answered returns the end of a message of the agent that a short reply of the user answers; nothing if it has no text.
// It is short, so it is not charged to a budget.
func (s *summary) answered(i int) []message {
	const longest = 320 // bytes
	said := ending(s.Request.TextOf(&s.Request.Items[i]), longest)
	if said == "" {
		return nil
	}
	s.seen.add(said)
	return []message{{item: i, note: byAgent, text: quote(said) + s.doubts(i, said)}}
}

// cut stands in a quote where something is left out.
const cut = "[…]"

// shorten returns a message of the user and a line break: the message whole, if it fits in room tokens and is wanted
// whole or has much news, or else what newSentences returns. It is empty if all is left out; else its tokens are taken
// from room. isLeftOut reports whether news finds no room.
func (s *summary) shorten(text string, room *int, isWanted bool) (short string, isLeftOut bool) {
	const aboveMessage = 8 // tokens of the line above a message
	free := *room - aboveMessage
	if (isWanted || s.seen.news(text) >= newsOfWhole) && s.fits(text, free) {
		s.seen.add(text)
		short = text
	} else {
		short, isLeftOut = s.newSentences(text, free, isWanted)
	}
	if short == "" && text != "" {
		return "", isLeftOut
	}
	*room -= aboveMessage + s.Count(short)
	return short + "\n", isLeftOut
}

// fits reports whether a text has at most room tokens.
func (s *summary) fits(text string, room int) bool {
	const bytesPerToken = 8 // at most, mostly: spares counting what is too long anyway
	return len(text) <= bytesPerToken*room && s.Count(text) <= room
}

// newSentences returns the sentences of a message that say something new, as far as they fit in room tokens. Of a
// message that is wanted, the last lines come first, then the others from its beginning: people ask above or below what
// they paste. isLeftOut reports whether news finds no room.
func (s *summary) newSentences(text string, room int, isWanted bool) (short string, isLeftOut bool) {
	const maxMisses = 50 // sentences that may not fit: each is counted
	const leastPart = 20 // tokens of the end, and of the beginning of a long sentence
	longest := len(text) // bytes of the first sentence; of a longer one the beginning counts as one
	last := ""
	if isWanted {
		longest = bytesFor(max(room/8, leastPart))
		last = strings.TrimPrefix(ending(text, longest), "… ")
		if !s.fits(last, room) {
			last = ""
		}
		s.seen.add(last)
		room -= s.Count(last)
	}
	gap := "" // stands before the next sentence, if something has been left out since the last one
	misses := 0
	rest := strings.TrimSuffix(text, last)
	for rest != "" && misses < maxMisses {
		sentence := firstSentence(rest, ".!?;:", longest)
		rest = rest[len(sentence):]
		longest = len(text)
		isNew := s.seen.news(sentence) >= newsOfPart
		if isNew && s.fits(sentence, room) {
			s.seen.add(sentence)
			short += gap + sentence
			room -= s.Count(gap+sentence) + 1
			gap = ""
			continue
		}
		gap = cut + " "
		if isNew {
			misses++
		}
	}
	if gap+rest != "" && short+last != "" {
		short = strings.TrimSpace(short) + " " + cut + " "
	}
	return strings.TrimSpace(short + last), misses > 0
}

// firstSentence returns the beginning of a text up to the end of its first line, sentence or clause, which is one of the
// signs, with the blanks behind it, or its first bytes if that has more than longest bytes.
func firstSentence(text, signs string, longest int) string {
	const closing, blank = "\"'”’»)", " \t\r\n\f"
	head := text[:min(len(text), longest)]
	for i, sign := range head { // an expression takes its time for all of the text, for each sentence
		if sign == '。' || sign == '！' || sign == '？' || sign == '；' { // no blank stands behind these
			return head[:i+utf8.RuneLen(sign)]
		}
		if sign != '\n' && (sign >= utf8.RuneSelf || strings.IndexByte(signs, byte(sign)) < 0) {
			continue
		}
		after := head[i+1:]
		if sign != '\n' {
			after = strings.TrimLeft(after, closing)
		}
		rest := strings.TrimLeft(after, blank)
		if len(rest) < len(after) || sign == '\n' {
			return head[:len(head)-len(rest)]
		}
	}
	for len(head) < len(text) && !utf8.RuneStart(text[len(head)]) {
		head = text[:len(head)+1]
	}
	return head
}

// messages writes the section of what was said. Of two texts of one message, the first in the list is shown.
func (s *summary) messages(list []message, others int) {
	slices.SortStableFunc(list, func(a, b message) int { return a.item - b.item })
	list = slices.CompactFunc(list, func(a, b message) bool { return a.item == b.item && a.note == b.note })
	mark := "--"
	if slices.ContainsFunc(list, func(m message) bool { return strings.Contains("\n"+m.text, "\n"+mark+" ") }) {
		mark = "-- " + s.id + ":" // else a part of a message could be taken for another one
	}
	var text strings.Builder
	if others > 0 {
		fmt.Fprintf(&text, "(more messages of the user, in the transcript: %d)\n", others)
	}
	for _, m := range list {
		fmt.Fprintf(&text, "%s %d %s\n%s", mark, s.Request.Items[m.item].Number, m.note, m.text)
	}
	s.section("the user's messages, and the last part of yours as quotes, oldest first, with their numbers in the "+
		"whole conversation; "+cut+" stands where one is cut (the user's rules hold; finished tasks stay done)",
		text.String())
}

// seen has the pairs of neighbouring words in all texts that a reader of the summary sees, as hashes. A text is worth
// its room by its news. Pairs tell more than words: a correction may have old words alone, in a new order.
type seen map[uint64]bool

// Shares of a text that have to be new.
const (
	newsOfWhole = 0.4 // of a message of the user that stands whole, and of the agent's words
	newsOfPart  = 0.6 // of a sentence of a message that does not stand whole
	newsOfLine  = 0.5 // of the words of a line of a result
)

func (s seen) add(text string) {
	for w := range words(text) {
		s[w.hash] = true
		s[w.pair] = true
	}
}

// news returns which share of the pairs of words in a text is new.
func (s seen) news(text string) float64 {
	return s.share(text, func(w word) (uint64, int) { return w.pair, 1 })
}

// newWords returns which share of the bytes of a text's words is in new words.
func (s seen) newWords(text string) float64 {
	return s.share(text, func(w word) (uint64, int) { return w.hash, w.size })
}

func (s seen) share(text string, part func(word) (hash uint64, size int)) float64 {
	fresh, all := 0, 0
	for w := range words(text) {
		hash, size := part(w)
		all += size
		if !s[hash] {
			fresh += size
		}
	}
	return float64(fresh) / float64(max(all, 1))
}

// word is a word of a text, by hashes.
type word struct {
	hash, pair uint64 // of the word, and of it and the one before
	size       int    // bytes
}

// signs stand within words: in paths, addresses and versions.
const signs = "-./:@+~$"

// isPart reports whether an ASCII character may stand in a word.
func isPart(c rune) bool {
	isLetter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
	return isLetter || strings.ContainsRune(signs, c)
}

var seed = maphash.MakeSeed()

// words yields the words of a text, without the signs around them. All letters and signs of other scripts than Latin
// belong to words: a text without spaces is one word, and new.
func words(text string) iter.Seq[word] {
	const prime = 1099511628211 // of FNV
	isBetween := func(c rune) bool { return c < utf8.RuneSelf && !isPart(c) }
	return func(yield func(word) bool) {
		before := uint64(0)
		for w := range strings.FieldsFuncSeq(text, isBetween) {
			w = strings.TrimLeft(w, signs)
			if w == "" {
				continue
			}
			hash := maphash.String(seed, strings.ToLower(strings.TrimRight(w, signs)))
			if !yield(word{hash: hash, pair: before*prime ^ hash, size: len(w)}) {
				return
			}
			before = hash
		}
	}
}
