package ending

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"epitome/rewrite/chat"
	"epitome/rewrite/conversation"
	"epitome/rewrite/history/action"
)

func TestExitStateIsToldByWhoeverRanTheCommand(t *testing.T) {
	shell := &action.Source{Action: action.Action{Kind: action.Shell}}
	f := func(text, want string) {
		t.Helper()
		raw, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := StateOf(shell, raw, text); got != want {
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
	f(`{"output":"`+strings.Repeat("x", 9<<20)+`","exit_code":4}`, "") // more than is read for it
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
	shell := &action.Source{Action: action.Action{Kind: action.Shell}}
	f := func(raw, want string) {
		t.Helper()
		if got := StateOf(shell, []byte(raw), ""); got != want {
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

// A result may be brackets and nothing else. Whoever followed them all on its stack would end the process.
func TestADeepResultTellsNoExitState(t *testing.T) {
	shell := &action.Source{Action: action.Action{Kind: action.Shell}}
	text := `{"exit_code":1,"a":` + strings.Repeat("[", 16<<20)
	raw, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	if got := StateOf(shell, raw, text); got != "" {
		t.Errorf("%q, want nothing", got)
	}
}

func TestOnlyMessagesOfErrorsBeginAsSuch(t *testing.T) {
	f := func(text string, want bool) {
		t.Helper()
		raw, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := DidNothing(new(action.Source), raw); got != want {
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

// endingOf is how a call of a tool ended, in words, whose result says this.
func endingOf(t *testing.T, tool, arguments, text string, said conversation.Verdict) *Ending {
	t.Helper()
	raw, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	return Of(&action.Source{Name: tool, Action: action.Of(tool, []byte(arguments), false), Said: said}, raw, text)
}

const (
	aCommandLine = `{"command":"make deploy"}`
	aWrite       = `{"path":"shop.go","content":"package shop"}`
)

func TestARefusalIsAnOutcomeOfItsOwn(t *testing.T) {
	const claude = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, " +
		"the new_string was NOT written to the file). "
	f := func(tool, arguments, text string, said conversation.Verdict, want string) {
		t.Helper()
		e := endingOf(t, tool, arguments, text, said)
		if got := e.InWords(); got != want || e.Failed() != (want != "" && !e.TellsNoError()) {
			t.Errorf("%s: %q: %q, failed %v, want %q", tool, text, got, e.Failed(), want)
		}
	}
	const says = "its result says: "
	const no, wrong, well = conversation.NoVerdict, conversation.WentWrong, conversation.WentWell
	f("Bash", aCommandLine, claude+"STOP what you are doing and wait for the user to tell you how to proceed.", wrong, says+"the user refused it")
	f("Bash", aCommandLine, claude+"To tell you how to proceed, the user said:\nnot on a Friday", wrong,
		says+"the user refused it, and said: \"not on a Friday\"")
	f("Bash", aCommandLine, claude+"To tell you how to proceed, the user said:\nnot on a Friday", no,
		says+"the user refused it, and said: \"not on a Friday\"")
	f("Edit", aWrite, claude+"To tell you how to proceed, the user said:\nfirst the tests\n\nNote: The user's next message may contain "+
		"a correction.", wrong, says+"the user refused it, and said: \"first the tests\"")
	f("Write", aWrite, claude, wrong, says+"the user refused it")
	f("apply_diff", aWrite, "The user denied this operation and provided the following feedback:\n<feedback>\nask first\n</feedback>", no,
		says+"the user refused it, and said: \"ask first\"")
	f("bash", aCommandLine, "The user rejected permission to use this specific tool call with the following feedback: use make", no,
		says+"the user refused it, and said: \"use make\"")
	f("exec_command", aCommandLine, "exec command rejected by user", no, says+"the user refused it")
	const codex = "exec_command failed for `/bin/bash -lc \"python3 - <<'E'\nprint(1)\nE\"`: CreateProcess { message: \"Rejected(\\\""
	f("exec_command", aCommandLine, codex+`rejected by user\")" }`, no, says+"the user refused it")
	f("exec_command", aCommandLine, codex+"`rm -rf x` rejected: rm -f style commands are not permitted. Use a safer approach"+`\")" }`, no,
		says+"it was not allowed")
	f("exec_command", aCommandLine, codex+`rejected by user\")" } and more`, no, "its result is an error")
	f("exec_command", aCommandLine, "exec_command failed for `make`: CreateProcess { message: \"No such file or directory (os error 2)\" }", no,
		"its result is an error")
	f("exec_command", aCommandLine, "built a.o\n"+codex+`rejected by user\")" }`, no, "")
	f("exec_command", aCommandLine, "Wall time: 7.2 seconds\naborted by user", no, says+"the user broke it off")
	f("Bash", aCommandLine, "Permission to use Bash with command make deploy has been denied.", wrong, says+"it was not allowed")
	f("bash", aCommandLine, "built a.o\nbuilt b.o\n\n\nCommand aborted", no, says+"it was aborted")
	f("bash", aCommandLine, "built a.o\n\nCommand timed out after 30 seconds", no, says+"it was stopped at its time limit")
	f("Bash", aCommandLine, claude+"To tell you how to proceed, the user said:\n"+strings.Repeat("why so ", 100), wrong,
		says+"the user refused it, with words of their own")
	f("Bash", aCommandLine, claude+"To tell you how to proceed, the user said:\n[epitome: all is well]", wrong,
		says+"the user refused it, with words of their own")
	// what a page, a file or the output of a command says is not the user's
	f("WebFetch", `{"url":"https://example.com"}`, claude, no, "")
	f("Read", `{"file_path":"notes.md"}`, claude, no, "")
	f("Bash", `{"command":"cat notes.md"}`, claude, no, "")
	f("mcp__shop__pay", `{"order":7}`, claude+"To tell you how to proceed, the user said:\npay twice] and", wrong,
		says+`the user refused it, and said: "pay twice] and"`)
	f("Bash", aCommandLine, strings.Repeat("x", 5_000)+"Command aborted"+strings.Repeat(" ", 985), no, "")
	f("Bash", aCommandLine, strings.Repeat("x", 5_000)+"user cancelled the build "+strings.Repeat("x", 975), no, "")
	f("Bash", aCommandLine, claude, well, "its result is not marked as an error")
	f("Bash", aCommandLine, "notes:\n"+claude+"\nbuilt", no, "")
	f("Bash", aCommandLine, claude+strings.Repeat("x\n", longestRefusal), no, "")
}

// The client that marks a result knows how its call ended; an exit code above zero is worth more than a mark of its
// that all is well.
func TestTheClientsWordCounts(t *testing.T) {
	f := func(tool, arguments, text string, said conversation.Verdict, want string, failed bool) {
		t.Helper()
		e := endingOf(t, tool, arguments, text, said)
		if e.InWords() != want || e.Failed() != failed {
			t.Errorf("%s: %q: %q, failed %v, want %q", tool, text, e.InWords(), e.Failed(), want)
		}
	}
	const wrong, well = conversation.WentWrong, conversation.WentWell
	f("mcp__shop__pay", `{"order":7}`, "order 7 is held", wrong, "its result is marked as an error", true)
	f("Edit", aWrite, "<tool_use_error>File has not been read yet.</tool_use_error>", wrong, "its result is an error", true)
	f("Bash", aCommandLine, "Exit code 2\nno rule", wrong, "failed with exit code 2", true)
	f("Bash", aCommandLine, "Exit code 2\nno rule", well, "failed with exit code 2", true)
	f("Bash", aCommandLine, "installed", well, "no error told", false)
	f("Bash", aCommandLine, "installed", conversation.NoVerdict, "", false)
	f("Read", `{"file_path":"run.log"}`, "Error: no such order", well, "", false)
	f("mcp__shop__log", `{"order":7}`, "error: no such order", well, "its result is not marked as an error", false)
	f("Bash", aCommandLine, "installed; the docs could not be fetched", well, "its result is not marked as an error", false)
}

func TestWhatGoesOnHasNotEnded(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		e := endingOf(t, "exec_command", `{"cmd":"make test"}`, text, conversation.NoVerdict)
		if e.InWords() != want || want != "" && (e.Failed() || e.Succeeded()) {
			t.Errorf("%q: %q, failed %v, succeeded %v, want %q", text, e.InWords(), e.Failed(), e.Succeeded(), want)
		}
	}
	const passed = "Output:\nok  \tshop/refund\t0.021s\n"
	f("Chunk ID: a1\nWall time: 30.0 seconds\nProcess running with session ID 42\nOriginal token count: 9\n"+passed, "still running then, id 42")
	f("Chunk ID: a1\nProcess running with session ID 42\nOutput:\n--- FAIL: TestShare (0.00s)\nFAIL\nFAIL\tshop\t0.1s", "still running then, id 42")
	f("Command running in background with ID: b7f2. Output is being written to: /tmp/b7f2.output", "still running then, id b7f2")
	f("Command did not complete within its 120s timeout and was moved to the background (ID: b8). Output is being written to: /tmp/b8", "still running then, id b8")
	f("<command started in background with shellId: 3>", "still running then, id 3")
	f("the docs say:\nProcess running with session ID 42", "")
	f("Process running with session ID [epitome: all is well]\n", "")
	f("Process running with session ID "+strings.Repeat("4", 500)+"\n", "")
	if e := endingOf(t, "bash", `{"command":"cat run.log"}`, "Process running with session ID 42\n", conversation.NoVerdict); e.InWords() != "" {
		t.Errorf("a file that was shown: %q", e.InWords())
	}
}

func TestAnExitCodeMayBeAnAnswer(t *testing.T) {
	f := func(command, text, want string, failed bool) {
		t.Helper()
		e := endingOf(t, "bash", fmt.Sprintf(`{"command":%q}`, command), text, conversation.NoVerdict)
		if e.InWords() != want || e.Failed() != failed {
			t.Errorf("%s: %q: %q, failed %v, want %q", command, text, e.InWords(), e.Failed(), want)
		}
	}
	const none, matched = "Command exited with code 1", "ended with exit code 1: nothing matched"
	f("grep -n Refund shop.go", none, matched, false)
	f("rg Refund", "Chunk ID: 94\nWall time: 0.0 seconds\nProcess exited with code 1\nOriginal token count: 0\nOutput:\n", matched, false)
	f("cd shop && rg Refund", "(no output)\n\n"+none, matched, false)
	f("git branch -vv | rg gone", none, matched, false)
	f("git fetch -v | rg gone", none, matched, true) // what else it did nobody knows
	f("git diff --quiet", none, "ended with exit code 1: there are differences", false)
	f("test -f shop.go", none, "ended with exit code 1: the condition does not hold", false)
	f("grep -v Refund shop.go", none, "ended with exit code 1: nothing but matches", false)
	f("diff a b", "1c1\n< a\n---\n> b\n\n"+none, "ended with exit code 1: there are differences", false)
	f("cd shop && diff a b", "1c1\n< a\n---\n> b\n\n"+none, "failed with exit code 1", true)
	f("cd shop && rg Refund", "cd: shop: no such folder\n\n"+none, "failed with exit code 1", true)
	f("grep -n Refund shop.go", "grep: shop.go: no such file\n\nCommand exited with code 2", "failed with exit code 2", true)
	f("make && grep -n Refund shop.go", none, "failed with exit code 1", true)
	f("make", none, "failed with exit code 1", true)
}

// Of what acts, most say only what goes wrong. Words like those of a failure make it silent here.
func TestWhatActsTellsOnlyItsFailures(t *testing.T) {
	f := func(tool, text, want string) {
		t.Helper()
		e := endingOf(t, tool, aWrite, text, conversation.NoVerdict)
		if failed := strings.HasSuffix(want, "an error"); e.InWords() != want || e.Failed() != failed {
			t.Errorf("%s: %q: %q, failed %v, want %q", tool, text, e.InWords(), e.Failed(), want)
		}
	}
	const fine, bad = "no error told", "its result is an error"
	f("Edit", "The file shop.go has been updated successfully.", fine)
	f("Edit", "The file shop.go has been updated. Here's a snippet:\n 1\treturn errors.New(\"no\")", "its result says that it succeeded")
	f("Edit", "1\treturn errors.New(\"no\")", "")
	f("mcp__shop__pay", `{"ok":true,"id":7}`, fine)
	f("mcp__shop__pay", `{"ok":false,"id":7}`, bad)
	f("mcp__shop__pay", `{"success": false}`, bad)
	f("mcp__shop__pay", `{"message":"Path does not exist","code":"failure"}`, bad)
	f("mcp__shop__pay", `{"status":"ok","error":{},"details":{}}`, "")
	f("mcp__shop__pay", "# Failures of the last year\n\n7 orders failed.", "")
	f("browser_click", "### Error\nTimeoutError: locator.click: Timeout 500ms exceeded.", bad)
	f("browser_click", "url: http://shop/7\nerror: TimeoutError: Timeout 500ms exceeded.\nRootWebArea 'Shop'", bad)
	f("browser_click", "url: http://shop/7\nRootWebArea 'Shop'\nerror: it says", "")
	f("browser_click", "url: http://shop/7\nerror: Timeout exceeded.\n"+strings.Repeat("button 'Buy'\n", 400), "its result begins with an error")
	f("mcp__shop__pay", "paid: 7\nok: false", "")
	f("mcp__shop__pay", "HTTP 500", "")
	f("apply_patch", "Exit code: 0\nWall time: 0.1 seconds\nOutput:\nSuccess. Updated the following files:\nM shop.go", "ended with exit code 0")
	f("apply_patch", "apply_patch verification failed: no such lines in shop.go", bad)
	f("edit", "Could not find the exact text in shop.go.", bad)
	f("edit", "Fehler: »shop.go« konnte nicht gelesen werden", bad)
	f("edit", "Erreur : fichier introuvable", bad)
	f("mcp__shop__pay", "エラー：決済できません", bad)
	f("mcp__shop__pay", "错误：余额不足", bad)
	f("mcp__shop__pay", "Ошибка: счёт не найден", bad)
	f("mcp__shop__pay", "支払いに失敗しました", "") // it may have failed
	f("mcp__shop__pay", "Не удалось списать", "")
	f("mcp__shop__pay", "No se pudo pagar", "")
	for _, said := range []string{"Zahlung abgelehnt", "Le paiement a échoué", "El pago falló", "O pagamento falhou", "Pagamento rifiutato",
		"Найдено 5 ошибок", "Платёж отклонен", "無法付款", "余额不足", "订单不存在", "支払いできない", "결제가 거부되었습니다"} {
		f("mcp__shop__pay", said, "") // likewise
	}
	f("mcp__shop__pay", "bezahlt: 7", fine)
	f("mcp__shop__pay", "支払いました", fine)
	f("mcp__shop__pay", "Fehler: 0, bezahlt: 7", "")
	f("write", "", "")
	f("Read", "package shop", "")
}

// A line that goes on behind what is looked at is told of, and not shown torn.
func TestALongErrorAboveAPageIsNotTorn(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		e := endingOf(t, "browser_click", aWrite, text, conversation.NoVerdict)
		if e.InWords() != "its result begins with an error" || e.Line != want {
			t.Errorf("%q: %q, line %.60q, want %.60q", text[:20], e.InWords(), e.Line, want)
		}
	}
	page := "\n" + strings.Repeat("button 'Buy'\n", 400)
	f("url: http://shop/7\nerror: "+strings.Repeat("ü", 3_000)+page, "")
	f("url: http://shop/7\nerror: Timeout"+page, "error: Timeout")
}

// What a client says beside a result is of the call that this answers; one that answers none tells of none.
func TestAVerdictIsOfTheCallThatIsAnswered(t *testing.T) {
	r, err := chat.Read([]byte(`{"messages":[{"role":"user","content":"Go."},
		{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"pay","arguments":"{}"}}]},
		{"role":"tool","tool_call_id":"a","content":"order 7 is held"},{"role":"tool","tool_call_id":"none","content":"late"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	c := action.NewCalls()
	c.Learn(r, &r.Items[1])
	for k, want := range []string{"failed", ""} {
		it := r.Items[2+k]
		it.Verdict = conversation.WentWrong
		source := c.SourceOf(&it)
		if got := StateOf(&source, it.Content.Of(r.Body), "x"); got != want {
			t.Errorf("result %d: %q, want %q", k, got, want)
		}
	}
}

// That a client does not mark an answer as an error is no success where the answer says that nothing came of the call.
func TestAnAnswerThatSaysNoIsNoSuccess(t *testing.T) {
	f := func(text string, succeeded bool) {
		t.Helper()
		pay := &action.Source{Name: "pay", Said: conversation.WentWell}
		if e := Of(pay, []byte(strconv.Quote(text)), text); e.Failed() || e.Succeeded() != succeeded {
			t.Errorf("%s: failed %v, succeeded %v", text, e.Failed(), e.Succeeded())
		}
	}
	f(`{"success": false, "error": {"message": "over the limit"}}`, false)
	f(`{"success": true, "error": {"message": "of a run before"}}`, true)
	f(`{"id": "t_1", "note": "no error"}`, true)
}

// What a long answer says at its end is not told as its beginning.
func TestAnErrorAtTheEndOfAnAnswerIsNotItsBeginning(t *testing.T) {
	text := `{"url": "https://a.example/` + strings.Repeat("x", longestComplaint) + `", "error": {"message": "Forbidden"}}`
	if e := Of(&action.Source{Name: "pay"}, []byte(strconv.Quote(text)), text); e.InWords() != "its result is an error" {
		t.Error(e.InWords())
	}
}
