package rewrite

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"epitome/prose"
	"epitome/rewrite/messages"
)

// endedByNotice is the group of commands of which their client alone says that they have ended.
const endedByNotice = "your client says that they have ended, no result does"

// endingsTold are the groups of commands in a summary, and groupsOfFiles those of files.
var (
	endingsTold = []string{"failed before, and succeeded since", "failed, and what failed in it has succeeded since", "ended with exit code 0", "failed",
		"failed, and so did a later run", "no error told", "refused or broken off",
		"still running when a result last told of it", "killed while it ran",
		"no exit code, but the output says that it succeeded", "the result does not tell how it ended",
		"the newest ran in", "failed, and has not succeeded since",
		"ended with an exit code that is an answer, and no failure", endedByNotice}
	groupsOfFiles = []string{"taken back since, if git had the file:", "deleted:",
		"deleted or not: the results of the commands that were to do it do not tell:",
		"files read, of which nothing else is told here:", "answered by calls that may have changed something:"}
)

// withoutID is a row of a command without the id by which it is reached, which a result tells.
func (s *spanFacts) withoutID(row string) string {
	if m := regexp.MustCompile(`, also with \d+(?:, \d+)*$`).FindString(row); m != "" {
		row = strings.TrimSuffix(row, m)
		for _, number := range numbers(regexp.MustCompile(`\d+`).FindAllString(m, -1)...) {
			if !strings.Contains(s.called, fmt.Sprint(number)) {
				s.Fatalf("promise 8: no call of the span has %d: %q", number, row)
			}
		}
	}
	if m := regexp.MustCompile(`, id (\S+)$`).FindStringSubmatch(row); m != nil && strings.Contains(s.told, m[1]) {
		return strings.TrimSuffix(row, m[0])
	}
	return row
}

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
	f("deleted", "D  vendor/money\n M go.mod")
	f("deleted", "rm 'vendor/money'\r\n")
	f("deleted", "removed 'vendor/money'\nexit code: 1")
	f("in doubt", "D  vendor/money/a.go")
	f("in doubt", "M  vendor/money")
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

// What a client says of a command that went on stands where the user's messages do, and is told as the client's.
func TestACommandOfWhichTheClientSaysThatItEndedRunsNoMore(t *testing.T) {
	const begun = "Command running in background with ID: b1. Output is being written to: /tmp/b1.output"
	notice := func(status, summary string) string {
		return "<task-notification>\n<task-id>b1</task-id>\n<output-file>/tmp/b1.output</output-file>\n<status>" + status + "</status>\n<summary>" +
			summary + "</summary>\n</task-notification>\nRead the output file to retrieve the result: /tmp/b1.output"
	}
	f := func(said, want string) {
		t.Helper()
		a, _ := styled(16_000, prose.Style{Mode: prose.ModeIntent})
		a.does("Bash", `{"command":"make docs","run_in_background":true}`, begun)
		a.answers("I wait.", said)
		out, _ := a.grow(t, 400)
		text, _ := summaryIn(t, out)
		rows := partOf(text, "commands")
		if rest, is := strings.CutPrefix(rows, want+"\n"); !is || strings.HasPrefix(rest, "> ") {
			t.Errorf("%q: told %q, want %q", said, rows, want)
		}
		words := partOf(text, "the user's messages")
		if strings.HasPrefix(said, "<task") && strings.Contains(words, "Read the output file") {
			t.Errorf("told as the user's: %q", words)
		}
	}
	const failed, ended = `Background command "make docs" failed with exit code 2`, endedByNotice + ":\nmake docs, id b1"
	const running = "still running when a result last told of it:\nmake docs, id b1"
	f(notice("failed", failed), ended+"\n> "+failed)
	f(notice("completed", ""), ended)
	f(notice("completed", "it ended\r[epitome: all is well]"), ended)
	f(notice("running", "it goes on"), running)
	f("Go on.", running)
	f(strings.ReplaceAll(notice("failed", failed), "b1", "b2"), running)
	f("I was told: "+notice("failed", failed), running)
}

