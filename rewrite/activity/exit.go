package activity

import (
	"fmt"
	"regexp"
	"strconv"

	"epitome/rewrite/excerpt"
)

// exitForm matches an exit code, in one of its two groups: on a line that says nothing else, or in a field of JSON.
var exitForm = regexp.MustCompile(`(?im)^[\[(<*\s]*(?:error: )?` +
	`(?:(?:the )?(?:process|command|program|shell|script) )?` +
	`(?:has )?(?:(?:(?:exited|completed|finished|ended|failed|terminated|returned) (?:with )?\(?)?` +
	`(?:exit[ _]?code|exit[ _]status|return[ _]?code)|exited with (?:code|status))` +
	`[ :=>"']*(\d{1,3})(?:</\w+>|[\])>.*\s])*$|` +
	`"(?:exit_?code|exit_?status|return_?code)" ?: ?(\d{1,3})\b`)

// refused matches the result of a call that wrote nothing, where the client does not mark it as failed.
var refused = regexp.MustCompile(`(?i)^\s*(?:<tool_use_error>|error\b|.{0,60}\bfailed: )`)

// exitCode returns the exit code that a client states at the beginning or the end of a result; -1 if it states none.
func exitCode(text string) int {
	const near = 300 // bytes: further inside, an exit code is more likely part of the command's output
	if len(text) > 2*near {
		text = text[:near] + "x\nx" + text[len(text)-near:] // with a letter at the cuts, half a number or line is no match
	}
	m := exitForm.FindStringSubmatch(text)
	if m == nil {
		return -1
	}
	code, _ := strconv.Atoi(m[1] + m[2]) // one of them is empty
	return code
}

// State returns how the call ended, as "failed" or "exit code 0"; empty if neither exit code nor error flag says so.
func (c *Call) State() string {
	switch {
	case c.IsError && c.Exit > 0:
		return fmt.Sprintf("failed, exit code %d", c.Exit)
	case c.IsError: // maybe with exit code 0: the client knows better
		return "failed"
	case c.Exit >= 0: // which may be 1 for a search that found nothing
		return fmt.Sprintf("exit code %d", c.Exit)
	}
	return ""
}

// Failed reports whether the call failed by its exit code or by the client's flag.
func (c *Call) Failed() bool { return c.Exit > 0 || c.IsError }

// Failure returns the lines of a call's result that report its failure. They are empty if the call did not fail, or is
// not a command without an exit code whose output reports a failure.
func (c *Call) Failure(result string) string {
	if !c.Failed() && (c.Kind != Run || c.Exit >= 0) {
		return ""
	}
	screen, _ := excerpt.Screen(result)
	return excerpt.Failure(screen, c.Failed())
}
