package recap

import (
	"fmt"
	"slices"
	"strings"

	"epitome/rewrite/history"
	"epitome/rewrite/history/action"
	"epitome/rewrite/recap/fate"
	"epitome/rewrite/shorten"
)

// commands are the other commands of a span by how they ended, each group the newest first. Where there is no room for
// all, those that may run still and those that are open failures are told before all others, and those that only asked
// how things stand behind them. Some have the line of their output that matters most. Those that only look are told
// elsewhere.
func (c *calls) commands(tokens int) string {
	list, more := c.commandsWithin(newRows(tokens))
	if all := newRows(tokens); more > 0 {
		all.room -= len(rowOfMore) + len("000")
		if list, more = c.commandsWithin(all); len(all.list) == 0 {
			list, more = c.commandsWithin(newRows(tokens))
		}
	}
	return list.text(more)
}

// commandsWithin are the commands for which there is room, and how many others there are.
func (c *calls) commandsWithin(all *rows) (list *commandRows, more int) {
	list = &commandRows{calls: c, all: all, groups: map[string][]commandRow{}, forms: map[form]*numbered{}}
	for pass := range 3 { // as passOf counts them
		list.each(func(res *history.Result, group string) bool {
			return list.passOf(res, group) != pass || list.take(res, group)
		})
	}
	others := map[string]bool{}
	list.each(func(res *history.Result, group string) bool {
		if row := list.rowOf(res, group); row != "" && !list.all.seen[row] && !c.isTold[res] {
			others[row] = true
		}
		return true
	})
	return list, len(others)
}

// passOf says in which pass over the span a command is told, 0 to 2.
func (l *commandRows) passOf(res *history.Result, group string) int {
	switch {
	case group == endedNever, group == endedNotice, group == endedOpen && !l.isTold[res]:
		return 0
	case res.Action.Reports:
		return 2
	}
	return 1
}

// commandRows are rows of commands by how these ended.
type commandRows struct {
	*calls
	all    *rows
	groups map[string][]commandRow
	forms  map[form]*numbered // commands that are told
	looked int                // commands that were looked at for a line of their output
	others int                // that have one, and of which nothing else says how they ended
}

// form is what commands have in common that are one row: how they ended, all but their number, and what they said.
type form struct{ group, command, line string }

// numbered are commands that differ in their one number alone.
type numbered struct {
	text   string   // of the newest, as it is told
	others []string // numbers of the others
}

// String is the newest command, with the numbers of the others.
func (n *numbered) String() string {
	first, rest, hasLine := strings.Cut(n.text, "\n")
	if len(n.others) > 0 {
		first += ", also with " + strings.Join(n.others, ", ")
	}
	if hasLine {
		first += "\n" + rest
	}
	return first
}

// numberIn is a command without the one word in it that is a number, and that number; ok is false if there is none, or
// are several: it would not be clear which of them is another one.
func numberIn(command string) (form, number string, ok bool) {
	from, to := 0, 0
	for start := 0; start < len(command); {
		end := len(command)
		if n := strings.IndexAny(command[start:], " \t"); n >= 0 {
			end = start + n
		}
		if w := command[start:end]; w != "" && strings.Trim(w, "0123456789") == "" {
			if to > 0 {
				return "", "", false
			}
			from, to = start, end
		}
		start = end + 1
	}
	return command[:from] + "0" + command[to:], command[from:to], to > 0
}

// commandRow is what is told of one command.
type commandRow struct {
	item int // of its result
	*numbered
}

// each gives f the commands of the span that do more than to look, the newest first, until it returns false.
func (l *commandRows) each(f func(res *history.Result, group string) bool) {
	l.span.Backwards(func(res *history.Result) bool {
		return res.Action.Kind != action.Shell || isFinding(res) || fate.IsContinued(res) || f(res, l.group(res))
	})
}

// rowOf is the row of a command.
func (l *commandRows) rowOf(res *history.Result, group string) string {
	row := l.span.CommandLine(res)
	hasName := group == endedNever || group == endedSomeOf || group == endedNotice
	if id := l.span.EndingOf(res).Session; id != "" && hasName {
		row += ", id " + id
	}
	return row
}

// take takes the command whose result is res, and reports whether there is room for more.
func (l *commandRows) take(res *history.Result, group string) bool {
	const mostLines, mostOfOthers = 8, 16
	row := l.rowOf(res, group)
	if l.isTold[res] { // it stands above
		l.all.seen[row] = true
	}
	if row == "" || l.all.seen[row] {
		return true
	}
	line, isCurrent := "", group != endedAgain && group != endedMended // else what they say is out of date
	isOpen := group == endedSomeOf || group == endedNever || group == endedNotice
	if isCurrent && (l.looked < mostLines || isOpen && l.others < mostOfOthers) {
		line = l.lineOf(res, group)
	}
	command, number, ok := numberIn(row)
	ok = ok && group != endedNever && group != endedNotice // of those each has an id
	key := form{group, command, line}
	if like := l.forms[key]; ok && like != nil {
		return l.addTo(like, row, number)
	}
	if !l.all.add(row) {
		return false
	}
	n := &numbered{text: row}
	if isCurrent {
		if l.looked++; line != "" && l.all.add("> "+line) {
			n.text += "\n> " + line
			if isOpen {
				l.others++
			}
		}
	}
	if ok {
		l.forms[key] = n
	}
	l.groups[group] = append(l.groups[group], commandRow{res.Item, n})
	return true
}

