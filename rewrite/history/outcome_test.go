package history

import (
	"encoding/json"
	"testing"
)

func TestExitStateIsToldByWhoeverRanTheCommand(t *testing.T) {
	shell := Source{Action: Action{Kind: KindShell}}
	f := func(text, want string) {
		t.Helper()
		raw, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := StateInWords(shell.Outcome(raw)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	f("Exit code: 1\nOutput:\nbuilding\nworker finished with exit code 0", "exit code 1")
	f("Exit code: 1\nOutput:\nbuilding\nexit code 0", "exit code 1")
	f("Exit code: 0\nWall time: 1 seconds\nOutput:\nwas broken (exit status 2), fine now", "exit code 0")
	f("Chunk ID: a1\nWall time: 0.1 seconds\nProcess exited with code 2\nOriginal token count: 9\nOutput:\nx", "exit code 2")
	f("<returncode>1</returncode>\n<output>\nx\n</output>", "exit code 1")
	f("Exit code 127\nno such program", "exit code 127")
	f("Error: Exit code 2\nno rule", "exit code 2")
	f("x\n\n\nCommand exited with code 1", "exit code 1")
	f("x\n<shellId: 3 completed with exit code 0>", "exit code 0")
	f("x\n[The command completed with exit code 0.]\n[Current working directory: /w]", "exit code 0")
	f("Command: ls\nDirectory: (root)\nOutput: x\nError: (none)\nExit Code: 3\nSignal: (none)\nBackground PIDs: (none)", "exit code 3")
	f(`{"output":"exit code: 4","metadata":{"exit_code":5,"duration_seconds":0.1}}`, "exit code 5")
	f(`{"output":"x","exit_code":-1}`, "")
	f("usage: exit code 2 if files differ", "")
	f("exit code 0 was expected", "")
	f("well, exit code 0", "")
	f("exit code 1\nis what it said, and then more\nthan that", "exit code 1")
	f("worker finished with exit code 0", "")
	f("agent build: Exited with code 1", "")
	f("Failed: 0, passed: 12\nall is well\nexit code: 0", "exit code 0")
	f("Error: one that it survived\nexit code: 0", "exit code 0")
	f("", "")
}

// Some results are no text: a list of commands with their outcomes, or an object whose output is one.
func TestExitStateIsToldBesideTheOutput(t *testing.T) {
	shell := Source{Action: Action{Kind: KindShell}}
	f := func(raw, want string) {
		t.Helper()
		if got := StateInWords(shell.Outcome([]byte(raw))); got != want {
			t.Errorf("%s: %q, want %q", raw, got, want)
		}
	}
	const fails, works = `{"stdout":"","stderr":"x","outcome":{"type":"exit","exit_code":2}}`,
		`{"stdout":"x","stderr":"","outcome":{"type":"exit","exit_code":0}}`
	f("["+fails+"]", "exit code 2")
	f("["+works+"]", "exit code 0")
	f("["+works+","+fails+"]", "exit code 2")
	f(`[{"stdout":"x","outcome":{"type":"timeout"}}]`, "")
	f(`[{"stdout":"x","outcome":{"exit_code":"2"}}]`, "")
	f(`[]`, "")
	f(`{"type":"local_shell_call_output","output":"{\"output\":\"x\",\"metadata\":{\"exit_code\":1}}"}`, "exit code 1")
	f(`{"output":"exit code 1, it said"}`, "")
}

func TestOnlyMessagesOfErrorsBeginAsSuch(t *testing.T) {
	f := func(text string, want bool) {
		t.Helper()
		raw, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := new(Source).beginsAsError(raw); got != want {
			t.Errorf("%q begins as an error: %v, want %v", text, got, want)
		}
	}
	f("Error: no such file", true)
	f("error: cannot find x", true)
	f("<tool_use_error>File has not been read yet.</tool_use_error>", true)
	f("Failed to open a.go", true)
	f("Traceback (most recent call last):\n", true)
	f("Error executing tool: no", true)
	f("error[E0308]: mismatched types", true)
	f("Error: 404 not found", true)
	f("Failed: 0, passed: 12", false)
	f("Failed: 3, passed: 12", false)
	f("Error handling in Go\n\nErrors are values.", false)
	f("Error handling in Go: a guide", false)
	f("Error codes of the shop\n", false)
	f("Exception classes", false)
	f("errors.go", false)
	f("", false)
}
