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
	shareOfAnswer = 3  // an answer takes at most this part of the room
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
}

// saying is a short line of a message whole, or a sentence of a longer one.
type saying struct {
	of         *remark
	start, end int // bytes of the text
	worth      int
	newer      int // sentences of its form that newer messages have
	isTold     bool
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
	for _, q := range byWorth(all) {
		if left <= 0 {
			break
		}
		n := s.Plan.Count("> " + strings.ReplaceAll(q.text(), "\n", "\n> ") + "\n")
		if q.of.left == q.of.most() {
			n += s.Plan.Count(q.of.heading(s))
		}
		if n > left || n > q.of.room || q.of.left == 0 {
			continue
		}
		q.isTold, left = true, left-n
		q.of.room, q.of.left = q.of.room-n, q.of.left-1
	}
	var text strings.Builder
	for _, m := range slices.Backward(all) {
		if !m.isHidden() {
			text.WriteString(m.heading(s) + m.quotes())
		}
	}
	return text.String() + gapsIn(s, all)
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
		m.text, m.isAnswer = intext.WithoutCalls(m.text, isCall), m.isAnswer && !isCall
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
	}
}

// most is how many sentences may be told of the message.
func (m *remark) most() int {
	if m.isAnswer {
		return mostOfAnswer
	}
	return mostOfWord
}

func (m *remark) heading(s *Span) string {
	return fmt.Sprintf("message %d%s:\n", plan.NumberOf(s.Plan, m.item), m.note)
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
func (m *remark) isHidden() bool { return m.left == m.most() }

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
