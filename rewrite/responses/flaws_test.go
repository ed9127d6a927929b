package responses

import (
	"fmt"
	"strings"
	"testing"

	"epitome/rewrite/conversation"
)

const (
	task     = `{"role":"user","content":"do"}`
	reasoned = `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gA"}`
	call     = `{"type":"function_call","id":"fc_1","call_id":"1","name":"a","arguments":"{}"}`
	output   = `{"type":"function_call_output","call_id":"1","output":"r"}`
	other    = `{"type":"function_call","call_id":"2","name":"a","arguments":""}`
	second   = `{"type":"function_call_output","call_id":"2","output":[{"type":"input_text","text":"r"}]}`
	done     = `{"role":"assistant","content":"done"}`
)

func TestFlawsAreFound(t *testing.T) {
	f := func(want string, entries ...string) {
		t.Helper()
		if got := fmt.Sprint(mustRead(t, entries...).Flaws()); got != "["+want+"]" {
			t.Errorf("%s\nhas %s, want [%s]", strings.Join(entries, "\n"), got, want)
		}
	}
	f("", task, call, output, done)
	f("", task, call, other, second, output, done)
	f("", task, call, done, output, done) // the model may go on to speak
	f("", task, call, output, task, other, second)
	f("", task, `{"type":"function_call_output","name":"monitor","output":"r"}`)
	f("a call is not answered (1) a call is not answered (2)", task, call, other)
	f("a call is not answered (2)", task, call, other, output, done)
	f("a tool's result answers no call before it (1)", task, output)
	f("a tool's result answers no call before it (1) a call is not answered (1)", task, output, call)
	f("a call is answered twice (1)", task, call, output, output)
	f("several calls have one id (1) a call is answered twice (1)", task, call, output, call, output, output)
	f("a call's arguments are not JSON (1)", task, strings.Replace(call, `"{}"`, `"{"`, 1), output)
	f("", task, `{"type":"custom_tool_call","call_id":"1","name":"a","input":"{"}`, `{"type":"custom_tool_call_output","call_id":"1","output":"r"}`)
	f("a role is unknown (1)", task, `{"type":"hologram"}`)
	f("a role is unknown (1)", task, `{"role":"critic","content":"x"}`)

	// what the model thought goes with what it led to
	f("", task, reasoned, done)
	f("", task, reasoned, call, output, reasoned, done)
	f("what the model thought is apart from what it led to (2)", task, reasoned)
	f("what the model thought is apart from what it led to (2)", task, reasoned, task)
	f("what the model thought is apart from what it led to (4) a call is not answered (1)", task, reasoned, call, reasoned)
	f("a call is apart from what the model thought before it (2)", task, reasoned, call, output, other, second)
	f("", task, reasoned, `{"id":"fc_9"}`, call, output)

	shell := `{"type":"local_shell_call","id":"ls_1","call_id":"1","action":{}}`
	f("", task, shell, `{"type":"local_shell_call_output","id":"ls_1","output":"\"a\""}`)
	f("", task, shell, `{"type":"local_shell_call_output","id":"1","output":"{}"}`)
	f("a result is not written as those of its kind are (1)", task, shell, `{"type":"local_shell_call_output","id":"1","output":"a"}`)
	shell = `{"type":"shell_call","call_id":"1","action":{}}`
	f("", task, shell, `{"type":"shell_call_output","call_id":"1","output":[{"stdout":"a","stderr":"","outcome":{}}]}`)
	f("a result is not written as those of its kind are (1)", task, shell, `{"type":"shell_call_output","call_id":"1","output":"a"}`)
	f("a result is not written as those of its kind are (1)", task, shell, `{"type":"shell_call_output","call_id":"1","output":[{"text":"a"}]}`)
	f("a result is not written as those of its kind are (1)", task, call, `{"type":"function_call_output","call_id":"1","output":{"a":1}}`)
	f("", task, `{"type":"apply_patch_call","call_id":"1","operation":{}}`, `{"type":"apply_patch_call_output","call_id":"1","status":"completed"}`)

	f("a message says nothing (0)", `{"role":"user"}`)
	f("a message says nothing (0)", `{"role":"user","content":[]}`)
	f("a part stands in a message of another kind (0)", `{"role":"user","content":[{"type":"output_text","text":"x"}]}`)
	f("a part stands in a message of another kind (1)", task, `{"role":"assistant","content":[{"type":"input_text","text":"x"}]}`)
	f("", task, `{"type":"compaction_trigger"}`)
	f("a request for a compaction is not the last item (2)", task, `{"type":"compaction_trigger"}`, task)
}

func TestOnlyNewFlawsMakeARewriteWorse(t *testing.T) {
	f := func(want string, was, now []string) {
		t.Helper()
		err := conversation.Worse(mustRead(t, was...), mustRead(t, now...))
		if got := fmt.Sprint(err); want == "" && err != nil || !strings.Contains(got, want) {
			t.Errorf("%v\nbecomes\n%v\n%v, want %q", was, now, err, want)
		}
	}
	l := func(e ...string) []string { return e }
	f("", l(task, reasoned, call, output, done), l(task, done))
	f("", l(task, call, task), l(task, call, task)) // as broken as before
	f("", l(output, reasoned, task), l(reasoned, task))
	f("is not answered", l(task, call, output), l(task, call))
	f("answers no call", l(task, call, output), l(task, output))
	f("what the model thought is apart", l(task, reasoned, call, output), l(task, reasoned, task))
	f("a call is apart from", l(task, reasoned, call, output, reasoned, other, second), l(task, call, output, reasoned, other, second))
}
