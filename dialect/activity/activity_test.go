package activity

import (
	"strings"
	"testing"

	"epitome/dialect/conversation"
	"epitome/internal/jsonspan"
)

func TestArgumentsNestedDeeplyAreReadAsText(t *testing.T) {
	body := []byte(jsonspan.Quoted(`{"path":` + strings.Repeat("[", 1<<20)))
	call := conversation.Call{Name: "read", Arguments: jsonspan.Span{Start: 0, End: len(body)}}
	if c := readCall(body, &call, 0); c.Kind != Other || !strings.HasPrefix(c.About, `{"path":[[[`) {
		t.Errorf("a call of kind %v about %.20s", c.Kind, c.About)
	}
}

func TestExitCodesStandAtTheEndsOfAResult(t *testing.T) {
	f := func(text string, want int) {
		t.Helper()
		if got := exitCode(text, false); got != want {
			t.Errorf("%.40q ends with exit code %d, want %d", text, got, want)
		}
	}
	long := strings.Repeat("output ", 200)
	f("Exit code 127\n"+long, 127)
	f(long+"\nexit code: 3", 3)
	f(`{"output":"`+long+`","metadata":{"exit_code":2}}`, 2)
	f(long+"\nexit code 3\n"+long, -1)                                // of something that the output tells of
	f(strings.Repeat("x", 286)+"\nExit code 127\n"+long, -1)          // cut within the number
	f(long+"the shell says exit code 1"+strings.Repeat(" ", 289), -1) // cut within the line
}

func TestFailuresOfCommandsWithoutAnExitCode(t *testing.T) {
	f := func(exit int, text, want string) {
		t.Helper()
		c := Call{Kind: Run, Exit: exit}
		if exit > 0 {
			c.end = failed
		}
		if got := c.Failure(text); got != want {
			t.Errorf("exit code %d: got %q, want %q of %q", exit, got, want, text)
		}
	}
	f(-1, "ok 1\nnot ok 2 - sums\n  expected: 2.50\n  actual: 2.49\n  at: test/round.js:88:14\nok 3\n",
		"not ok 2 - sums\n  expected: 2.50\n  actual: 2.49\n  at: test/round.js:88:14")
	f(0, "not ok 2 - sums\n", "not ok 2 - sums") // the code counts, and the text is quoted
	f(0, "ok 2 - no error\n", "")
	const code = "+\tif err != nil {\n+\t\treturn fmt.Errorf(\"failed to read: %w\", err)\n"
	f(-1, code, "") // it only mentions a failure
	f(1, code, "+\tif err != nil {\n+\t\treturn fmt.Errorf(\"failed to read: %w\", err)")
	f(-1, "d08e1e5 Fix crash when input is missing\n4f3a Invalid names are refused\n", "")
}