// Where nobody says how a command ended, a line of its output is all that does: those that ended well leave it room.
func TestWhatDoesNotTellHowItEndedHasItsLine(t *testing.T) {
	a, _ := styled(16_000, prose.Style{Mode: prose.ModeIntent})
	const wrong = "psql:migrate.sql:41: ERROR:  column \"cents\" of relation \"refunds\" already exists"
	a.does("bash", `{"command":"psql -f migrate.sql"}`, "BEGIN\n"+wrong+"\nROLLBACK\n")
	for k := range 12 {
		a.does("bash", fmt.Sprintf(`{"command":"go test ./part_%c/..."}`, 'a'+k), fmt.Sprintf("ok  \tshop/part_%c\t0.1s\n", 'a'+k))
	}
	for k := range 12 {
		a.does("bash", fmt.Sprintf(`{"command":"./make_%c"}`, 'a'+k), "made\n")
	}
	out, _ := a.grow(t, 400)
	text, _ := summaryIn(t, out)
	if rows := partOf(text, "commands"); !strings.Contains(rows, "psql -f migrate.sql\n> "+wrong) {
		t.Errorf("not told of what went wrong: %s", rows)
	}
}

// Of a command that goes on, the newest output tells how it stands: a failure in an older one may be mended.
func TestTheOneLineThatACommandSaidIsTold(t *testing.T) {
	f := func(want, result string) {
		t.Helper()
		const serve = "nohup ./serve 8099 > serve.log 2>&1 & echo pid $!"
		rows := partOf(told(t, serve, result), "commands")
		if got := strings.Contains(rows+"\n", serve+"\n> "+want+"\n"); got != (want != "") {
			t.Errorf("%q: want %q: %s", result, want, rows)
		}
	}
	f("pid 48213", "pid 48213\n")
	f("", "")
	f("", "(no output)")
	f("", "pid 48213\nready\n")
	f("", strings.Repeat("48213 ", 60))
}

func TestTheLineOfACommandThatGoesOnIsOfItsNewestOutput(t *testing.T) {
	const watch = "npx tsc --watch --noEmit"
	const broken, whole = "src/refund.ts(12,7): error TS2304: Cannot find name 'totl'.\n", "Found 0 errors. Watching for file changes.\n"
	f := func(want string, outputs ...string) {
		t.Helper()
		a, _ := styled(16_000, prose.Style{Mode: prose.ModeIntent})
		for k, output := range outputs {
			tool, arguments := "exec_command", `{"cmd":"`+watch+`"}`
			if k > 0 {
				tool, arguments = "write_stdin", `{"session_id":4242,"chars":""}`
			}
			a.does(tool, arguments, "Chunk ID: aa11bb\nProcess running with session ID 4242\nOutput:\n"+output)
		}
		out, _ := a.grow(t, 400)
		text, _ := summaryIn(t, out)
		_, row, _ := strings.Cut(partOf(text, "commands"), watch+", id 4242\n")
		line, isQuoted := strings.CutPrefix(row, "> ")
		if line, _, _ = strings.Cut(line, "\n"); !isQuoted {
			line = ""
		}
		if line != strings.TrimSpace(want) {
			t.Errorf("%q: told %q, want %q", outputs, line, want)
		}
	}
	f(broken, broken)
	f(broken, whole, broken)
	f(broken, broken, "")
	f(whole, broken, whole)
	f(whole, broken, whole, "")
	f("", broken, "src/refund.ts has changed\n")
}

