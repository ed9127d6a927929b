package activity_test

import (
	"strings"
	"testing"

	"epitome/dialect/activity"
	"epitome/dialect/chat"
	"epitome/dialect/conversation"
	"epitome/internal/jsonspan"
)

func TestCallsSayHowTheyEnded(t *testing.T) {
	of := func(want, tool, argument, result string) {
		t.Helper()
		arguments := jsonspan.Quoted(`{"path":"a.go","command":` + jsonspan.Quoted(argument) + `}`)
		body := `{"model":"m","messages":[{"role":"user","content":"Go."},{"role":"assistant","tool_calls":[` +
			`{"id":"a","type":"function","function":{"name":"` + tool + `","arguments":` + arguments + `}}]},` +
			`{"role":"tool","tool_call_id":"a","content":` + jsonspan.Quoted(result) + `}]}`
		r, err := conversation.Read(chat.Dialect{}, []byte(body), nil)
		if err != nil {
			t.Fatal(err)
		}
		c := activity.Of(r, nil)[0]
		if c.State() != want || c.Failed() != strings.HasPrefix(want, "failed") {
			t.Errorf("%s %s ends as %q, not %q, with %.60q", tool, argument, c.State(), want, result)
		}
	}
	f := func(want, tool, result string) {
		t.Helper()
		of(want, tool, "", result)
	}
	long := strings.Repeat("All of it is as it should be.\n", 100)
	const pay, run, edit, read, grep, fetch, ask = "pay", "bash", "edit", "read", "grep", "fetch", "ask_user"

	// Exit codes outweigh words.
	f("failed, exit code 3", run, long+"\nexit code: 3")
	f("failed, exit code 1", edit, "Exit code: 1\nWall time: 0 seconds\nOutput:\nFailed to find expected lines in a.go")
	f("failed, exit code 2", "exec", `{"output":"`+strings.ReplaceAll(long, "\n", `\n`)+`","metadata":{"exit_code":2}}`)
	f("ok", run, "Error: only a warning\nexit code 0")
	f("ok", read, "1\texit code 3\n")
	f("ok", ask, "exit code 3")
	f("ok", ask, "Error: it is in the log. Look there.")
	f("failed", ask, "InputValidationError: questions must be a list")

	// Texts of clients, and texts that only speak of such things.
	f("failed", read, "The user has specified a rule which prevents you from using this specific tool call. Here are some rules [")
	f("failed", run, "This command requires approval")
	f("unclear", run, "The operation was aborted.")
	f("ok", grep, `src/agent.go:12: const text = "The user denied this operation."`)
	f("ok", grep, `internal/gate.go:17: return errors.New("call denied by policy")`)
	of("ok", run, "git log --oneline", "3f1c2aa cline: the user denied this operation is told in the list\n91be0c2 cart")
	f("ok", "get_policy", "Refund policy: requests that come after 30 days are declined, unless this is a fault of ours.")
	f("ok", "cancel_order", `{"status":"cancelled","message":"Order 78 has been cancelled."}`)
	f("ok", edit, "Edits: 3 applied, 0 rejected")
	for _, words := range []string{"构建成功，没有错误", "ビルド成功 (エラー 0)", "エラーはありません", "빌드 완료: 오류 0개", "сборка: ошибка 0"} {
		f("ok", run, words)
	}
	f("failed", run, "cp: der Aufruf von stat für 'x' ist nicht möglich: Datei oder Verzeichnis nicht gefunden")
	f("failed", run, "ls: 无法访问 'x': 没有那个文件或目录")

	// Objects.
	for _, object := range []string{`{"error":"card_declined"}`, `{"error":{"code":5}} and more`, "{ \"error\" : 5 }\n",
		`{"success":false,"message":"no funds"}`, `{"status":"denied","feedback":"no"}`, `{"ok":false}`, `{"statusCode":503}`, `{"status":"404"}`,
		`{"is_error":true}`} {
		for _, tool := range []string{pay, run, edit, read, grep, fetch} {
			f("failed", tool, object)
		}
		f("ok", ask, object)
		f("ok", pay, "["+object+"]")
		f("ok", pay, `{"of":`+strings.TrimSuffix(strings.TrimSpace(object), " and more")+`}`)
	}
	for _, object := range []string{`{"error":null}`, `{"error":false}`, `{"error":0}`, `{"error":""}`, `{"error":{ }}`,
		`{"error":[]}`, `{"success":true}`, `{"status":200}`, `{"status":"done"}`, `{"code":404}`, `{"error":"open`} {
		f("ok", pay, object)
	}
	large := `{"text":` + jsonspan.Quoted(long) + `,"error":"it is about one"}`
	f("unclear", pay, large)
	f("unclear", pay, `{"key":"A-1","status":404,"summary":"a record of something else"}`)
	f("ok", read, large)
	f("failed", read, `{"content":[{"type":"text","text":`+jsonspan.Quoted(long)+`}],"isError":true}`)

	// Words of the client count for all kinds, those that others may write only where they are all of a short result.
	for _, words := range []string{"exec command rejected by user", "<tool_use_error>File does not exist.</tool_use_error>",
		"The user doesn't want to proceed with this tool use.\n" + long} {
		for _, tool := range []string{pay, run, edit, read, grep, fetch, ask} {
			want := "failed"
			if tool == ask && !strings.HasPrefix(words, "<") { // the user may say so
				want = "ok"
			}
			f(want, tool, words)
		}
	}
	for _, words := range []string{"Error: it broke", "err: tool call error: refused", "HTTP 503",
		"HTTP/1.1 404 Not Found", "Request failed with status code 502",
		"apply_patch verification failed: no lines", "API Error: 500 {}"} {
		f("failed", pay, words)
		f("failed", edit, words+"\nmore of it")
		f("unclear", read, words+"\nmore of it\n")
		f("unclear", fetch, words+": "+long[:500])
		f("ok", read, words+": "+long)
		f("failed", run, words)
		f("failed", fetch, words)
	}
	f("failed", pay, "### Error\nTimeoutError: 5000ms exceeded")
	f("failed", "browser_file_upload", "### Error\nError: access denied")

	// Words that may be the tool's own or those of a text that it shows.
	for _, words := range []string{"Failed to reproduce, so I closed it.", "Error handling in axum: return a Result.",
		"Permission to merge was denied yesterday, and granted today.", "Request timed out after login"} {
		f("unclear", pay, words)
		f("unclear", fetch, words)
		f("failed", edit, words)
		f("ok", fetch, words+"\nmore of it\n")
	}
	f("failed", pay, `"Error: it broke"`)
	f("ok", pay, "It was no error: the 404 was asked for.")
	f("ok", pay, "Error handling was reviewed; all is well.")
	f("ok", pay, "Error: "+long) // a report of another agent
	f("ok", run, "passed: 5, failed: 0")
	f("failed", run, "Command timed out after 2m\n"+long)
	f("failed", run, long+"\nCommand timed out after 10 seconds")

	for _, words := range []string{"String to replace not found in file.", "File has not been read yet. Read it first.",
		"No replacement was performed, as it did not appear in a.go.", "ENOSPC: no space left on device",
		"Access denied - path outside allowed directories", "Hunk #1 FAILED at 3."} {
		f("failed", edit, words)
		f("ok", pay, words)
	}
	f("ok", edit, "The file a.go has been updated.")

	// Commands without an exit code: their last lines count.
	for _, words := range []string{"===== 3 failed, 40 passed in 2.11s =====", "Tests:       1 failed, 4 passed, 5 total",
		"  1 failed\n    [chromium] a.spec.ts\n  9 passed (22.3s)", "make: *** [Makefile:3: check] Error 2",
		"test result: FAILED. 4 passed; 1 failed; 0 ignored", "FAIL\texample.com/a\t0.1s\nFAIL",
		"curl: (7) Failed to connect to localhost port 80", "rm: cannot remove 'a': No such file or directory",
		" ! [rejected] main -> main (fetch first)\nerror: failed to push some refs to 'a'\nhint: fetch first",
		"Traceback (most recent call last):\n  File \"a.py\", line 1\nValueError: bad", "<error>Command took too long</error>",
		"ERROR:  relation \"a\" does not exist\nLINE 1: select * from a;\n                      ^",
		"src/a.ts(3,5): error TS2322: Type 'a' is not b.\nFound 1 error in src/a.ts:3", "npm error code 2\nbye",
		"Failed!  - Failed:     1, Passed:    11, Skipped:     0, Total:    12, Duration: 45 ms - Tests.dll (net8.0)",
		" ERR_PNPM_NO_IMPORTER_MANIFEST_FOUND  No package.json was found in \"/srv\".",
		"Fehler: Datei nicht da", "错误：找不到文件"} {
		f("failed", run, words)
		f("failed", run, long+"\x1b[31m"+words+"\x1b[0m\n")
		f("ok", read, "1 "+words+"\n2 more\n")
	}
	for _, words := range []string{"5 passed in 0.1s", "ok  \texample.com/a\t0.1s", "Found 0 errors.", "Done in 2.3s.",
		"test result: ok. 5 passed; 0 failed", "12 examples, 0 failures", "Build completed successfully",
		" 1 file changed, 2 insertions(+)"} {
		f("ok", run, words)
		f("ok", run, "FAILED\nError: of a fixture\n"+words)
		f("failed", run, words+"\nerror: could not write a")
	}
	for _, words := range []string{"HEAD is now at 1a2b3c4 Retry when the upload failed",
		"Passed!  - Failed:     0, Passed:    12"} {
		f("ok", run, words)
	}
	f("unclear", run, "Error: it broke\n"+long[:1500])
	f("unclear", run, "Der Lauf ist fehlgeschlagen, siehe oben.")
	f("ok", run, strings.Repeat("x", 5<<20)+" error")
	for command, want := range map[string]string{"cd a && grep -n error: a.log | tail -3": "ok", "cat a.log": "ok",
		`rg "it's && c;d" c.c`: "ok", `grep 'a; b' c.c && make "a && cat"`: "failed, exit code 2",
		"make 2>&1 | tail -3": "failed, exit code 2", "git log -3; echo done": "ok"} {
		of(want, run, command, "c.c:3: warning\nerror: it broke\nexit code 2")
	}
	of("failed", run, "cat a.log", "cat: a.log: No such file or directory")

	// The user or the client did not let a call run, or stopped it. A list of such answers is none.
	refused := []string{"The user denied this operation.", "User rejected permission to use this specific tool call.",
		"The tool call required approval from the user, but the user rejected it.", "The user skipped the tool call.",
		"exec_command failed for `ls`: CreateProcess { message: \"Rejected(\\\"no\\\")\" }",
		"Tool execution was denied.", "Permission to use Bash has been denied.", "User has declined to run this tool.",
		"Tool execution timed out after 5s"}
	for _, words := range refused {
		f("failed", run, words)
		f("failed", edit, words)
		f("failed", pay, words)
	}
	f("ok", read, strings.Join(refused, "\n"))
	f("ok", pay, "User declined the invitation for Monday.")

	// Nobody knows.
	for _, words := range []string{"aborted", "aborted by user after 29.7s", "Tool execution aborted",
		"[Request interrupted by user for tool use]",
		"Command aborted", "Operation cancelled by the user."} {
		f("unclear", run, words)
		f("unclear", pay, words)
	}
	f("unclear", run, "Wall time: 30 seconds\nProcess running with session ID 7\nOutput:\n"+long)
	f("unclear", run, "Command running in background with ID: b12.")
	f("ok", pay, "Cancelled order 7.")
	f("ok", pay, "")
}
