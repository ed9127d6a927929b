package history

import (
	"encoding/json"
	"testing"

	"epitome/rewrite/history/action"
)

// A later call says of which command it is.
func TestALaterCallNamesTheCommandThatItEnds(t *testing.T) {
	h := New()
	f := func(name, arguments, text, want string) {
		t.Helper()
		raw, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		n := len(h.Results)
		source := action.Source{Name: name, Action: action.Of(name, []byte(arguments), false)}
		h.Results = append(h.Results, Result{Source: source})
		h.latest.begun.learn(n, &h.Results[n], raw)
		got := ""
		if first := h.BegunBy(&h.Results[n]); first != nil {
			got = first.Action.Key
		}
		if got != want {
			t.Errorf("%s %s belongs to %q, want %q", name, arguments, got, want)
		}
	}
	f("exec_command", `{"cmd":"make test"}`, "Process running with session ID 42\nOutput:\n", "")
	f("exec_command", `{"cmd":"make lint"}`, "Process exited with code 0\nOutput:\nsession 42\n", "")
	f("write_stdin", `{"session_id":42,"chars":""}`, "Process running with session ID 42\nOutput:\n", "make test")
	f("write_stdin", `{"session_id":42,"chars":""}`, "Process exited with code 1\nOutput:\n", "make test")
	f("write_stdin", `{"session_id":7,"chars":""}`, "no such session", "")
	f("Bash", `{"command":"npm run dev","run_in_background":true}`, "Command running in background with ID: b7f2. Output is being written to: /x", "")
	f("TaskOutput", `{"task_id":"b7f2"}`, "<status>running</status>", "npm run dev")
	f("TaskStop", `{"task_id":"b7f2"}`, `{"message":"Successfully stopped task: b7f2"}`, "npm run dev")
	f("exec_command", `{"cmd":"make test"}`, "Process running with session ID 42\nOutput:\n", "") // the number is used anew
	f("TaskUpdate", `{"task_id":"1"}`, "Updated task #1", "")
	f("mcp__browser__click", `{"session_id":"42"}`, "clicked", "")
}