// What failed is told as open until the very same has succeeded, in whatever command line; no command that did not fail
// itself is told as one that did.
func TestWhatFailedInACommandLineIsSettledByItself(t *testing.T) {
	const rejected = "To git@x\n ! [rejected]        x -> x (fetch first)\nerror: failed to push some refs to 'git@x'\nexit code: 1"
	const pushed = "To git@x\n   aa..bb  x -> x\nexit code: 0"
	const closes = "--- FAIL: TestCloses (0.01s)\n    l_test.go:1: want 1010\nFAIL\nFAIL\tshop/ledger\t0.2s\nok  \tshop/fx\t0.1s\nexit code: 1"
	const cross = "--- FAIL: TestCross (0.01s)\n    fx_test.go:1: want 3\nFAIL\nFAIL\tshop/fx\t0.2s\n"
	const others = cross + "ok  \tshop/ledger\t0.1s\nexit code: 1"
	f := func(want string, steps ...string) {
		t.Helper()
		text := told(t, steps...)
		got := "open"
		if rows := partOf(text, "open failures"); !strings.Contains(rows, "exec_command `"+steps[0]+"`") {
			got = "nowhere"
			group := ""
			for row := range strings.Lines(partOf(text, "commands")) {
				if row = strings.TrimRight(row, "\n"); strings.HasSuffix(row, ":") {
					group = row
				}
				if row == steps[0] {
					got = group
				}
			}
		}
		if got != want {
			t.Errorf("%q: told as %q, want %q: %s", steps, got, want, text)
		}
	}
	const solved, later, open, well = "failed, and what failed in it has succeeded since:", "failed, and so did a later run:", "open", "ended with exit code 0:"
	f(solved, "git commit -qam x && git push", rejected, "git pull --rebase && git push", pushed)
	f(solved, "git push -u origin x", rejected, "git commit --amend --no-edit && git push -u origin x", pushed)
	f(open, "git commit -qam x && git push", rejected, "git pull --rebase && git push origin y", pushed)
	f(open, "git commit -qam x && git push", "nothing to commit\nexit code: 1", "git pull --rebase && git push", pushed)
	f(open, "git commit -qam x; git push", rejected, "git pull --rebase && git push", pushed)
	f(solved, "go build ./...", "x.go:1: no\nexit code: 1", "go build ./... && go test ./ledger", closes)
	f(later, "go test ./ledger", closes, "go build ./... && go test ./ledger", closes)
	f(later, "go vet ./... && go test -v ./...", closes, "go test -v ./... 2>&1", others)
	f(solved, "go test ./ledger", closes, "go test ./...", others)
	f(solved, "go test ./...", closes, "go test ./ledger", "ok  \tshop/ledger\t0.1s\nexit code: 0")
	f(solved, "go test ./...", closes, "go build ./... && go test ./ledger ./fx", others)
	f(solved, "go test ./ledger", closes, "go test ./...", strings.ReplaceAll(closes, "TestCloses", "TestOpens"))
	f(open, "go test ./ledger", closes, "go test ./...", "panic: x\n"+strings.ReplaceAll(closes, "TestCloses", "TestOpens"))
	f(open, "go test ./ledger", closes, "go test ./...", cross+"exit code: 1")
	f(open, "go test ./ledger", closes, "go test ./...", "FAIL\tshop/ledger [build failed]\nexit code: 1")
	f(open, "go test ./ledger", closes, "go test -run TestOpens ./...", others)
	f(open, "go test ./ledger", closes, "go test -short ./...", others)
	f(open, "go test ./ledger", closes, "cd /other && go test ./...", others)
	f(open, "go test ./ledger", closes, "go test ./... | tail", others)
	f(open, "go test ./ledger", closes, "go test ./ledger", "ok  \tshop/ledger\t0.1s [no tests to run]\nexit code: 1")
	const hooked, passes = "ok  \tshop/ledger\t0.1s\n[x 1b2c3d4]\n" + closes, "ok  \tshop/ledger\t0.1s\nexit code: 0"
	f(open, "go test ./ledger && git commit -qam x", hooked, "go test ./ledger", passes)
	f(open, "go test ./ledger && ./deploy.sh", hooked, "go test ./ledger", passes)
	f("failed before, and succeeded since:", "go test ./ledger && git commit -qam x", hooked, "go test ./ledger && git commit -qam x", passes)
	f(solved, "go test ./ledger && git add . && git push", closes, "go test ./ledger", passes)
	f(well, "go build ./... && go vet ./...", "exit code: 0", "make shop", "no rule\nexit code: 2")
	f(well, "git pull --rebase && git push", pushed, "git commit -qam x && git push", rejected, "git fetch && git push", pushed)
	f(well, "git commit --amend --no-edit && git push", pushed)
}

// A command that succeeds in what another one failed in has not failed itself.
func TestACommandThatNeverFailedIsNotToldAsOne(t *testing.T) {
	text := partOf(told(t, "git push", "error: failed to push some refs to 'x'\nexit code: 1", "git pull --rebase && git push", "exit code: 0"), "commands")
	if !strings.Contains(text, "failed, and what failed in it has succeeded since:\ngit push\n") ||
		!strings.Contains(text, "ended with exit code 0:\ngit pull --rebase && git push\n") {
		t.Error(text)
	}
}

