package recap

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"epitome/rewrite/activity"
	"epitome/rewrite/conversation"
	"epitome/rewrite/excerpt"
)

// entry is a call, or several alike, in the list of calls.
type entry struct {
	tool, row string
	lines     string // of the results, quoted
}

// inSpan reports whether a call and its result are in the span.
func (s *summary) inSpan(c *activity.Call) bool {
	return c.Item >= s.From && c.Result >= 0 && c.Result < s.To
}

// calls returns the calls of the span, oldest first: under the tool's name the main argument of each, with lines of its
// result. Calls that are alike and ended alike stand where the last of them was made. The oldest are left out first.
func (s *summary) calls() string {
	if s.Budgets.calls == 0 {
		return ""
	}
	const maxRead = 1 << 20 // bytes of results
	var list []*entry
	n, more, known := s.names(), "", map[entry]*entry{}
	room, unread := bytesFor(s.Budgets.calls), maxRead
	for k := range slices.Backward(s.Calls) {
		c := &s.Calls[k]
		if !s.inSpan(c) || c.Kind == activity.Todo || c.Kind == activity.Ask {
			continue
		}
		made := entry{tool: excerpt.OneLine(c.Tool, 80), row: row(c)}
		newer := known[made]
		if newer != nil && c.Failed() {
			continue
		}
		lines := ""
		if unread > 0 {
			text, _ := excerpt.Screen(s.Request.TextOf(&s.Request.Items[c.Result]))
			unread -= len(text)
			lines = n.linesOf(c, text)
		}
		if room -= len(lines); newer == nil {
			room -= len(made.row) + len(made.tool)/2
		}
		if room < 0 {
			more = "(older calls are not listed)\n"
			break
		}
		if newer != nil {
			newer.lines = lines + newer.lines
			continue
		}
		n.tell(made.row)
		known[made] = &entry{made.tool, made.row, lines}
		list = append(list, known[made])
	}
	var b strings.Builder
	b.WriteString(more)
	tool := ""
	for _, c := range slices.Backward(list) {
		if c.tool != tool {
			tool = c.tool
			b.WriteString(tool + ":\n")
		}
		b.WriteString(c.row + c.lines)
	}
	return strings.ToValidUTF8(b.String(), "\ufffd")
}

// row is the main argument of a call, on lines of its own, and whether it failed.
func row(c *activity.Call) string {
	const maxFiles = 8
	text := cmp.Or(strings.ReplaceAll(c.Command, "\n", "\n  "),
		strings.Join(c.Files[:min(len(c.Files), maxFiles)], "\n"), c.About, "(no arguments)")
	if c.Failed() {
		text += "\n(" + c.State() + ")"
	}
	return text + "\n"
}

// linesOf returns the lines of a result that are worth quoting: of a failed call the failure.
func (n *names) linesOf(c *activity.Call, text string) string {
	lines := strings.Split(text, "\n")
	if c.Failed() {
		lines = strings.Split(excerpt.Failure(text), "\n")
	} else {
		lines = n.choose(lines, c.Result)
	}
	var b strings.Builder
	for _, l := range lines {
		if l = strings.TrimRight(l, " \t\r"); l != "" {
			b.WriteString("> " + l + "\n")
		}
	}
	return b.String()
}

// written returns the files that calls wrote, newest first.
func (s *summary) written() (list []string) {
	room := bytesFor(s.Budgets.files)
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
func (s *summary) lastWords() (text string) {
	const most = 10 // messages
	room, n := bytesFor(s.Budgets.words), 0
	for i := s.To - 1; i >= s.From && n < most; i-- {
		it := &s.Request.Items[i]
		said := ending(strings.TrimSpace(s.Request.TextOf(it)))
		if it.Role != conversation.Assistant || said == "" {
			continue
		}
		said = fmt.Sprintf("message %d:\n> %s\n", s.number[i], strings.ReplaceAll(said, "\n", "\n> "))
		if room -= len(said); room < 0 {
			break
		}
		text = said + text
		n++
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
