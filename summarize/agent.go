package summarize

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"epitome/dialect/activity"
	"epitome/dialect/conversation"
	"epitome/internal/jsonspan"
	"epitome/offload/excerpt"
)

var inProgress = regexp.MustCompile(`(?i)in[ _-]?progress`)

// tasks returns the agent's task list before the end of the span, quoted, and the number of the message that changed
// it last; nothing if no call of the span set it. The first task in progress stands in it even beyond the budget, and
// a note counts the tasks that do not fit. Older, shorter ones may still fit.
func (s *summary) tasks(budget int) (text string, number int) {
	all, number, isGone := s.taskList()
	if !isGone {
		return "", 0
	}
	var lines []string
	room := bytesFor(budget)
	current := slices.IndexFunc(all, func(t task) bool { return inProgress.MatchString(t.text + t.state) })
	for k, t := range slices.Backward(all) {
		line := quote(excerpt.OneLine(strings.TrimSuffix(t.text+": "+t.state, ": "), 300)) // characters
		if k == current || len(line) <= room {
			lines = append(lines, line)
			room = max(room-len(line), 0)
		}
	}
	if len(lines) < len(all) {
		lines = append(lines, fmt.Sprintf("(other tasks, in the transcript: %d)\n", len(all)-len(lines)))
	}
	slices.Reverse(lines)
	return strings.Join(lines, ""), number
}

// taskList returns the agent's task list before the end of the span, and the number of the message that changed it last.
// isGone reports whether some of it stands in the span alone.
func (s *summary) taskList() (all taskList, number int, isGone bool) {
	for k := range s.Calls {
		c := &s.Calls[k]
		if c.Kind != activity.Todo || c.State() != "ok" || c.Result >= s.End {
			continue // it is not certain that the list was set, or that the next request has it
		}
		if all.set(jsonspan.TextOf(c.Arguments.Of(s.Request.Body)), c.ResultText(s.Request)) {
			isGone = false
		}
		isGone = isGone || s.inSpan(c)
		number = s.Request.Items[c.Item].Number
	}
	return all, number, isGone
}

// taskList is a task list of the agent.
type taskList []task

type task struct {
	id    string // empty if the whole list is set at once
	text  string
	state string // empty if it is part of the text
}

var firstNumber = regexp.MustCompile(`\d+`)

// set applies a call that sets the list, or adds or changes one task: it names the task's id, or the result does so. It
// reports whether the whole list is new. Tools name their arguments differently: the first text of a task is what there
// is to do, and the first one of a change is how it stands.
func (l *taskList) set(arguments []byte, result string) (isWhole bool) {
	var list []task
	one := task{}
	gjson.ParseBytes(arguments).ForEach(func(key, value gjson.Result) bool {
		name := strings.ToLower(key.Str)
		switch {
		case strings.HasSuffix(name, "id"):
			one.id = value.String()
		case name == "status" || name == "state":
			one.state = value.String()
		case value.IsArray():
			for _, t := range value.Array() {
				list = append(list, task{text: t.String()})
			}
		case one.text == "" && value.Type == gjson.String:
			one.text = value.Str
		}
		return true
	})
	switch {
	case one.id == "" && len(list) > 0:
		*l = list
		return true
	case one.id == "":
		one.id = firstNumber.FindString(result)
		*l = append(*l, one)
		return false
	}
	at := slices.IndexFunc(*l, func(t task) bool { return t.id == one.id })
	if at < 0 {
		at = len(*l)
		*l = append(*l, task{id: one.id, text: "task " + one.id})
	}
	(*l)[at].state = cmp.Or(one.state, one.text, (*l)[at].state)
	return false
}

// Files returns the newest files of the calls of one kind in the span that ended well, one per line, oldest first. It
// leaves out those in shown.
func (s *Span) Files(kind activity.Kind, budget int, shown []string) string {
	var lines []string
	room := bytesFor(budget)
	listed := map[string]bool{}
	for k := range slices.Backward(s.Calls) {
		c := &s.Calls[k]
		if !s.inSpan(c) || c.Kind != kind || c.State() != "ok" {
			continue
		}
		for _, name := range c.Files {
			if !listed[name] && !slices.Contains(shown, name) { // a later call may have the same file
				listed[name] = true
				if len(name) < room { // a line break is added
					lines = append(lines, name+"\n")
					room -= len(name) + 1
				}
			}
		}
	}
	slices.Reverse(lines)
	return strings.Join(lines, "")
}

// The notes above what the agent said and thought.
const (
	byAgent   = "you"
	reasoning = "your reasoning"
)

// Bytes of what the agent said in one message, whose end mostly says what was found, and of the reasoning of an answer.
const (
	longestSaid    = 1_000
	longestThought = 300
)

// newest returns, in room bytes, the ends of what the agent said or thought in its newest messages, quoted: the two
// newest, and others that say something new. textOf returns one of these texts, note says which, and line is how many
// bytes the line above a quote takes.
func (s *summary) newest(note string, room, line, longest int, textOf func(*conversation.Item) string) (list []message) {
	const always = 2 // texts that are quoted whatever they say
	for i := s.To - 1; i >= s.From && room > line; i-- {
		it := &s.Request.Items[i]
		if it.Role != conversation.Assistant {
			continue
		}
		text := ending(textOf(it), longest)
		isNew := len(list) < always || s.seen.news(text) >= newsOfWhole
		m := message{item: i, note: note, text: quote(text)}
		if text == "" || !isNew || line+len(m.text) > room {
			continue
		}
		if note == byAgent {
			m.text += s.doubts(i, text)
		}
		room -= line + len(m.text)
		list = append(list, m)
		s.seen.add(text)
	}
	return list
}

// ending returns the last paragraphs of a text that fit in longest bytes, or the last lines, sentences or words if
// those paragraphs have less than half as many.
func ending(text string, longest int) string {
	text = strings.TrimSpace(text)
	if len(text) <= longest {
		return text
	}
	tail := text[len(text)-longest:]
	for _, gap := range []string{"\n\n", "\n", ". ", " "} {
		if at := strings.Index(tail[:longest/2], gap); at >= 0 {
			return "… " + strings.TrimSpace(tail[at+len(gap):])
		}
	}
	return "… " + strings.ToValidUTF8(tail, "") // the cut may divide a character
}

// quote returns the lines of a text as a quote that ends with a line break; no lines stay empty. It leaves out blank
// ones and those that would read like a line of the user's to keep.
func quote(text string) string {
	var quoted strings.Builder
	for line := range strings.Lines(searchable(text)) {
		if strings.TrimSpace(line) == "" || conversation.IsKeepLine(line) {
			continue
		}
		quoted.WriteString(excerpt.Quote(strings.TrimSuffix(line, "\n")) + "\n")
	}
	return quoted.String()
}
