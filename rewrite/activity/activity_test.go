package activity

import (
	"strings"
	"testing"

	"epitome/rewrite/conversation"
	"epitome/rewrite/jsonspan"
)

func TestArgumentsNestedDeeplyAreReadAsText(t *testing.T) {
	body := []byte(jsonspan.Quoted(`{"path":` + strings.Repeat("[", 1<<20)))
	call := conversation.Call{Name: "read", Arguments: jsonspan.Span{Start: 0, End: len(body)}}
	if c := readCall(body, &call); c.Kind != Other || !strings.HasPrefix(c.About, `{"path":[[[`) {
		t.Errorf("a call of kind %v about %.20s", c.Kind, c.About)
	}
}

func TestExitCodesStandAtTheEndsOfAResult(t *testing.T) {
	f := func(text string, want int) {
		t.Helper()
		if got := exitCode(text); got != want {
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