// A call that was refused has a place of its own, and takes nothing from what failed before.
func TestRefusedCallsStandByThemselves(t *testing.T) {
	text := told(t, "make shop", "no rule for shop\nexit code: 2", "make till", "exit code: 1", "make shop", "exec command rejected by user",
		"make till", "exit code: 0", "make pay", "exec command rejected by user", "make pay", "exit code: 0")
	open, refused := partOf(text, "open failures"), partOf(text, "refused calls")
	if !strings.Contains(open, "exec_command `make shop`, message 3: failed with exit code 2\n> no rule for shop") || strings.Contains(open, "refused") {
		t.Errorf("%s", text)
	}
	if strings.Count(refused, "`make") != 1 || !strings.HasSuffix(refused, "exec_command `make shop`, message 7: its result says: the user refused it") {
		t.Errorf("%q", refused)
	}
	if commands := partOf(text, "commands"); strings.Contains(commands, "failed before, and succeeded since:\nmake pay") {
		t.Errorf("%s", commands)
	}
}

// worksInCodex is an agent whose commands went on, were killed, refused, and mended in other command lines.
func worksInCodex() *agent {
	a, _ := styled(16_000, prose.Style{Mode: prose.ModeIntent})
	a.items = append(a.items, userSays("Mend the refunds. Never touch vendor/."))
	runs := func(command, result string) { a.does("exec_command", fmt.Sprintf(`{"cmd":%q}`, command), result) }
	const goesOn, ended = "Wall time: 10.0 seconds\nProcess running with session ID %d\nOutput:\n", "Process exited with code %d\nOutput:\n"
	runs("make serve", fmt.Sprintf(goesOn, 7)+"listening on :8080\n")
	runs("make watch", fmt.Sprintf(goesOn, 8)+"watching\n")
	a.does("bash", `{"command":"make docs"}`, "Command running in background with ID: b1. Output is being written to: /tmp/b1.output")
	a.items = append(a.items, userSays("<task-notification>\n<task-id>b1</task-id>\n<status>failed</status>\n<summary>"+
		"Background command \"make docs\" failed with exit code 2</summary>\n</task-notification>"))
	a.does("write_stdin", `{"session_id":8,"chars":"\u0003"}`, fmt.Sprintf(ended, 130)+"^C")
	const refused = "exec_command failed for `/bin/bash -lc '%s'`: CreateProcess { message: \"Rejected(\\\"rejected by user\\\")\" }"
	runs("rm -rf vendor/money", fmt.Sprintf(refused, "rm -rf vendor/money"))
	runs("make deploy", fmt.Sprintf(refused, "make deploy"))
	runs("make pages && make deploy", fmt.Sprintf(ended, 0)+"deployed\n")
	runs("rm -rf build/old && make shop", fmt.Sprintf(ended, 2)+"no rule for shop\n")
	runs("make fast", fmt.Sprintf(ended, 2)+"no rule for fast\n")
	runs("git stash && make fast", fmt.Sprintf(ended, 0)+"Saved working directory and index state WIP on x: aa11bb2 x\nfast\n")
	runs("git stash pop", fmt.Sprintf(ended, 0)+"Dropped refs/stash@{0} (cc33dd4)\n")
	for _, part := range []string{"fees", "till", "pages"} {
		runs("cd /srv/shop && make "+part, fmt.Sprintf(ended, 0))
	}
	for _, batch := range []int{8, 4, 2} {
		runs(fmt.Sprint("shop settle --batch ", batch), fmt.Sprintf(ended, 0))
	}
	runs("git commit -qam refunds && git push", fmt.Sprintf(ended, 1)+" ! [rejected]        x -> x (fetch first)\n")
	a.says("Three things are left:\n- Refunds of cent 0.\n- The cap of fees.\n- The page of shop_7.\n\nI begin with refunds.", "make todo", "")
	runs("git pull --rebase && git push", fmt.Sprintf(ended, 0)+"   aa..bb  x -> x\n")
	return a
}

