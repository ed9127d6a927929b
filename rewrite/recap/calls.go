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

// calls returns the calls of the span: under the tool's name the main argument of each, with lines of its result. Of
// calls that are alike the older ones stand there only if their results have lines of their own.
func (s *summary) calls(budget int) string {
	if budget == 0 {
		return ""
	}
	list, listed, n := rows{room: bytesFor(budget)}, map[string]bool{}, s.names()
	heading := "" // of the calls at the beginning of the list
	for k := range slices.Backward(s.Calls) {
		c := &s.Calls[k]
		if !s.inSpan(c) || c.Kind == activity.Todo || c.Kind == activity.Ask {
			continue
		}
		tool, row, quoted := excerpt.OneLine(c.Tool, 80)+":\n", row(c), quote(s.linesOf(c, n))
		if listed[tool+row] && (quoted == "" || c.Failed()) {
			continue
		}
		if list.room < len(heading+row+quoted) {
			heading = "(older calls are not listed)\n" + heading
			break
		}
		if tool != heading {
			list.add(heading)
			heading = tool
		}
		list.add(row + quoted)
		listed[tool+row] = true
		n.show(row)
	}
	return heading + list.text
}

// row returns the main argument of a call, on lines of its own, and whether it failed.
func row(c *activity.Call) string {
	const maxFiles = 8
	row := cmp.Or(strings.Join(c.Files[:min(len(c.Files), maxFiles)], "\n"), c.About, "(no arguments)") + "\n"
	if c.Failed() {
		row += "(" + c.State() + ")\n"
	}
	return row
}

// linesOf returns the lines of a result that are worth quoting: of a failed call the failure, and else the first lines
// with names that later calls use and that stand nowhere else.
func (s *summary) linesOf(c *activity.Call, n *names) string {
	const most, longest = 4, 160 // lines, bytes of a line
	text, _ := excerpt.Screen(s.Request.TextOf(&s.Request.Items[c.Result]))
	if failure := excerpt.Failure(text); c.Failed() || failure != "" && c.Kind == activity.Run && c.Exit < 0 {
		return failure
	}
	var list []string
	isNew := func(name string) bool { return n.used[name] > c.Result && !n.shown[name] }
	for line := range strings.SplitSeq(text, "\n") {
		if len(list) < most && len(line) <= longest && slices.ContainsFunc(namesIn(line), isNew) {
			list = append(list, strings.TrimRight(line, " \t\r"))
			n.show(line)
		}
	}
	return strings.Join(list, "\n")
}
