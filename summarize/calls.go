package summarize

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"epitome/rewrite/activity"
	"epitome/rewrite/excerpt"
)

// inSpan reports whether a call and its result are both in the span. Of a call without result nobody knows what it did.
func (s *Span) inSpan(c *activity.Call) bool {
	return c.Item >= s.From && c.Result >= 0 && c.Result < s.To
}

// calls lists the calls of the span, oldest first: below the tool's name the main argument of each call, and quoted
// lines of its result. An older call with the same row is listed only if it did not fail and has lines to quote.
func (s *summary) calls(budget int) string {
	if budget == 0 { // else the note that older calls are not listed would be the whole section
		return ""
	}
	list, listed, n := rows{room: bytesFor(budget)}, map[string]bool{}, s.collectNames()
	heading, last := "", "" // of the oldest rows in list, added once an older call is of another tool; the oldest row
	for k := range slices.Backward(s.Calls) {
		c := &s.Calls[k]
		tool, row := excerpt.OneLine(c.Tool, 80)+":\n", rowOf(c)
		if !s.inSpan(c) || c.Kind == activity.Todo || c.Kind == activity.Ask || listed[tool+row] && c.Failed() {
			continue // tasks and users have a section for two kinds; the row of a newer call says all of a failure
		}
		quoted := quote(s.linesToQuote(c, n))
		lines := slices.DeleteFunc(strings.SplitAfter(quoted, "\n"), func(line string) bool {
			return strings.Contains("\n"+list.text, "\n"+line) // a newer call failed in the same way
		})
		quoted = strings.Join(lines, "")
		saysNothing := c.About == "" && quoted == ""
		if listed[tool+row] && quoted == "" || saysNothing && !c.Failed() {
			continue // the newer call's row says it all, too, or the row only a tool's name
		}
		if list.room < len(heading+row+quoted) {
			heading = "(older calls are not listed)\n" + heading
			break
		}
		switch {
		case tool != heading:
			list.add(heading)
			heading = tool
		case row == last: // one row stands for both, with the lines of both below it
			list.text, list.room = list.text[len(row):], list.room+len(row)
		}
		last = row
		list.add(row + quoted)
		listed[tool+row] = true
		n.markShown(row) // results of older calls, which come next, need not repeat its names
	}
	return heading + list.text
}

// rowOf returns the files of a call, one per line, or else its main argument; below that how it failed, if it did. Of
// several files that it failed to change, it names the first: the next try names them all.
func rowOf(c *activity.Call) string {
	const maxFiles = 8
	row := cmp.Or(strings.Join(c.Files[:min(len(c.Files), maxFiles)], "\n"), c.About) + "\n"
	row = strings.TrimPrefix(row, "\n") // of a call without an argument
	if c.Failed() && len(c.Files) > 1 {
		row = fmt.Sprintf("%s (the first of %d files)\n", c.Files[0], len(c.Files))
	}
	if c.Failed() {
		row += "(" + c.State() + ")\n"
	}
	return row
}

// linesToQuote returns the failure that a result reports, if its call failed or is a command without exit code. Of
// other results it returns the first lines of at least three different words that have names which the agent has used in
// later calls and sees nowhere else.
func (s *summary) linesToQuote(c *activity.Call, n *names) string {
	const maxLines, longest = 4, 160 // lines with such names, bytes of each
	text, _ := excerpt.Screen(c.ResultText(s.Request))
	if failure := c.Failure(text); c.Failed() || failure != "" {
		return failure
	}
	var list []string
	isNew := func(name string) bool { return n.used[name] > c.Result && !n.shown[name] }
	for line := range strings.SplitSeq(text, "\n") {
		isPart := len(line) > longest || strings.HasSuffix(line, "(") || strings.HasSuffix(line, "[")
		if isPart || len(list) == maxLines || !slices.ContainsFunc(namesIn(line), isNew) {
			continue
		}
		words := longWord.FindAllString(line, -1)
		slices.Sort(words)
		if len(slices.Compact(words)) >= 3 {
			list = append(list, strings.TrimRight(line, " \t\r"))
			n.markShown(line) // no second line is quoted for the same names
		}
	}
	return strings.Join(list, "\n")
}
