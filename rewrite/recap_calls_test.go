package rewrite

import (
	"fmt"
	"strings"
	"testing"

	"epitome/prose"
)

// told is the summary of calls of a shell, each with its result.
func told(t *testing.T, steps ...string) string {
	t.Helper()
	a, _ := styled(16_000, prose.Style{Mode: prose.ModeIntent})
	for k := 0; k < len(steps); k += 2 {
		a.does("exec_command", fmt.Sprintf(`{"cmd":%q}`, steps[k]), steps[k+1])
	}
	out, _ := a.grow(t, 400)
	text, _ := summaryIn(t, out)
	return text
}

// What was to be deleted is told as deleted only where the result says that it went well, or nothing at all.
func TestWhatWasToBeDeletedMayBeThereStill(t *testing.T) {
	f := func(want, result string) {
		t.Helper()
		text := partOf(told(t, "rm -rf vendor/money && go mod vendor", result), "files")
		got := "nothing"
		switch {
		case strings.Contains(text, "deleted:\nvendor/money"):
			got = "deleted"
		case strings.Contains(text, "deleted or not: the results of the commands that were to do it do not tell:\nvendor/money"):
			got = "in doubt"
		case strings.Contains(text, "vendor"):
			got = text
		}
		if got != want {
			t.Errorf("%q: told as %s, want %s", result, got, want)
		}
	}
	const codex = "exec_command failed for `/bin/bash -lc \"rm -rf vendor/money && go mod vendor\"`: CreateProcess { message: \"Rejected(\\\""
	f("nothing", codex+`rejected by user\")" }`)
	f("nothing", codex+`rm -f style commands are not permitted\")" }`)
	f("nothing", "exec command rejected by user")
	f("nothing", "exec_command failed for `rm`: CreateProcess { message: \"No such file or directory\" }")
	f("in doubt", "Something kept this from being done.")
	f("in doubt", "go: no module\nexit code: 1")
	f("in doubt", "Process running with session ID 7\nOutput:\n")
	f("deleted", "")
	f("deleted", "exit code: 0")
	f("deleted", "go: vendored 3 modules\nexit code: 0")
}

// A command that went on is told by what the newest result says of it, with the name by which it can be reached.
func TestACommandThatWentOnIsToldAsItStands(t *testing.T) {
	const dev = "go run ./cmd/billing --dev"
	f := func(want string, steps ...string) {
		t.Helper()
		a, _ := styled(16_000, prose.Style{Mode: prose.ModeIntent})
		for k := 0; k < len(steps); k += 3 {
			a.does(steps[k], steps[k+1], steps[k+2])
		}
		out, _ := a.grow(t, 400)
		text, _ := summaryIn(t, out)
		got := strings.Split(partOf(text, "open failures")+"\n"+partOf(text, "commands"), "\n")
		is, group := false, ""
		for _, row := range got {
			if strings.HasSuffix(row, ":") {
				group = row + " "
			}
			is = is || group+row == want
		}
		if !is {
			t.Errorf("%q: told %q, want %q", steps, got, want)
		}
		if strings.Contains(strings.Join(got, "\n"), "\nbash_1") {
			t.Errorf("what tells of a command is told as one: %q", got)
		}
	}
	claude := func(more ...string) []string {
		return append([]string{"Bash", `{"command":"` + dev + `","run_in_background":true}`,
			"Command running in background with ID: bash_1. Output is being written to: /tmp/x.output"}, more...)
	}
	long := claude()
	for k := range 200 {
		long = append(long, "bash", fmt.Sprintf(`{"command":"make shop_%d"}`, k), "exit code: 0")
	}
	f("still running when a result last told of it: "+dev+", id bash_1", long...)
	codex := func(more ...string) []string {
		return append([]string{"exec_command", `{"cmd":"` + dev + `"}`,
			"Chunk ID: aa11bb\nWall time: 10.001 seconds\nProcess running with session ID 4242\nOutput:\nlistening on :8080\n"}, more...)
	}
	const kill, about = `{"shell_id":"bash_1"}`, `{"bash_id":"bash_1"}`
	const running, killed = "still running when a result last told of it: " + dev, "killed while it ran: " + dev
	f(running+", id bash_1", claude()...)
	f(running+", id bash_1", claude("BashOutput", about, "<status>running</status>\n\n<stdout>\nWARN drift\n</stdout>")...)
	f(running+", id bash_1", claude("BashOutput", about, "<status>running</status>\n\n<stdout>\nok  \tshop\t0.1s\n</stdout>")...)
	f("the result does not tell how it ended: "+dev+", id bash_1", claude("BashOutput", about, "<status>completed</status>")...)
	f(running+", id bash_1", claude("KillShell", kill, "Error: no shell with this id")...)
	f(killed, claude("KillShell", kill, "Successfully killed shell: bash_1 (go run ./cmd/error --dev)")...)
	f(killed, claude("KillShell", kill, `{"message":"Successfully killed shell: bash_1","shell_id":"bash_1"}`)...)
	f(killed, claude("TaskOutput", `{"task_id":"bash_1"}`, "<task_id>bash_1</task_id>\n\n<status>killed</status>")...)
	f(running+", id 4242", codex("bash", `{"command":"`+dev+`"}`, "exit code: 2")...)
	f("Bash `"+dev+"`, message 5: failed with exit code 1",
		claude("BashOutput", about, "<status>failed</status>\n<exit_code>1</exit_code>", "KillShell", kill, "Successfully killed shell: bash_1")...)
	f(running+", id 4242", codex()...)
	f(running+", id 4242", codex("write_stdin", `{"session_id":4242,"chars":"r\n"}`, "Process running with session ID 4242\nOutput:\n")...)
	f(killed, codex("write_stdin", `{"session_id":4242,"chars":"\u0003"}`, "Wall time: 5.0 seconds\nProcess exited with code 130\nOutput:\n^C")...)
	f("exec_command `"+dev+"`, message 5: failed with exit code 1",
		codex("write_stdin", `{"session_id":4242,"chars":""}`, "Process exited with code 1\nOutput:\npanic")...)
}
