package responses

import (
	"fmt"
	"strings"
	"testing"

	"epitome/dialect/conversation"
	"epitome/internal/jsonspan"
)

func TestReplacesContentInItsForm(t *testing.T) {
	f := func(call, was, want string) {
		t.Helper()
		r := mustRead(t, bodyOf(task, call, was, done))
		out, err := jsonspan.Splice(r.Body, r.ReplaceContent(&r.Items[len(r.Items)-2], `a "stub"`), nil)
		if want = bodyOf(task, call, want, done); err != nil || string(out) != want {
			t.Errorf("got\n%s\nwant\n%s (%v)", out, want, err)
			return
		}
		if err := conversation.Worse(r, mustRead(t, string(out))); err != nil {
			t.Errorf("%s: %v", out, err)
		}
	}
	as := func(output string) string {
		return `{"type":"function_call_output","call_id":"1","output":` + output + `,"status":"completed"}`
	}
	const image, mark = `{"type":"input_image","image_url":"u"}`, `,"prompt_cache_breakpoint":{"b":1}`
	f(call, as(`"long"`), as(`"a \"stub\""`))
	part := func(text, more string) string { return `{"type":"input_text","text":` + text + more + `}` }
	f(call, as(`[`+part(`"long"`, mark)+`]`), as(`[`+part(`"a \"stub\""`, mark)+`]`))
	f(call, as(`[`+part(`"a"`, mark)+`, `+image+`]`), as(`"a \"stub\""`))
	chunks := func(a, b, c string) string {
		return `{"type":"shell_call_output","call_id":"1","output":[ {"stdout":` + a + `, "stderr":` + b +
			`,"outcome":{"exit_code":1}},{"outcome":{"type":"timeout"},"stdout":` + c + `}],"max_output_length":9}`
	}
	f(`{"type":"shell_call","call_id":"1","action":{}}`, chunks(`"x"`, `"y"`, `"z"`),
		chunks(`"a \"stub\""`, `""`, `""`))
	f(shell, `{"type":"local_shell_call_output","id":"1","output":"{\"output\":\"x\"}","status":"completed"}`,
		`{"type":"local_shell_call_output","id":"1","output":"\"a \\\"stub\\\"\"","status":"completed"}`)
	f(call+`,`+output, `{"role":"user","content":[`+part(`"a"`, "")+`,`+image+`]}`,
		`{"role":"user","content":"a \"stub\""}`)
	screen := `{"type":"computer_call_output","call_id":"1","output":{"type":"computer_screenshot","image_url":"u"}}`
	f(`{"type":"computer_call","call_id":"1","action":{}}`, screen, screen)
}

func TestFlawsAreFound(t *testing.T) {
	f := func(want string, entries ...string) {
		t.Helper()
		r := mustRead(t, bodyOf(entries...))
		if got := fmt.Sprint(r.Check().Flaws); got != "["+want+"]" {
			t.Errorf("%s\nhas %s, want [%s]", strings.Join(entries, "\n"), got, want)
		}
	}
	f("", task, call, other, second, output, done)
	f("a call is not answered (2)", task, call, other, output, done)
	f("a tool's result answers no call that waits for it (1) a call is not answered (1)", task, output, call)
	f("a tool's result answers no call that waits for it (1)", task, call, output, output)
	f("", task, reasoned, call, output, reasoned, done)
	f("what the model thought is apart from what it led to", task, reasoned, task)
	f("", task, shell, `{"type":"local_shell_call_output","id":"1","output":"{}"}`)
}
