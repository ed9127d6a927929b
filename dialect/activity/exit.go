package activity

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"epitome/dialect/jsonspan"
	"epitome/offload/excerpt"
)

// exitForm matches an exit code, in one of its two groups: on a line that says nothing else, or in a field of JSON.
var exitForm = regexp.MustCompile(`(?im)^[\[(<*\s]*(?:error: )?` +
	`(?:(?:the )?(?:process|command|program|shell|script) )?` +
	`(?:has )?(?:(?:(?:exited|completed|finished|ended|failed|terminated|returned) (?:with )?\(?)?` +
	`(?:exit[ _]?code|exit[ _]status|return[ _]?code)|exited with (?:code|status))` +
	`[ :=>"']*(\d{1,3})(?:</\w+>|[\])>.*\s])*$|` +
	`"(?:exit_?code|exit_?status|return_?code)" ?: ?(\d{1,3})\b`)

// How results say that a call failed or did not end: all that is known of the words of clients and tools. They begin
// the result, or a line near its ends.
var (
	// refusal: the client or the user did not let the call run, or the client stopped it.
	refusal = regexp.MustCompile(`(?im)\A[^\w{"]*(?:<tool_use_error>|the user doesn't want to \w+|` +
		`(?:[\w'-]+ ){0,6}(?:rejected|denied|declined) by (?:the )?user)|^\s*command timed out after\b`)

	// report: the call failed.
	report = regexp.MustCompile(`(?im)\A[^\w{"]*(?:(?:\w+ )?(?:\w*error|err|\w*exception)\b(?:[^\n:]{0,60}:|\W*$)|` +
		`.{0,60}\bfailed: \D|failed to\b|fatal: |permission\b.{0,60}\bdenied|` +
		`(?:[\w'-]+ ){0,4}timed out(?: after\b|\W*$)|` +
		`http(?:/[\d.]+)?(?: error| status)?:? [45]\d\d\b|.{0,60}\bstatus(?: code)?:? [45]\d\d\b)`)

	// interruption: the call was broken off, after a part of its work or all of it, or it goes on.
	interruption = regexp.MustCompile(`(?im)\A[^\w{"]*` +
		`(?:(?:request|command|tool call|operation|execution) (?:was )?)?` +
		`(?:(?:aborted|interrupted)(?:\W*$| by (?:the )?user)|cancell?ed by (?:the )?user)|` +
		`^\s*(?:process running with session|command aborted\b|command (?:is )?running in (?:the )?background)`)

	// failingStatus is the JSON of an HTTP status that is an error.
	failingStatus = regexp.MustCompile(`^"?[45]\d\d"?$`)
)

// near is how many bytes at each end of a result are looked at: what stands further inside is more likely output.
const near = 300

// ends returns what stands near the ends of a text. With a letter at the cuts, half a number or line is no match.
func ends(text string) string {
	if len(text) <= 2*near {
		return text
	}
	return text[:near] + "x\nx" + text[len(text)-near:]
}

// exitCode returns the exit code that a client states at the beginning or the end of a result; -1 if it states none.
func exitCode(text string) int {
	m := exitForm.FindStringSubmatch(ends(text))
	if m == nil {
		return -1
	}
	code, _ := strconv.Atoi(m[1] + m[2]) // one of them is empty
	return code
}

// readEnd sets how the call ended by the text of its result. isMarked says that the client marked it as failed.
//
// A result of kind Read, Search, Fetch or Run is mostly text that others wrote, which may begin like a report of a
// failure: a log, or a page about errors. So a report counts there only if it is all of the result, on one line, and an
// object with an error only if it is short. Answers of the user (Ask) may say anything. An exit code outweighs words,
// and a mark an exit code of 0.
func (c *Call) readEnd(text string, isMarked bool) {
	const short = 2_000 // bytes
	c.IsError = isMarked
	c.IsOpen = false
	isQuote := c.Kind == Read || c.Kind == Search || c.Kind == Fetch
	if !isQuote && c.Kind != Ask { // others may only mention an exit code
		c.Exit = exitCode(text)
	}
	if c.Exit >= 0 || c.Kind == Ask {
		return
	}
	isQuote = isQuote || c.Kind == Run
	said := strings.TrimSpace(text)
	if inner := jsonspan.Wrapped(text); !inner.Empty() {
		said = strings.TrimSpace(string(jsonspan.TextOf([]byte(text[inner.Start:inner.End]))))
	}
	mayReport := !isQuote && len(said) <= short || len(said) <= near && !strings.Contains(said, "\n")
	words := ends(said)
	c.IsOpen = interruption.MatchString(words)
	saysError := refusal.MatchString(words) || mayReport && report.MatchString(words) ||
		hasError(text, !isQuote || len(text) <= short)
	c.IsError = !c.IsOpen && (isMarked || saysError)
}

// hasError reports whether a text begins with a JSON object that says, at its top level, that the call failed: by MCP's
// mark, or if allKeys is set, by a key that is common for it.
func hasError(text string, allKeys bool) bool {
	o, err := jsonspan.ObjectAt([]byte(strings.TrimSpace(text)), 0)
	if err != nil {
		return false
	}
	nothing := []string{"", "null", "false", "0", `""`, "{}", "[]"}
	reason := strings.Join(strings.Fields(o.Raw("error")), "")
	isFailing := func(key string) bool { return failingStatus.MatchString(o.Raw(key)) }
	return o.Raw("isError") == "true" || o.Raw("is_error") == "true" ||
		allKeys && (!slices.Contains(nothing, reason) || o.Raw("success") == "false" || o.Raw("ok") == "false" ||
			isFailing("status") || isFailing("statusCode") || isFailing("status_code"))
}

// State returns how the call ended: "ok", "failed", "failed, exit code 3", or "unknown" if there is no result or the
// result says that the call was broken off or goes on.
func (c *Call) State() string {
	switch {
	case c.Failed() && c.Exit > 0:
		return fmt.Sprintf("failed, exit code %d", c.Exit)
	case c.Failed(): // maybe with exit code 0: the client knows better
		return "failed"
	case c.IsOpen:
		return "unknown"
	}
	return "ok"
}

// Failed reports whether the result says that the call failed.
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
