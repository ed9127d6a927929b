package recap

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"epitome/rewrite/activity"
)

// taskNumber finds the number that a tool gives a new task.
var taskNumber = regexp.MustCompile(`#(\d+)`)

type task struct{ id, title, state string }

// tasks is the task list as the agent's calls left it; empty if a call behind the span has all of it. Where there is
// not room for all, what is completed is left out, then the last ones.
func (s *Span) tasks(tokens int) string {
	var list []task
	for k := range s.Plan.Hist.Results {
		res := &s.Plan.Hist.Results[k]
		call := s.callOf(res)
		if res.Item >= s.Plan.End || call == nil || res.Kind != activity.Todo || res.Failed() {
			continue
		}
		var isWhole bool
		arguments := gjson.ParseBytes(call.ArgumentsIn(s.Plan.Req.Body))
		if list, isWhole = update(list, arguments, s.Plan.TextOf(res.Item)); isWhole && res.Item >= s.To {
			return ""
		}
	}
	rows, open := "", ""
	for _, t := range list {
		row := "> " + strings.TrimPrefix("["+t.state+"] ", "[] ") + t.title + "\n"
		if rows += row; t.state != "completed" && len(open)+len(row) <= bytesFor(tokens) {
			open += row
		}
	}
	if len(rows) > bytesFor(tokens) {
		return open
	}
	return rows
}

// update is the list after a call, and whether the call has all of it.
func update(list []task, arguments gjson.Result, result string) (after []task, isWhole bool) {
	for _, key := range [...]string{"todos", "plan", "items", "tasks", "todoList"} {
		if rows := arguments.Get(key); rows.Exists() {
			list = nil
			for _, row := range rows.Array() {
				list = put(list, row, "")
			}
			return list, true
		}
	}
	number := taskNumber.FindStringSubmatch(result)
	return put(list, arguments, append(number, "", "")[1]), false
}

// put takes in a task, or what is new of the one with its id. A list may be written as text. Of very many tasks the
// first are kept.
func put(list []task, row gjson.Result, id string) []task {
	if row.Type == gjson.String {
		for l := range strings.Lines(row.Str) {
			list = append(list, task{title: strings.TrimSpace(l)})
		}
		return list
	}
	first := func(keys ...string) (text string) {
		for _, key := range keys {
			text = cmp.Or(text, row.Get(key).String())
		}
		text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
		return text
	}
	t := task{cmp.Or(first("id", "taskId"), id), first("content", "step", "subject", "title", "text", "description"), first("status")}
	k := slices.IndexFunc(list, func(o task) bool { return o.id != "" && o.id == t.id })
	switch {
	case k >= 0:
		list[k] = task{t.id, cmp.Or(t.title, list[k].title), cmp.Or(t.state, list[k].state)}
	case t.title != "" && len(list) < 400:
		list = append(list, t)
	}
	return list
}
