package spoken

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"epitome/rewrite/conversation"
	"epitome/rewrite/plan"
	"epitome/rewrite/recap/intext"
	"epitome/rewrite/sentence"
	"epitome/rewrite/span"
)

// How much is told of one message.
const (
	mostOfWord    = 3  // sentences of what was said between calls
	mostOfAnswer  = 5  // sentences of an answer that ends a turn
	mostInForce   = 12 // sentences of the message in force, where it does not go whole
	shareOfAnswer = 3  // an answer takes at most this part of the room, and the message in force
	shareOfWord   = 8  // what was said between calls at most this one
	leastOfEach   = 40 // tokens that each may take all the same
	underWay      = 3  // newest messages, of which announcements are told too, and before all others
	noteOfGaps    = 50 // tokens, about, for the line that says which messages are not shown; at most a quarter
	mostAlike     = 12 // sentences of one form that are told
)

// remark is what one message of the assistant says.
type remark struct {
	item      int // behind the head
	note      string
	text      string
	isAnswer  bool
	age       int // assistant's messages that stand behind it in the span
	sentences []*saying
	room      int // tokens that it may still take
	left      int // sentences of it that may still be told

	inForce bool // what is being done follows from it
	isWhole bool // all of the text is told
	isCut   bool // the text is without the calls in it
}

// saying is a short line of a message whole, or a sentence of a longer one.
type saying struct {
	of         *remark
	at         int // its place among the sentences of the message
	start, end int // bytes of the text
	worth      int
	newer      int // sentences of its form that newer messages have
	isTold     bool
}

// withNext are the sentence, if it is not told yet, and the next one, if it only leads to that.
func (s *saying) withNext() (list []*saying) {
	if !s.isTold {
		list = append(list, s)
	}
	if k := s.at + 1; k < len(s.of.sentences) && sentence.LeadsOn(s.text()) {
		next := s.of.sentences[k]
		if !next.isTold && strings.TrimSpace(s.of.text[s.end:next.start]) == "" {
			list = append(list, next)
		}
	}
	return list
}

func (s *saying) text() string { return s.of.text[s.start:s.end] }

// Conclusions are sentences of the assistant's messages in at most so many tokens, oldest first: few of each, those
// that conclude something before others, and of the rest those of the newest messages. Where a message says nothing,
// what the model thought before it is told, if the client sends that. Behind them stands which messages are not shown.
func (s *Span) Conclusions(tokens int) string {
	if tokens <= 0 {
		return ""
	}
	all := remarksOf(s, tokens)
	left := tokens - min(noteOfGaps, tokens/4)
	if m := inForce(s, all); m != nil {
		left -= m.tellWhole(s, max(tokens/shareOfAnswer, leastOfEach))
	}
	for _, q := range byWorth(all) {
		if left <= 0 {
			break
		}
		list, n := q.withNext(), 0
		if q.of.left == q.of.most() {
			n += s.Plan.Count(q.of.heading(s))
		}
		for _, p := range list {
			n += s.Plan.Count("> " + strings.ReplaceAll(p.text(), "\n", "\n> ") + "\n")
		}
		if n > left || n > q.of.room || q.of.left < len(list) {
			continue
		}
		for _, p := range list {
			p.isTold = true
		}
		left -= n
		q.of.room, q.of.left = q.of.room-n, q.of.left-len(list)
	}
	var text strings.Builder
	for _, m := range slices.Backward(all) {
		if !m.isHidden() {
			text.WriteString(m.heading(s) + m.quotes())
		}
	}
	return text.String() + gapsIn(s, all)
}

// inForce is the newest message, since the user has spoken last, that says more than is told of others: a plan, or what
// was found to be wrong and is being mended. nil if there is none.
func inForce(s *Span, all []*remark) *remark {
	i := s.To
	for _, m := range all { // the newest first: each item is looked at once
		for i--; i > m.item; i-- {
			if plan.UserSpeaks(s.Plan, i) {
				return nil
			}
		}
		if m.note == "" && len(m.sentences) > m.most() {
			return m
		}
	}
	return nil
}

// tellWhole tells all of the message in force if that takes no more than so many tokens. Else more of its sentences are
// told than of others. It returns what it has taken.
func (m *remark) tellWhole(s *Span, tokens int) (taken int) {
	const longest = 8 // bytes of a token
	if len(m.text) <= longest*tokens {
		m.isWhole = true
		if taken = s.Plan.Count(m.heading(s) + m.quotes()); taken <= tokens {
			m.left = 0
			return taken
		}
		m.isWhole = false
	}
	m.inForce, m.room, m.left = true, tokens, mostInForce
	return 0
}

// remarksOf are what the assistant's messages say, the newest first: those that say something which no newer one says.
// Announcements say nothing but in the newest messages.
func remarksOf(s *Span, tokens int) (all []*remark) {
	seen, age := map[string]bool{}, 0
	for i := s.To - 1; i >= max(s.Read, s.Until); i-- {
		it := s.ItemAt(i)
		if it.Role != conversation.Assistant {
			continue
		}
		m := &remark{item: i, text: s.Plan.TextOf(i), isAnswer: len(it.Calls) == 0, age: age}
		isCall := s.callsInText(i, m.text)
		m.text, m.isAnswer, m.isCut = intext.WithoutCalls(m.text, isCall), m.isAnswer && !isCall, isCall
		if m.read(); len(m.sentences) == 0 {
			m.note, m.text = ", a note to yourself", string(span.TextOf(it.Thoughts.Of(s.Plan.Req.Body)))
			m.read()
		}
		m.sentences = slices.DeleteFunc(m.sentences, func(q *saying) bool {
			text := q.text()
			known := seen[text]
			seen[text] = true
			return known
		})
		if len(m.sentences) == 0 {
			continue
		}
		m.room, m.left = max(tokens/shareOfWord, leastOfEach), m.most()
		if m.isAnswer {
			m.room = max(tokens/shareOfAnswer, leastOfEach)
		}
		all = append(all, m)
		age++
	}
	noteAlike(all)
	return all
}

