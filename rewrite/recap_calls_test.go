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
