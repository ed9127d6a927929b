package activity

import (
	_ "embed" // words.txt
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"epitome/dialect/conversation"
	"epitome/internal/jsonspan"
	"epitome/offload/excerpt"
)

// exitForm matches an exit code, in one of its two groups: on a line that says nothing else, or in a field of JSON.
var exitForm = regexp.MustCompile(`(?im)^[\[(<*\s]*(?:error: )?` +
	`(?:(?:the )?(?:process|command|program|shell|script) )?` +
	`(?:has )?(?:(?:(?:exited|completed|finished|ended|failed|terminated|returned) (?:with )?\(?)?` +
	`(?:exit[ _]?code|exit[ _]status|return[ _]?code)|exited with (?:code|status))` +
	`[ :=>"']*(\d{1,3})(?:</\w+>|[\])>.*\s])*$|` +
	`"(?:exit_?code|exit_?status|return_?code)" ?: ?(\d{1,3})\b`)

//go:embed words.txt
var wordsText string

var (
	words        = conversation.Expressions(wordsText)
	refusal      = saying("refused")
	report       = saying("failed")
	interruption = saying("open")

	// failingStatus is the JSON of an HTTP status that is an error.
	failingStatus = regexp.MustCompile(`^"?[45]\d\d"?$`)
)

// saying matches results that say what words.txt has under a name.
func saying(name string) *regexp.Regexp {
	expr := `(?im)\A[^\w{"]*(?:` + words[name] + `)`
	if lines := words[name+"-line"]; lines != "" {
		expr += `|^\s*(?:` + lines + `)`
	}
	return regexp.MustCompile(expr)
}

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
		said = strings.TrimSpace(jsonspan.StringOf([]byte(text[inner.Start:inner.End])))
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
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "{") { // so that most results are not copied
		return false
	}
	o, err := jsonspan.ObjectAt([]byte(text), 0)
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
