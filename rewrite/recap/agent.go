package recap

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"epitome/rewrite/activity"
	"epitome/rewrite/conversation"
	"epitome/rewrite/excerpt"
)

// tasks returns the task list as the agent's last call has it, quoted; nothing if that call stays behind the span. Where
// there is no room for all tasks, the first ones are left out.
func (s *summary) tasks(budget int) (text string) {
	k := len(s.Calls) - 1
	for k >= 0 && (s.Calls[k].Kind != activity.Todo || s.Calls[k].Result >= s.End || s.Calls[k].Failed()) {
		k--
	}
	if k < 0 || !s.inSpan(&s.Calls[k]) {
		return ""
	}
	room := bytesFor(budget)
	arguments := s.Request.CallOf(s.Calls[k].Result).ArgumentsIn(s.Request.Body)
	gjson.ParseBytes(arguments).ForEach(func(_, list gjson.Result) bool {
		for _, task := range slices.Backward(list.Array()) {
			row := quote(excerpt.OneLine(task.String(), 300))
			if room -= len(row); room < 0 {
				return false
			}
			text = row + text
		}
		return true
	})
	return text
}

// written returns the files that calls wrote, newest first.
func (s *summary) written(budget int) (list []string) {
	room := bytesFor(budget)
	for k := range slices.Backward(s.Calls) {
		c := &s.Calls[k]
		if !s.inSpan(c) || c.Kind != activity.Write || c.Failed() {
			continue
		}
		for _, name := range c.Files {
			if len(name) < room && !slices.Contains(list, name) {
				room -= len(name) + 1
				list = append(list, name)
			}
		}
	}
	return list
}

// lastWords returns the ends of the agent's newest messages, oldest first, each under the number of its message.
func (s *summary) lastWords(budget int) (text string) {
	room := bytesFor(budget)
	for i := s.To - 1; i >= s.From; i-- {
		it := &s.Request.Items[i]
		said := ending(strings.TrimSpace(s.Request.TextOf(it)))
		if it.Role != conversation.Assistant || said == "" {
			continue
		}
		said = fmt.Sprintf("message %d:\n%s", s.number[i], quote(said))
		if room -= len(said); room < 0 {
			break
		}
		text = said + text
	}
	return text
}

// ending returns the last paragraphs of a text, or else its last sentences or words.
func ending(text string) string {
	const longest = 320 // bytes
	if len(text) <= longest {
		return text
	}
	tail := text[len(text)-longest:]
	for _, gap := range []string{"\n\n", "\n", ". ", " "} {
		if _, rest, ok := strings.Cut(tail, gap); ok {
			return "… " + strings.TrimSpace(rest)
		}
	}
	return "… " + strings.ToValidUTF8(tail, "")
}

func quote(text string) string { return "> " + strings.ReplaceAll(text, "\n", "\n> ") + "\n" }