// lineOf is the line that is told of a command: of its output, or what its client says of its end.
func (l *commandRows) lineOf(res *history.Result, group string) string {
	if group == endedNotice {
		sentence, _ := l.noticeOf(l.span.EndingOf(l.fates.LastOf(res)).Session)
		return sentence
	}
	last := l.fates.LastOf(res)
	if line := l.span.LineOf(last); line != "" || group != endedSomeOf {
		return line
	}
	return l.span.SoleLineOf(last)
}

// addTo adds a command to the row of those that it is like, and reports whether there is room for more.
func (l *commandRows) addTo(like *numbered, row, number string) bool {
	need := len(", ") + len(number)
	if len(like.others) == 0 {
		need += len(" also with")
	}
	if need > l.all.room {
		return false
	}
	l.all.seen[row] = true
	l.all.room -= need
	like.others = append(like.others, number)
	return true
}

// text tells the rows, and how many commands have none.
func (l *commandRows) text(more int) string {
	var s strings.Builder
	if folder := l.folder(); folder != "" && len(l.all.list) > 0 {
		s.WriteString("the newest ran in:\n" + folder + "\n")
	}
	for _, group := range endings {
		rows := l.groups[group]
		slices.SortStableFunc(rows, func(a, b commandRow) int { return b.item - a.item })
		for k, r := range rows {
			if k == 0 {
				s.WriteString(group + ":\n")
			}
			s.WriteString(r.String() + "\n")
		}
	}
	if more > 0 && s.Len() > 0 && l.span.IsReadWhole() {
		fmt.Fprintf(&s, rowOfMore, more)
	}
	return s.String()
}

// folder is where the newest command of the span ran, if its call says that.
func (l *commandRows) folder() (folder string) {
	l.span.Backwards(func(res *history.Result) bool {
		if l.span.CallOf(res) == nil || res.Action.Kind != action.Shell || isFinding(res) || fate.IsContinued(res) {
			return true
		}
		_, folder = l.span.CommandOf(res)
		return false
	})
	return shorten.OneLine(folder, longestFolder)
}

const longestFolder = 200 // characters

// How commands ended, as a summary groups them.
const (
	endedWell   = "ended with exit code 0"
	endedAnswer = "ended with an exit code that is an answer, and no failure"
	endedSolved = "failed before, and succeeded since"
	endedMended = "failed, and what failed in it has succeeded since"
	saidWell    = "no exit code, but the output says that it succeeded"
	saidNoError = "no error told"
	endedOpen   = "failed, and has not succeeded since"
	endedAgain  = "failed, and so did a later run"
	endedBadly  = "failed"
	endedSomeOf = "the result does not tell how it ended"
	endedNever  = "still running when a result last told of it"
	endedNotAt  = "refused or broken off"
	endedByKill = "killed while it ran"
	endedNotice = "your client says that they have ended, no result does"
)

var endings = [...]string{
	endedNever, endedNotice, endedOpen, endedNotAt, endedSolved, endedMended, endedWell, endedAnswer, saidWell,
	saidNoError,
	endedAgain, endedBadly, endedByKill, endedSomeOf,
}

// group is how a command of a shell ended.
func (c *calls) group(res *history.Result) string {
	ending, of := c.span.EndingOf(c.fates.EndOf(res)), c.fates.Of(res)
	switch {
	case ending.Refusal.IsRefused():
		return endedNotAt
	case ending.Code > 0 && !ending.Failed():
		return endedAnswer
	case of.IsSolved:
		return endedSolved
	case of.IsMended:
		return endedMended
	case of.IsAgain:
		return endedAgain
	case of.IsOpen:
		return endedOpen
	case ending.Failed() && !res.Action.Looks:
		return endedBadly
	case ending.Known && ending.Code == 0:
		return endedWell
	case ending.Succeeded():
		return saidWell
	case ending.TellsNoError():
		return saidNoError
	}
	last := ending
	if heard := of.Heard; heard != nil {
		last = c.span.EndingOf(heard)
	}
	switch {
	case last.Killed:
		return endedByKill
	case last.Session != "":
		if _, hasEnded := c.noticeOf(last.Session); hasEnded {
			return endedNotice
		}
		return endedNever
	}
	return endedSomeOf
}
