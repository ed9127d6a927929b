package chat

import (
	"fmt"
	"testing"
)

const (
	task = `{"role":"user","content":"do"}`
	two  = `{"role":"assistant","content":"","tool_calls":[{"id":"1","function":{"name":"a","arguments":"{}"}},` +
		`{"id":"2","function":{"name":"b","arguments":""}}]}`
	one   = `{"role":"tool","tool_call_id":"1","content":"r"}`
	other = `{"role":"tool","tool_call_id":"2","content":"r"}`
	done  = `{"role":"assistant","content":"done"}`
)

func TestFlaws(t *testing.T) {
	f := func(want string, messages ...string) {
		t.Helper()
		body := bodyOf(messages...)
		if got := fmt.Sprint(read(t, body).Check().Flaws); got != "["+want+"]" {
			t.Errorf("%s\nhas %s, want [%s]", body, got, want)
		}
	}
	f("", task, two, one, other, done)
	f("", task, two, other, one)
	f("a call is not answered (2)", task, two, one)
	f("a call is not answered (2)", task, two, one, done)
	f("a call is not answered (2)", task, two, one, task)
	f("a tool's result answers no call that waits for it (1)", task, one)
	f("a tool's result answers no call that waits for it (9)", task, two, one, other,
		`{"role":"tool","tool_call_id":"9","content":"r"}`)
	f("a tool's result answers no call that waits for it (1)", task, two, one, one, other)
	f("a call is not answered (2) a tool's result answers no call that waits for it (2)", task, two, one, task, other)
	f("a call is not answered (2) a tool's result answers no call that waits for it (2)", task, two, one, done, other)
}