// Commands that differ in their last number alone are one row, but for those whose output says something.
func TestCommandsThatDifferInANumberAreOneRow(t *testing.T) {
	ended := "Process exited with code 0\nOutput:\n"
	text := told(t, "shop look -n 80 cart", ended, "shop look -n 160 cart", ended, "shop look -n 160 fees", ended,
		"shop look -n 240 cart", ended, "shop look -m 80 cart", ended, "shop pay 3 of 7", ended, "shop pay 3 of 8", ended,
		"shop look -n 20 cart", "Process exited with code 2\nOutput:\nno room")
	rows := partOf(text, "commands")
	for _, want := range []string{"\nshop look -n 240 cart, also with 160, 80\n", "\nshop look -n 160 fees\n", "\nshop look -m 80 cart\n",
		"\nshop pay 3 of 8\nshop pay 3 of 7\n"} {
		if !strings.Contains(rows, want) {
			t.Errorf("%q is not told: %s", want, rows)
		}
	}
	if !strings.Contains(partOf(text, "open failures"), "shop look -n 20 cart") {
		t.Errorf("the failure is not told: %s", text)
	}
}

// A client that marks failures of commands says with its mark, too, that one of them went well.
func TestAMarkSettlesAFailureThatWasMarked(t *testing.T) {
	const bad, wrong = "Exit code 1\nx.go:1:1: undefined: y", `,"is_error":true`
	for _, c := range []struct {
		first, said, was, mark string
		isOpen                 bool
	}{
		{"go build ./...", bad, wrong, `,"is_error":false`, false},
		{"go build ./...", bad, wrong, "", true},
		{"go build ./... 2>&1 | tail -20", "x.go:1:1: undefined: y\nFAIL\tshop [build failed]", `,"is_error":false`, `,"is_error":false`, false},
	} {
		b := newBench(16_000)
		b.dialect, b.style = messages.Dialect{}, prose.Style{Mode: prose.ModeIntent}
		call := func(k int, command, result, mark string) string {
			return fmt.Sprintf(`,{"role":"assistant","content":[{"type":"tool_use","id":"c%d","name":"Bash","input":{"command":%q}}]},`+
				`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%d","content":%q%s}]}`, k, command, k, result, mark)
		}
		body, text := `{"model":"m","max_tokens":100,"messages":[{"role":"user","content":"Build it."}`, ""
		body += call(0, c.first, c.said, c.was) + call(1, "go build ./...", "", c.mark)
		for k := 2; k < 300 && text == ""; k++ {
			body += call(k, fmt.Sprintf("make part_%d", k), strings.Repeat("cc -c part.c -o part.o -Wall\n", 60), "")
			out := b.shape(body + "]}")
			_, text, _ = strings.Cut(strings.ReplaceAll(string(out.Body), `\n`, "\n"), "epitome: summary ")
		}
		if isOpen := strings.Contains(text, "Bash `"+c.first+"`, message 2: "); isOpen != c.isOpen || text == "" {
			t.Errorf("marked %q: told as open: %v: %.600s", c.mark, isOpen, text)
		}
		if !c.isOpen && c.first == "go build ./..." &&
			!strings.Contains(text, "failed before, and succeeded since:\ngo build ./...\n") {
			t.Errorf("marked %q: %.600s", c.mark, text)
		}
	}
}

// An exit code by which a program answers what it is asked is told as no failure.
func TestExitCodesThatAnswerAreNoFailures(t *testing.T) {
	text := told(t,
		"ssh web-6 systemctl status nginx --no-pager", "○ nginx.service - A web server\n     Active: inactive (dead)\nexit code: 3",
		"cd ~/infra && terraform plan -detailed-exitcode", "Plan: 1 to add, 0 to change, 0 to destroy.\nexit code: 2",
		"gh pr checks 142 2>&1", "lint\tpending\t0\thttps://ci.example/1\nexit code: 8",
		"systemctl status refund-x", "Unit refund-x.service could not be found.\nexit code: 4")
	commands := partOf(text, "commands")
	const answers = "ended with an exit code that is an answer, and no failure:\n"
	_, rows, _ := strings.Cut(commands, answers)
	for _, c := range []string{"terraform plan -detailed-exitcode", "systemctl status nginx", "gh pr checks 142"} {
		if failures := partOf(text, "open failures"); strings.Contains(failures, c) || !strings.Contains(rows, c) {
			t.Errorf("%s is not told as answered: %s", c, text)
		}
	}
	if !strings.Contains(partOf(text, "open failures"), "refund-x") {
		t.Errorf("a unit that is not there is no failure: %s", text)
	}
}

