package activity

import (
	"fmt"
	"regexp"
	"strconv"
)

// exitForm matches an exit code: on a line that says nothing else, or in a field of JSON.
var exitForm = regexp.MustCompile(`(?im)^[\[(<*\s]*(?:error: )?(?:(?:the )?(?:process|command|program|shell|script) )?(?:has )?` +
	`(?:(?:(?:exited|completed|finished|ended|failed|terminated|returned) (?:with )?\(?)?(?:exit[ _]?code|exit[ _]status|` +
	`return[ _]?code)|exited with (?:code|status))[ :=>"']*(\d{1,3})(?:</\w+>|[\])>.*\s])*$|` +
	`"(?:exit_?code|exit_?status|return_?code)" ?: ?(\d{1,3})\b`)

// exitCode returns the exit code that the beginning or the end of a result tells; -1 if neither does.
func exitCode(text string) int {
	const near = 300 // bytes
	m := exitForm.FindStringSubmatch(text[:min(len(text), near)] + "\n" + text[max(0, len(text)-near):])
	if m == nil {
		return -1
	}
	code, _ := strconv.Atoi(m[1] + m[2]) // digits; one of them is empty
	return code
}

// State says in a few words how the call ended; empty if nothing tells.
func (c *Call) State() string {
	switch {
	case c.Exit > 0:
		return fmt.Sprintf("failed, exit code %d", c.Exit)
	case c.IsError:
		return "failed"
	case c.Exit == 0:
		return "exit code 0"
	}
	return ""
}

// Failed reports whether the call failed, by its exit code or by the client's flag.
func (c *Call) Failed() bool { return c.Exit > 0 || c.IsError }
