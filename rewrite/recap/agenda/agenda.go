// Package agenda is the list of tasks that an agent keeps with its tools: how it stands after a run of calls.
//
// It promises that each task is told as a call wrote it, a very long one with its beginning, in the state that the
// newest call gave it. A call is read once, and of very many tasks only so many are kept.
package agenda

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// What is read at most.
const (
	mostTasks    = 400
	longestCall  = 64 << 10 // bytes
	longestTitle = 300      // bytes
)

// state is how a task stands.
type state uint8

const (
	open state = iota
	underWay
	done
	dropped
)

// task is one entry of the list.
type task struct {
	id, title string
	state     state
}

// List is the list of tasks. The zero value is empty.
type List struct {
	tasks []task
	at    map[string]int // of each id, the place of its task
	made  int            // tasks that were made one by one
}

// MayKeep reports whether a tool may keep such a list, by its name.
func MayKeep(tool string) bool { return useOf(tool) != noUse }

// Keeps reports whether a call of a tool is about such a list: one of a server's only if it has all of one.
func Keeps(tool string, arguments []byte) bool {
	return MayKeep(tool) && (useNamed(withoutHarness(tool)) != noUse || len(Titles(arguments)) > 0)
}

// Titles are the tasks in the arguments of a call that has a list of them, each with how it stands; none if it has not.
func Titles(arguments []byte) (list []string) {
	if len(arguments) > longestCall || !gjson.ValidBytes(arguments) {
		return nil
	}
	rows, isList := rowsOf(gjson.ParseBytes(arguments)), true
	if rows.IsArray() {
		rows.ForEach(func(_, row gjson.Result) bool {
			title := titleOf(row)
			list, isList = append(list, title), title != "" && row.Get("status").Exists() && len(list) < mostTasks
			return isList
		})
	}
	if !isList {
		return nil
	}
	return list
}

// rowsOf are the tasks in a call that has all of the list, or several of it.
func rowsOf(call gjson.Result) (rows gjson.Result) {
	for _, name := range [...]string{"todos", "plan", "todoList", "items", "tasks"} {
		if rows = call.Get(name); rows.Exists() {
			break
		}
	}
	return rows
}

// use is what a tool does with the list.
type use uint8

const (
	noUse    use = iota
	replaces     // it has all of it
	makes        // it adds a task
	changes      // it changes one
	looks        // it shows it
)

// useOf knows the tools of common agents, and those of servers that have all of a list.
func useOf(tool string) use {
	own := withoutHarness(tool)
	if use := useNamed(own); use != noUse {
		return use
	}
	for _, sign := range [...]string{"__", ".", "/", ":"} {
		if at := strings.LastIndex(own, sign); at >= 0 && useNamed(own[at+len(sign):]) == replaces {
			return replaces
		}
	}
	return noUse
}

// withoutHarness is a tool's name without the word that some models put before those of their client.
func withoutHarness(tool string) string { return strings.TrimPrefix(tool, "functions.") }

// useNamed knows tools by their own names.
func useNamed(tool string) use {
	switch tool {
	case "TodoWrite", "todo_write", "todowrite", "update_plan", "write_todos", "update_todo_list", "manage_todo_list":
		return replaces
	case "TaskCreate", "task_create":
		return makes
	case "TaskUpdate", "task_update":
		return changes
	case "TaskList", "TaskGet", "task_list", "TodoRead", "todo_read", "todoread":
		return looks
	}
	return noUse
}

// Take takes in a call of a tool that keeps the list, with what the tool answered. isAll says that the call has all of
// the list.
func (l *List) Take(tool string, arguments []byte, result string) (isAll bool) {
	if len(arguments) > longestCall || !gjson.ValidBytes(arguments) {
		return false
	}
	call := gjson.ParseBytes(arguments)
	switch useOf(tool) {
	case replaces:
		return l.replace(call)
	case makes:
		l.made++
		l.put(task{id: cmp.Or(numberIn(result), strconv.Itoa(l.made)), title: titleOf(call), state: stateOf(call)})
	case changes:
		id := call.Get("taskId").String()
		k, known := l.at[id]
		if !known {
			return false
		}
		isNamed := call.Get("subject").Exists() || call.Get("title").Exists() // else it may be described anew
		if title := titleOf(call); title != "" && isNamed {
			l.tasks[k].title = title
		}
		if call.Get("status").Exists() {
			l.tasks[k].state = stateOf(call)
		}
	}
	return false
}

// replace takes a call that has all of the list, or that changes some of it by their ids.
func (l *List) replace(call gjson.Result) (isAll bool) {
	rows := rowsOf(call)
	if !rows.Exists() {
		return false
	}
	if isAll = !call.Get("merge").Bool(); isAll {
		l.tasks, l.at = nil, nil
	}
	if rows.Type == gjson.String {
		l.replaceLines(rows.Str)
		return isAll
	}
	rows.ForEach(func(_, row gjson.Result) bool {
		l.put(task{id: row.Get("id").String(), title: titleOf(row), state: stateOf(row)})
		return true // of those that there is no room for, one may change another
	})
	return isAll
}

