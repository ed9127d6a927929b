package summarize

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"epitome/rewrite/activity"
	"epitome/rewrite/conversation"
	"epitome/rewrite/excerpt"
	"epitome/rewrite/jsonspan"
)

var inProgress = regexp.MustCompile(`(?i)in[ _-]?progress`)

// tasks returns the agent's newest task list, quoted; nothing if its call is not in the span, and so is still sent. The
// first task in progress stands in it even beyond the budget, and a note counts the tasks that do not fit.
func (s *summary) tasks(budget int) string {
	all := ""
	for k := range slices.Backward(s.Calls) {
		c := &s.Calls[k]
		if c.Kind != activity.Todo || c.Result < 0 || c.Result >= s.End || c.Failed() {
			continue // it is not certain that the list was set, or that the next request has it
		}
		if s.inSpan(c) {
			arguments := jsonspan.TextOf(c.Arguments.Of(s.Request.Body))
			gjson.ParseBytes(arguments).ForEach(func(_, value gjson.Result) bool { // tools name the list differently
				for _, task := range value.Array() {
					all += quote(excerpt.OneLine(task.String(), 300)) // characters
				}
				return true
			})
		}
		break // the list of an older call is out of date
	}
	list, tasks := rows{room: bytesFor(budget)}, slices.Collect(strings.Lines(all))
	current := slices.IndexFunc(tasks, inProgress.MatchString)
	for k, task := range slices.Backward(tasks) {
		if k == current {
			list.room = max(list.room, len(task))
		}
		list.add(task)
	}
	if omitted := len(tasks) - strings.Count(list.text, "\n"); omitted > 0 {
		list.text = fmt.Sprintf("(other tasks, in the transcript: %d)\n%s", omitted, list.text)
	}
	return list.text
}

// Written returns the files that calls of the span wrote, one per line, the one that was written last at the end. It
// leaves out those on a line of done, the list of calls.
func (s *Span) Written(budget int, done string) string {
	list := rows{room: bytesFor(budget)}
	for k := range slices.Backward(s.Calls) {
		c := &s.Calls[k]
		if !s.inSpan(c) || c.Kind != activity.Write || c.Failed() {
			continue
		}
		for _, name := range c.Files {
			if !strings.Contains("\n"+list.text+"\n"+done, "\n"+name+"\n") { // a later call may have written it, too
				list.add(name + "\n")
			}
		}
	}
	return list.text
}

// lastWords returns, in room bytes, the ends of the agent's newest messages, quoted. It leaves out what a newer message
// says, too, and single lines that only announce a call, which is listed: those that end with a colon, or stand before a
// call and have no name or number.
func (s *summary) lastWords(room int) (list []message) {
	const longest, frame = 1_000, 24 // bytes of a message, whose end mostly says what was found; of the line above it
	for i := s.To - 1; i >= s.From; i-- {
		it := &s.Request.Items[i]
		if it.Role != conversation.Assistant {
			continue
		}
		said := ending(s.Request.TextOf(it), longest)
		next := &s.Request.Items[min(i+1, len(s.Request.Items)-1)] // a call may be an item of its own
		isBeforeCall := len(it.Calls) > 0 || len(next.Calls) > 0
		isAnnouncement := !strings.Contains(said, "\n") && (strings.HasSuffix(said, ":") ||
			isBeforeCall && len(namesIn(said)) == 0 && !strings.ContainsAny(said, "0123456789`"))
		said = quote(said)
		isRepeated := slices.ContainsFunc(list, func(m message) bool { return m.text == said })
		if said != "" && !isAnnouncement && !isRepeated && frame+len(said) <= room {
			room -= frame + len(said)
			list = append(list, message{i, "yours", said})
		}
	}
	return list
}

// ending returns the last paragraphs of a text that fit in longest bytes, or else the last lines, sentences or words.
func ending(text string, longest int) string {
	text = strings.TrimSpace(text)
	if len(text) <= longest {
		return text
	}
	tail := text[len(text)-longest:]
	for _, gap := range []string{"\n\n", "\n", ". ", " "} {
		if _, rest, ok := strings.Cut(tail, gap); ok {
			return "… " + strings.TrimSpace(rest)
		}
	}
	return "… " + strings.ToValidUTF8(tail, "") // the cut may divide a character
}

// quote returns the lines of a text, but blank ones, as a quote that ends with a line break; no lines stay empty.
func quote(text string) (quoted string) {
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			quoted += excerpt.Quote(strings.TrimSuffix(line, "\n")) + "\n"
		}
	}
	return quoted
}
