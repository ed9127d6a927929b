package recap

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"epitome/rewrite/activity"
)

type task struct{ id, title, state string }

// tasks returns the agent's task list as its calls left it; nothing if a call behind the span has all of it. Where
// there is no room for all, completed tasks are left out, then the last ones.
func (s *summary) tasks() string {
	var list []task
	for k := range s.Calls {
		c := &s.Calls[k]
		if c.Kind != activity.Todo || c.Result < 0 || c.Result >= s.End || c.Failed() {
			continue
		}
		arguments := gjson.ParseBytes(s.Request.CallOf(c.Result).ArgumentsIn(s.Request.Body))
		if rows, ok := member(arguments, "todos", "plan", "items", "tasks", "todoList"); ok {
			if c.Result >= s.To {
				return ""
			}
			list = nil
			for _, row := range rows.Array() {
				list = addTask(list, row, "")
			}
			continue
		}
		list = addTask(list, arguments, s.Request.TextOf(&s.Request.Items[c.Result]))
	}
	room, rows, open := bytesFor(s.Budgets.tasks), "", ""
	for _, t := range list {
		row := "> " + strings.TrimPrefix("["+t.state+"] ", "[] ") + t.title + "\n"
		if rows += row; t.state != "completed" && len(open)+len(row) <= room {
			open += row
		}
	}
	if len(rows) > room {
		return open
	}
	return rows
}

// taskNumber matches the number that a tool gives a new task.
var taskNumber = regexp.MustCompile(`#\d+`)

// addTask adds a task, or what is new about the one with its number. result is what the tool said about it. A list may
// be written as text.
func addTask(list []task, row gjson.Result, result string) []task {
	const most = 400
	if row.Type == gjson.String {
		for line := range strings.Lines(row.Str) {
			list = append(list, task{title: strings.TrimSpace(line)})
		}
		return list
	}
	text := func(keys ...string) string {
		v, _ := member(row, keys...)
		line, _, _ := strings.Cut(strings.TrimSpace(v.String()), "\n")
		return line
	}
	t := task{
		id:    cmp.Or(text("id", "taskId"), strings.TrimPrefix(taskNumber.FindString(result), "#")),
		title: text("content", "step", "subject", "title", "text", "description"),
		state: text("status"),
	}
	known := slices.IndexFunc(list, func(o task) bool { return o.id != "" && o.id == t.id })
	switch {
	case known >= 0:
		list[known] = task{t.id, cmp.Or(t.title, list[known].title), cmp.Or(t.state, list[known].state)}
	case t.title != "" && len(list) < most:
		list = append(list, t)
	}
	return list
}

// member returns the first of these members that an object has.
func member(object gjson.Result, keys ...string) (value gjson.Result, ok bool) {
	for _, key := range keys {
		if value = object.Get(key); value.Exists() && value.String() != "" {
			return value, true
		}
	}
	return gjson.Result{}, false
}
