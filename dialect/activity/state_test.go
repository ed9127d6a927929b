package activity_test

import (
	"strings"
	"testing"

	"epitome/dialect/activity"
	"epitome/dialect/chat"
	"epitome/internal/jsonspan"
)

func TestCallsSayHowTheyEnded(t *testing.T) {
	f := func(want, tool, result string) {
		t.Helper()
		body := `{"model":"m","messages":[{"role":"user","content":"Go."},{"role":"assistant","tool_calls":[` +
			`{"id":"a","type":"function","function":{"name":"` + tool + `","arguments":"{\"path\":\"a.go\"}"}}]},` +
			`{"role":"tool","tool_call_id":"a","content":` + jsonspan.Quoted(result) + `}]}`
		r, err := chat.Dialect{}.Read([]byte(body), nil)
		if err != nil {
			t.Fatal(err)
		}
		c := activity.Of(r, nil)[0]
		if c.State() != want || c.Failed() != strings.HasPrefix(want, "failed") {
			t.Errorf("%s ends as %q, not %q, failed %v, with %.60q", tool, c.State(), want, c.Failed(), result)
		}
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

	// Objects.
	for _, object := range []string{`{"error":"card_declined"}`, `{"error":{"code":5}} and more`, "{ \"error\" : 5 }\n",
		`{"success":false,"message":"no funds"}`, `{"ok":false}`, `{"statusCode":503}`, `{"status":"404"}`,
		`{"is_error":true}`} {
		for _, tool := range []string{pay, run, edit, read, grep, fetch} {
			f("failed", tool, object)
		}
		f("ok", ask, object)
		f("ok", pay, "["+object+"]")
		f("ok", pay, `{"of":`+strings.TrimSuffix(strings.TrimSpace(object), " and more")+`}`)
	}
	for _, object := range []string{`{"error":null}`, `{"error":false}`, `{"error":0}`, `{"error":""}`, `{"error":{ }}`,
		`{"error":[]}`, `{"success":true}`, `{"status":200}`, `{"status":"error"}`, `{"code":404}`, `{"error":"open`} {
		f("ok", pay, object)
	}
	large := `{"text":` + jsonspan.Quoted(long) + `,"error":"it is about one"}`
	f("failed", pay, large)
	f("ok", read, large)
	f("failed", read, `{"content":[{"type":"text","text":`+jsonspan.Quoted(long)+`}],"isError":true}`)

	// Words of the client count for all kinds, those that others may write only where they are all of a short result.
	for _, words := range []string{"exec command rejected by user", "<tool_use_error>File does not exist.</tool_use_error>",
		"The user doesn't want to proceed with this tool use.\n" + long} {
		for _, tool := range []string{pay, run, edit, read, grep, fetch, ask} {
			want := "failed"
			if tool == ask {
				want = "ok"
			}
			f(want, tool, words)
		}
	}
	for _, words := range []string{"Error: it broke", "err: tool call error: refused", "HTTP 503",
		"HTTP/1.1 404 Not Found", "Request failed with status code 502", "Tool execution timed out after 5s",
		"apply_patch verification failed: no lines",
		"### Error\nTimeoutError: 5000ms exceeded", "API Error: 500 {}", "Failed to find expected lines",
		"Permission to use Bash has been denied."} {
		f("failed", pay, words)
		f("failed", edit, words+"\nmore of it")
		f("ok", read, words+"\nmore of it\n")
		f("ok", run, words+"\nmore of it\n")
		if !strings.Contains(words, "\n") {
			f("failed", run, words)
			f("failed", fetch, words)
		}
	}
	f("failed", pay, `"Error: it broke"`)
	f("ok", pay, "It was no error: the 404 was asked for.")
	f("ok", pay, "Error handling was reviewed; all is well.")
	f("ok", pay, "Error: "+long) // a report of another agent
	f("ok", run, "passed: 5, failed: 0")
	f("failed", run, "Command timed out after 2m\n"+long)
	f("failed", run, long+"\nCommand timed out after 10 seconds")

	// Nobody knows.
	for _, words := range []string{"aborted", "aborted by user after 29.7s",
		"[Request interrupted by user for tool use]",
		"Command aborted", "Operation cancelled by the user."} {
		f("unknown", run, words)
		f("unknown", pay, words)
	}
	f("unknown", run, "Wall time: 30 seconds\nProcess running with session ID 7\nOutput:\n"+long)
	f("unknown", run, "Command running in background with ID: b12.")
	f("ok", pay, "Cancelled order 7.")
	f("ok", pay, "")
}
