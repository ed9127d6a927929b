package agenda

import (
	"fmt"
	"strings"
	"testing"
)

func TestTheListStandsAsTheNewestCallsLeftIt(t *testing.T) {
	f := func(want string, calls ...string) {
		t.Helper()
		var l List
		for _, c := range calls {
			tool, rest, _ := strings.Cut(c, " ")
			arguments, result, _ := strings.Cut(rest, " -> ")
			l.Take(tool, []byte(arguments), result)
		}
		if got := strings.Join(l.Rows(1_000), "\n"); got != want {
			t.Errorf("%q: %q, want %q", calls, got, want)
		}
	}
	f("under way:\n> Mend it\nopen:\n> Test it\ndone:\n> Read it",
		`TodoWrite {"todos":[{"content":"Read it","status":"in_progress"}]}`,
		`TodoWrite {"todos":[{"content":"Read it","status":"completed"},{"content":"Mend it","status":"in_progress"},{"content":"Test it","status":"pending"}]}`)
	f("open:\n> Test it\ndone:\n> Read it", `update_plan {"plan":[{"step":"Read it","status":"completed"},{"step":"Test it","status":"pending"}]}`)
	f("under way:\n> Test it\ndone:\n> Read it", `TaskCreate {"subject":"Read it","description":"all"} -> Task #7 created successfully: Read it`,
		`TaskCreate {"subject":"Test it"} -> Task #8 created successfully: Test it`, `TaskCreate {"subject":"Drop it"} -> Task #9 created`,
		`TaskUpdate {"taskId":"7","status":"completed"}`, `TaskUpdate {"taskId":"8","status":"in_progress"}`,
		`TaskUpdate {"taskId":"9","status":"deleted"}`, `TaskUpdate {"taskId":"99","status":"completed"}`)
	f("open:\n> Read it", `TaskCreate {"subject":"Read it"} -> Task #7 created`, `TaskUpdate {"taskId":"7","description":"All of it, twice"}`)
	f("open:\n> B\ndone:\n> A", `todo_write {"merge":false,"todos":[{"id":"1","content":"A","status":"pending"},{"id":"2","content":"B"}]}`,
		`todo_write {"merge":true,"todos":[{"id":"1","status":"completed"}]}`)
	f("under way:\n> B\nopen:\n> C\ndone:\n> A", `update_todo_list {"todos":"[x] A\n[-] B\n- [ ] C\nno task"}`)
	f("done, the last 3 of 5:\n> c\n> d\n> e", `update_todo_list {"todos":"[x] a\n[x] b\n[x] c\n[x] d\n[x] e"}`)
	f("", `TodoWrite {"todos":[]}`, `TodoWrite {`, `Read {"todos":[{"content":"A"}]}`, `TodoWrite {"why":"none"}`)
}

// What a server's tool does is about the list only if it has one.
func TestACallKeepsTheList(t *testing.T) {
	f := func(want bool, tool, arguments string) {
		t.Helper()
		if got := Keeps(tool, []byte(arguments)); got != want {
			t.Errorf("%s %s keeps the list: %v", tool, arguments, got)
		}
	}
	const list = `{"plan":[{"step":"Read it","status":"completed"}]}`
	f(true, "update_plan", list)
	f(true, "functions.update_plan", list)
	f(true, "functions.TaskList", `{}`)
	f(true, "mcp__agent__update_plan", list)
	f(true, "agent.TodoWrite", `{"todos":[{"content":"Read it","status":"pending"}]}`)
	f(false, "mcp__bank__update_plan", `{"plan":"gold"}`)
	f(false, "mcp__bank__update_plan", `{"plan":[{"title":"gold"}]}`)
	f(false, "mcp__jira__task_create", `{"title":"Read it"}`)
	f(false, "todo_list", list)
	f(false, "Read", list)
	var l List
	if l.Take("mcp__agent__update_plan", []byte(list), ""); l.IsEmpty() {
		t.Error("the list of a server's tool is not told")
	}
}

func TestAListIsBounded(t *testing.T) {
	var l List
	for k := range 3 * mostTasks {
		l.Take("TaskCreate", fmt.Appendf(nil, `{"subject":"task %d"}`, k), "")
	}
	if len(l.tasks) != mostTasks {
		t.Errorf("%d tasks are kept", len(l.tasks))
	}
	rows := strings.Join(l.Rows(200), "\n")
	if len(rows) > 200 || !strings.HasPrefix(rows, "open, the first 17 of 400 or more:\n> task 0\n") {
		t.Errorf("%d bytes: %q", len(rows), rows)
	}
}

// A task does not go for being long, and one that is changed by its id is, however many there are.
func TestALongTaskIsToldWithItsBeginning(t *testing.T) {
	var l List
	l.Take("TaskCreate", []byte(`{"subject":"Mend `+strings.Repeat("the rounding of é ", 40)+`"}`), "Task #1")
	row := strings.Join(l.Rows(1_000), "\n")
	if !strings.HasPrefix(row, "open:\n> Mend the rounding of é the") || !strings.HasSuffix(row, "…") || len(row) > 320 {
		t.Errorf("it is told as %q", row)
	}
	var rows []string
	for k := range mostTasks + 1 {
		rows = append(rows, fmt.Sprintf(`{"id":"%d","content":"task %d"}`, k, k))
	}
	l = List{}
	l.Take("todo_write", []byte(`{"todos":[`+strings.Join(rows, ",")+`]}`), "")
	l.Take("todo_write", []byte(`{"merge":true,"todos":[{"id":"3","status":"completed"},{"id":"4","status":"in_progress"}]}`), "")
	if got := strings.Join(l.Rows(150), "\n"); !strings.HasPrefix(got, "under way:\n> task 4\n") {
		t.Errorf("%q", got)
	}
}