// noteAlike notes of each sentence how many newer messages say the same of something else, and leaves out those that
// very many newer ones do.
func noteAlike(all []*remark) {
	var f forms
	words := map[*saying][]string{}
	for _, m := range all {
		for _, q := range m.sentences {
			words[q] = bareWords(q.text())
			f.count(words[q])
		}
	}
	seen := map[string]int{}
	for _, m := range all {
		for _, q := range m.sentences {
			if form := f.of(words[q]); form != "" {
				q.newer = seen[form]
				seen[form]++
			}
		}
		m.sentences = slices.DeleteFunc(m.sentences, func(q *saying) bool { return q.newer >= mostAlike })
		for k, q := range m.sentences {
			q.at = k
		}
	}
}

// most is how many sentences may be told of the message.
func (m *remark) most() int {
	switch {
	case m.inForce:
		return mostInForce
	case m.isAnswer:
		return mostOfAnswer
	}
	return mostOfWord
}

func (m *remark) heading(s *Span) string {
	note := m.note
	if m.isWhole && !m.isCut {
		note = ", whole"
	}
	return fmt.Sprintf("message %d%s:\n", plan.NumberOf(s.Plan, m.item), note)
}

// read finds the sentences of the message that may be told, and what each is worth.
func (m *remark) read() {
	m.sentences = nil
	for _, p := range sentence.PartsOf(m.text) {
		text := m.text[p.Start:p.End]
		if !sentence.SaysSomething(text) {
			continue
		}
		isPlan, isIdle := sentence.AnnouncesOnly(text), sentence.IsIdleTalk(text)
		if m.age >= underWay && (isPlan || isIdle && !m.isAnswer) {
			continue
		}
		s := &saying{of: m, start: p.Start, end: p.End}
		if !isPlan && !isIdle {
			s.worth = sentence.WorthOf(text)
		}
		m.sentences = append(m.sentences, s)
	}
	if n := len(m.sentences); n > 0 {
		m.sentences[0].worth++
		m.sentences[n-1].worth += min(n-1, 1)
	}
}

// byWorth are the sentences of all messages in the order in which they are told as long as there is room. Each further
// one of a message is worth less, and one that stands farther back, too, and one of which newer messages have the like.
func byWorth(all []*remark) (list []*saying) {
	const newer, answer, further, alike = 4, 1, 2, 3
	for _, m := range all {
		own := slices.Clone(m.sentences)
		slices.SortStableFunc(own, func(a, b *saying) int { return b.worth - a.worth })
		for k, s := range own[:min(len(own), 2*m.most())] {
			if m.inForce {
				s.worth += newer
				list = append(list, s)
				continue
			}
			if s.worth -= bits.Len(uint(m.age/4)) + further*min(k, m.most()); m.age < underWay {
				s.worth += newer
			}
			if m.isAnswer {
				s.worth += answer
			}
			s.worth -= alike * bits.Len(uint(s.newer/2))
			list = append(list, s)
		}
	}
	slices.SortStableFunc(list, func(a, b *saying) int { return b.worth - a.worth })
	return list
}

// quotes are the sentences that are told, quoted. Those that follow one another in a line stay together.
func (m *remark) quotes() string {
	if m.isWhole {
		return Quoted(strings.Split(m.text, "\n"))
	}
	var lines []string
	end := -1
	for _, s := range m.sentences {
		if !s.isTold {
			continue
		}
		if n := len(lines) - 1; end >= 0 && strings.Trim(m.text[end:s.start], " ") == "" {
			lines[n] += m.text[end:s.end]
		} else {
			lines = append(lines, strings.Split(s.text(), "\n")...)
		}
		end = s.end
	}
	return Quoted(lines)
}

// isHidden reports whether nothing of the message is told.
func (m *remark) isHidden() bool { return !m.isWhole && m.left == m.most() }

// gapsIn says which messages, of all that say something, nothing is shown of. Those that follow one another are told as
// one range.
func gapsIn(s *Span, all []*remark) string {
	const most = 6 // ranges
	older := ""
	if s.Read > max(s.From, s.Until) {
		older = fmt.Sprintf("not shown here: what you said before message %d\n", plan.NumberOf(s.Plan, s.Read))
	}
	var ranges []string
	hidden, first, last := 0, -1, -1 // ends of a range, items
	end := func() {
		if first < 0 {
			return
		}
		row := fmt.Sprint(plan.NumberOf(s.Plan, first))
		if last > first {
			row += fmt.Sprintf("-%d", plan.NumberOf(s.Plan, last))
		}
		ranges, first = append(ranges, row), -1
	}
	final := -1
	for _, m := range slices.Backward(all) {
		if !m.isHidden() {
			end()
			continue
		}
		if first < 0 {
			first = m.item
		}
		last, final, hidden = m.item, m.item, hidden+1
	}
	if end(); hidden == 0 {
		return older
	}
	if n := len(ranges); n > most {
		ranges = append(ranges[:most], fmt.Sprintf("and %d more up to message %d", n-most, plan.NumberOf(s.Plan, final)))
	}
	noun := "messages"
	if hidden == 1 {
		noun = "message"
	}
	return older + "not shown here: what you said in " + noun + " " + strings.Join(ranges, ", ") + "\n"
}
