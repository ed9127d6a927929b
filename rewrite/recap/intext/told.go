package intext

import (
	"fmt"
	"strings"

	"epitome/rewrite/excerpt"
	"epitome/rewrite/shell"
	"epitome/rewrite/shorten"
)

// Told is a result with the number of its message.
type Told struct {
	Result
	Number int
}

// The rows above calls of one kind, as a summary has them.
const (
	groupFailed  = "failed, and the same has not succeeded since:\n"
	groupWell    = "the output says that it succeeded:\n"
	groupRest    = "the result does not tell how it ended:\n"
	groupWritten = "files that were written:\n"
	groupRead    = "files that were read:\n"
	groupCommits = "commits:\n"
	rowOfMore    = "and %d more, not listed here\n"
)

// Rows tell of calls, the newest first, in at most so many bytes: each once, as its newest result tells of it. Those
// that failed come first, with lines of their results that say why. isAll says that there are no older calls.
func Rows(all []Told, isAll bool, room int) string {
	t := &table{room: room - len(rowOfMore) - len("000"), groups: map[string][]string{}}
	rows, isRead := rowsOf(all)
	for _, failed := range [...]bool{true, false} {
		for _, r := range rows {
			if failed == (r.group == groupFailed) {
				t.take(r)
			}
		}
	}
	var s strings.Builder
	for _, group := range [...]string{groupFailed, groupWell, groupRest, groupCommits, groupWritten, groupRead} {
		if rows := t.groups[group]; len(rows) > 0 {
			s.WriteString(group + strings.Join(rows, ""))
		}
	}
	if t.more > 0 && s.Len() > 0 && isAll && isRead {
		fmt.Fprintf(&s, rowOfMore, t.more)
	}
	return s.String()
}

// row is what is told of a call, and the row above it.
type row struct{ group, text string }

// rowsOf are the rows of calls, each once. What was committed since is no edit that failed. isAll is false if not all
// were read.
func rowsOf(all []Told) (rows []row, isAll bool) {
	const mostRead = 1 << 20 // bytes of results; older ones are not told
	seen, isCommitted, read := map[string]bool{}, false, 0
	for k := range all {
		c := &all[k]
		isCommitted = isCommitted || c.Tool == toolCommit
		key := c.key()
		if c.Tool == toolFiles || c.isTalk() || seen[key] || c.Tool == toolEdit && isCommitted || c.looks() {
			continue
		}
		seen[key] = true
		if read += min(len(c.Text), mostOfResult) + len(c.About); read > mostRead {
			return rows, false
		}
		group, lines := c.ending()
		text := c.About
		switch {
		case c.Tool == toolCommit:
			text += " " + c.Text
		case group == groupFailed:
			text = fmt.Sprintf("%s, message %d", c.name(), c.Number)
		case group == groupWell || group == groupRest:
			text = c.name()
		}
		for _, l := range lines {
			text += "\n> " + l
		}
		rows = append(rows, row{group, text + "\n"})
	}
	return rows, true
}

// table collects rows while there is room.
type table struct {
	room, more int
	groups     map[string][]string
}

func (t *table) take(r row) {
	const mostCommits = 8
	if len(r.text) > t.room || r.group == groupCommits && len(t.groups[r.group]) == mostCommits {
		t.more++
		return
	}
	t.room -= len(r.text)
	t.groups[r.group] = append(t.groups[r.group], r.text)
}

// key is equal for calls of which the newest tells how the others stand.
func (c *Told) key() string {
	if c.Tool == toolCommit || c.Tool == toolEdit {
		return c.Tool + "\x00" + c.About + c.Text
	}
	if group := c.group(); group != "" {
		return group + c.About
	}
	return c.Tool + "\x00" + c.About
}

// name is the call in one line.
func (c *Told) name() string {
	const longest = 200 // characters
	about := shorten.OneLine(strings.TrimSpace(c.About), longest)
	switch {
	case about == "":
		return c.Tool
	case c.runs():
		return about
	}
	return c.Tool + " `" + about + "`"
}

// runs reports whether the call runs a command.
func (c *Told) runs() bool { return c.Tool == "execute_command" || c.Tool == toolCommand }

// looks reports whether the call runs a command that only shows what is there: what that says is not of the call.
func (c *Told) looks() bool {
	const longest = 8_000 // bytes
	return c.runs() && len(c.About) <= longest && shell.EffectsOf("", nil, []string{c.About}).Looks
}

// isTalk reports whether the call only speaks to the user: that is told elsewhere.
func (c *Told) isTalk() bool {
	return speaks(c.Tool) || c.Tool == "switch_mode" || c.Tool == "update_todo_list"
}

// group is the row above a call that writes or reads a file; empty for others.
func (c *Told) group() string {
	switch c.Tool {
	case "write_to_file", "replace_in_file", "apply_diff", "insert_content", "search_and_replace", "edit_file":
		return groupWritten
	case "read_file":
		return groupRead
	}
	return ""
}

// ending is the row above the call, and lines of what its client says of it.
func (c *Told) ending() (group string, lines []string) {
	const mostOfFailure, mostOfOther = 3, 1
	text, _ := shorten.FinalScreen(endsOf(c.Text))
	text = strings.TrimSpace(text)
	switch {
	case c.Tool == toolCommit:
		return groupCommits, nil
	case c.Tool == toolEdit:
		return groupFailed, []string{c.Text}
	case isError(text):
		return groupFailed, shortLines(text, mostOfFailure)
	case c.group() != "":
		return c.group(), nil
	case !c.runs():
		return groupRest, nil
	}
	switch read := excerpt.Read(text); read.Outcome {
	case excerpt.Failed:
		if lines = excerpt.Failures(text, mostOfFailure); len(lines) == 0 {
			lines = nonEmpty(read.Line)
		}
		return groupFailed, lines
	case excerpt.Succeeded:
		return groupWell, nonEmpty(read.Line)
	default:
		return groupRest, excerpt.Failures(text, mostOfOther)
	}
}

// mostOfResult is how many bytes of a result are read: of a longer one the two ends.
const mostOfResult = 64 << 10

func endsOf(text string) string {
	if len(text) <= mostOfResult {
		return text
	}
	head, tail := text[:mostOfResult/2], text[len(text)-mostOfResult/2:]
	_, tail, _ = strings.Cut(tail, "\n")
	return head[:strings.LastIndexByte(head, '\n')+1] + tail
}

// isError reports whether a client says that it could not or was not allowed to make a call.
func isError(text string) bool {
	return strings.HasPrefix(text, "The tool execution failed with the following error:") ||
		strings.HasPrefix(text, "The user denied this operation") || strings.HasPrefix(text, "Error:")
}

// shortLines are the first lines of a text that say something and are not long.
func shortLines(text string, most int) (lines []string) {
	const longest = 300 // bytes
	for l := range strings.Lines(text) {
		if l = strings.TrimSpace(l); l != "" && l[0] != '<' && len(l) <= longest && len(lines) < most {
			lines = append(lines, l)
		}
		if len(lines) == most {
			break
		}
	}
	return lines
}

// nonEmpty is a list of a line, if it says something.
func nonEmpty(line string) []string {
	if line == "" {
		return nil
	}
	return []string{line}
}
