package recap

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"epitome/rewrite/conversation"
	"epitome/rewrite/plan"
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
	isTold     bool
}

func (s *saying) text() string { return s.of.text[s.start:s.end] }

// conclusions are sentences of the assistant's messages in at most so many tokens, oldest first: few of each, those
// that conclude something before others, and of the rest those of the newest messages. Where a message says nothing,
// what the model thought before it is told, if the client sends that. Behind them stands which messages are not shown.
func (r *writer) conclusions(tokens int) string {
	if tokens <= 0 {
		return ""
	}
	all := remarksOf(r, tokens)
	left := tokens - min(noteOfGaps, tokens/4)
	for _, s := range byWorth(all) {
		if left <= 0 {
			break
		}
		n := r.p.Count("> " + s.text() + "\n")
		if s.of.left == s.of.most() {
			n += r.p.Count(s.of.heading(r))
		}
		if n > left || n > s.of.room || s.of.left == 0 {
			continue
		}
		s.isTold, left = true, left-n
		s.of.room, s.of.left = s.of.room-n, s.of.left-1
	}
	var text strings.Builder
	var hidden []int
	for _, m := range slices.Backward(all) {
		if m.left == m.most() {
			hidden = append(hidden, m.item)
			continue
		}
		text.WriteString(m.heading(r) + m.quotes())
	}
	return text.String() + gapsIn(r, all, hidden)
}

// remarksOf are what the assistant's messages say, the newest first: those that say something which no newer one says.
// Announcements say nothing but in the newest messages.
func remarksOf(r *writer, tokens int) (all []*remark) {
	seen, age := map[string]bool{}, 0
	for i := r.to - 1; i >= max(r.read, r.says.Until); i-- {
		it := &r.p.Req.Items[r.p.Req.Head+i]
		if it.Role != conversation.Assistant {
			continue
		}
		m := &remark{item: i, text: r.p.TextOf(i), isAnswer: len(it.Calls) == 0, age: age}
		if m.read(); len(m.sentences) == 0 {
			m.note, m.text = ", a note to yourself", string(span.TextOf(it.Thoughts.Of(r.p.Req.Body)))
			m.read()
		}
		m.sentences = slices.DeleteFunc(m.sentences, func(s *saying) bool {
			text := s.text()
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
	return all
}

// most is how many sentences may be told of the message.
func (m *remark) most() int {
	if m.isAnswer {
		return mostOfAnswer
	}
	return mostOfWord
}

func (m *remark) heading(r *writer) string {
	return fmt.Sprintf("message %d%s:\n", plan.NumberOf(r.p, m.item), m.note)
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
// one of a message is worth less, and one that stands farther back, too.
func byWorth(all []*remark) (list []*saying) {
	const newer, answer, further = 4, 1, 2
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
			lines = append(lines, s.text())
		}
		end = s.end
	}
	return quoted(lines)
}

// gapsIn says which messages say something of which nothing is shown. hidden are their items. Messages that follow one
// another among all are told as one range.
func gapsIn(r *writer, all []*remark, hidden []int) string {
	const most = 6 // ranges
	older := ""
	if r.read > max(r.from, r.says.Until) {
		older = fmt.Sprintf("not shown here: what you said before message %d\n", plan.NumberOf(r.p, r.read))
	}
	if len(hidden) == 0 {
		return older
	}
	var ranges []string
	for k := 0; k < len(hidden); {
		at := slices.IndexFunc(all, func(m *remark) bool { return m.item == hidden[k] })
		last := k
		for last+1 < len(hidden) && at-1 >= 0 && all[at-1].item == hidden[last+1] {
			last, at = last+1, at-1
		}
		row := fmt.Sprint(plan.NumberOf(r.p, hidden[k]))
		if last > k {
			row += fmt.Sprintf("-%d", plan.NumberOf(r.p, hidden[last]))
		}
		ranges, k = append(ranges, row), last+1
	}
	if n := len(ranges); n > most {
		last := plan.NumberOf(r.p, hidden[len(hidden)-1])
		ranges = append(ranges[:most], fmt.Sprintf("and %d more up to message %d", n-most, last))
	}
	noun := "messages"
	if len(hidden) == 1 {
		noun = "message"
	}
	return older + "not shown here: what you said in " + noun + " " + strings.Join(ranges, ", ") + "\n"
}

// quoted marks lines as quoted, without those at both ends that say nothing.
func quoted(lines []string) string {
	for len(lines) > 0 && strings.TrimSpace(lines[0]) == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	var s strings.Builder
	for _, l := range lines {
		if l = strings.TrimRight(l, " \t\r"); l != "" {
			s.WriteString("> " + l + "\n")
		}
	}
	return s.String()
}