// An answer is no success of what it is about, and no answer of what ran before.
func TestAnExitCodeIsAnAnswerOnlyOfWhatAsked(t *testing.T) {
	f := func(want bool, command string, steps ...string) {
		t.Helper()
		commands := partOf(told(t, steps...), "commands")
		_, rows, _ := strings.Cut(commands, "ended with an exit code that is an answer, and no failure:\n")
		rows, _, _ = strings.Cut(rows, ":\n")
		if is := strings.Contains("\n"+rows, "\n"+command+"\n"); is != want || strings.Contains(commands, "succeeded since:\n"+command) {
			t.Errorf("%q is told as an answer: %v: %s", command, is, commands)
		}
	}
	const status = "systemctl status nginx"
	f(true, status, status, "Unit nginx.service could not be found.\nexit code: 4", status, "inactive (dead)\nexit code: 3")
	f(false, "./deploy.sh; "+status, "./deploy.sh; "+status, "panic: no\nexit code: 3")
	const plan = "cd ~/infra && terraform plan -detailed-exitcode"
	f(true, plan, plan, "Plan: 1 to add\nexit code: 2")
	f(false, plan, plan, "sh: 1: cd: can't cd to /root/infra\nexit code: 2")
}

// Where there is no room for all commands, those that act stand there, and what failed, before those that only asked
// how things stand; the others are counted.
func TestCommandsThatActAreToldBeforeThoseThatAsk(t *testing.T) {
	steps := []string{"kubectl -n shop set resources deployment/refund --limits=memory=1Gi", "deployment.apps/refund resource requirements updated\nexit code: 0",
		"helm -n shop rollback cart 9 --wait", "Error: timed out waiting for the condition\nexit code: 1"}
	for k := range 120 {
		steps = append(steps, fmt.Sprintf("kubectl --context shop-prod -n shop describe pod refund-7d9f5b6c4-%05d", k), "Name: refund\nexit code: 0")
	}
	text := told(t, steps...)
	commands := partOf(text, "commands")
	if !strings.Contains(commands, "set resources deployment/refund") || !strings.Contains(text, "helm -n shop rollback cart 9") {
		t.Errorf("what acts is not told: %s", text)
	}
	listed := strings.Count(commands, "describe pod")
	if !strings.Contains(commands, fmt.Sprintf("\nand %d more, not listed here", 120-listed)) || listed == 0 {
		t.Errorf("of 120 commands %d are listed, and the others are not counted: %s", listed, commands)
	}
}

// Where a span is too large to be read in full, nobody knows how many commands are not listed.
func TestACountIsOfAllThatWasDoneOrNotTold(t *testing.T) {
	var steps []string
	for k := range 120 {
		steps = append(steps, fmt.Sprintf("kubectl describe pod refund-7d9f5b6c4-%05d --context shop-prod", k),
			strings.Repeat(fmt.Sprintf("Name: refund %d\n", k), 3_000)+"exit code: 0")
	}
	text := told(t, steps...)
	if !strings.Contains(text, "describe pod") || strings.Contains(text, " more, not listed here") {
		t.Errorf("of more than was read: %s", text)
	}
}

// A call that does the same as one that failed, and is only shown in another way, has mended it.
func TestAFailureIsMendedByTheSameShownInAnotherWay(t *testing.T) {
	const first = "kubectl -n shop rollout status deployment/refund --timeout=120s"
	text := told(t, first, "error: timed out waiting for the condition\nexit code: 1", "cd ~/infra && terraform init", "exit code: 0",
		"kubectl -n shop rollout status deployment/refund", "deployment \"refund\" successfully rolled out\nexit code: 0")
	if strings.Contains(partOf(text, "open failures"), first) || !strings.Contains(text, "has succeeded since:\n"+first) {
		t.Errorf("%s", text)
	}
}
