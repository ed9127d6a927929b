package recap

import (
	"cmp"
	"slices"
	"strings"

	"epitome/rewrite/activity"
	"epitome/rewrite/excerpt"
)

// inSpan reports whether a call and its result are in the span.
func (s *summary) inSpan(c *activity.Call) bool {
	return c.Item >= s.From && c.Result >= 0 && c.Result < s.To
}

// calls returns the calls of the span, oldest first: under the tool's name the main argument of each, with lines of its
// result. Of calls that are alike the older ones stand there only if their results have lines of their own. The oldest
// calls are left out first.
func (s *summary) calls(budget int) (text string) {
	if budget == 0 {
		return ""
	}
	n, room, listed := s.names(), bytesFor(budget), map[string]bool{}
	heading, older := "", "" // the tool of the calls at the beginning of the text
	for k := range slices.Backward(s.Calls) {
		c := &s.Calls[k]
		if !s.inSpan(c) || c.Kind == activity.Todo || c.Kind == activity.Ask {
			continue
		}
		tool, row := excerpt.OneLine(c.Tool, 80)+":\n", row(c)
		result, _ := excerpt.Screen(s.Request.TextOf(&s.Request.Items[c.Result]))
		lines := n.linesOf(c, result)
		if listed[tool+row] && (lines == "" || c.Failed()) {
			continue
		}
		if room -= len(tool)/2 + len(row) + len(lines); room < 0 {
			older = "(older calls are not listed)\n"
			break
		}
		listed[tool+row] = true
		n.show(row)
		if tool != heading {
			text, heading = heading+text, tool
		}
		text = row + lines + text
	}
	return strings.ToValidUTF8(older+heading+text, "\ufffd")
}

// row returns the main argument of a call, on lines of its own, and whether it failed.
func row(c *activity.Call) string {
	const maxFiles = 8
	text := cmp.Or(strings.Join(c.Files[:min(len(c.Files), maxFiles)], "\n"), c.About, "(no arguments)")
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