// replaceLines takes a list that is written as lines, each with a box before it.
func (l *List) replaceLines(text string) {
	for line := range strings.Lines(text) {
		line = strings.TrimLeft(strings.TrimSpace(line), "-* ")
		if len(line) < 4 || line[0] != '[' || line[2] != ']' {
			continue
		}
		states := map[byte]state{'x': done, 'X': done, '-': underWay, '~': underWay}
		l.put(task{title: strings.TrimSpace(line[3:]), state: states[line[1]]})
	}
}

// put adds a task, or puts it in the place of the one with its id.
func (l *List) put(t task) {
	if k, known := l.at[t.id]; known && t.id != "" {
		if t.title == "" {
			t.title = l.tasks[k].title
		}
		l.tasks[k] = t
		return
	}
	if t.title == "" || len(l.tasks) >= mostTasks {
		return
	}
	if l.at == nil {
		l.at = map[string]int{}
	}
	if t.id != "" {
		l.at[t.id] = len(l.tasks)
	}
	l.tasks = append(l.tasks, t)
}

// titleOf is what a task is called, on one line; empty if that is not said.
func titleOf(row gjson.Result) string {
	for _, name := range [...]string{"subject", "content", "step", "title", "description", "text"} {
		if s := strings.TrimSpace(row.Get(name).String()); s != "" {
			s, _, _ = strings.Cut(s, "\n")
			return beginningOf(strings.TrimRight(s, " \t\r"))
		}
	}
	return ""
}

// beginningOf is a title up to the last word that there is room for; all of it if it is not long.
func beginningOf(title string) string {
	if len(title) <= longestTitle {
		return title
	}
	title = title[:longestTitle]
	if at := strings.LastIndexByte(title, ' '); at > 0 {
		title = title[:at]
	}
	return strings.ToValidUTF8(title, "") + "…"
}

// stateOf is how a task is said to stand.
func stateOf(row gjson.Result) state {
	switch strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(row.Get("status").String())) {
	case "completed", "done", "complete":
		return done
	case "inprogress", "active":
		return underWay
	case "deleted", "cancelled", "canceled":
		return dropped
	}
	return open
}

// numberIn is the number that a tool gives a task; empty if it says none.
func numberIn(result string) string {
	_, rest, ok := strings.Cut(result[:min(len(result), 80)], "Task #")
	if !ok {
		return ""
	}
	return rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
}

// IsEmpty reports whether there is no task in the list.
func (l *List) IsEmpty() bool {
	return !slices.ContainsFunc(l.tasks, func(t task) bool { return t.state != dropped })
}

// Of those that are done only the newest are told, fewer where nothing is left to do.
const (
	mostDone  = 8
	fewerDone = 3
)

// Rows are the lines of the list in at most so many bytes: what is under way, what is open, and what was done last.
// Where some of a group are not told, its heading says of how many they are, as far as that is known.
func (l *List) Rows(room int) (rows []string) {
	of := map[state][]string{}
	for _, t := range l.tasks {
		of[t.state] = append(of[t.state], "> "+t.title)
	}
	most, isFull := mostDone, len(l.tasks) == mostTasks
	if len(of[underWay])+len(of[open]) == 0 {
		most = fewerDone
	}
	done := of[done]
	slices.Reverse(done)
	for _, g := range [...]group{{"under way", of[underWay], isFull}, {"open", of[open], isFull}} {
		n := fitting(g.tasks, mostTasks, &room)
		rows = g.append(rows, g.tasks[:n], "first")
	}
	newest := done[:fitting(done, most, &room)]
	slices.Reverse(newest)
	return group{"done", done, isFull}.append(rows, newest, "last")
}

// group are the rows of the tasks that stand alike.
type group struct {
	head   string
	tasks  []string
	isFull bool // there may be more of them
}

// append appends the heading of the group and those of its rows that are told.
func (g group) append(rows, told []string, which string) []string {
	if len(told) == 0 {
		return rows
	}
	if len(told) < len(g.tasks) {
		g.head += fmt.Sprintf(", the %s %d of %d", which, len(told), len(g.tasks))
		if g.isFull {
			g.head += " or more"
		}
	}
	return append(append(rows, g.head+":"), told...)
}

// fitting is how many of the rows, at most so many, fit into so many bytes below a heading. It takes them off these.
func fitting(rows []string, most int, room *int) (n int) {
	const heading = 40 // bytes
	left := *room - heading
	for ; n < min(most, len(rows)) && len(rows[n])+1 <= left; n++ {
		left -= len(rows[n]) + 1
	}
	if n > 0 {
		*room = left
	}
	return n
}
