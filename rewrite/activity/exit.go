package activity

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// exitForm finds an exit code: a line in which whoever ran a command tells it and nothing else, or a field of JSON.
var exitForm = regexp.MustCompile(`(?im)^[\[(<*\s]*(?:error: )?(?:(?:the )?(?:process|command|program|shell|script) )?(?:has )?` +
	`(?:(?:(?:exited|completed|finished|ended|failed|terminated|returned) (?:with )?\(?)?(?:exit[ _]?code|exit[ _]status|` +
	`return[ _]?code)|exited with (?:code|status))[ :=>"']*(\d{1,3})(?:</\w+>|[\])>.*\s])*$|` +
	`"(?:exit_?code|exit_?status|return_?code)" ?: ?(\d{1,3})\b`)

// escapes are those in JSON strings that matter here.
var escapes = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\r`, "\n", `\t`, "\t", `\"`, `"`, `\u003c`, "<", `\u003e`, ">")

// exitCode is the exit code that a result tells, as it stands in the body: in its first lines, or else in its last ones;
// -1 if it tells none.
func exitCode(raw []byte) int {
	const ends, first, last = 1_000, 6, 3 // bytes, lines
	begin, end := string(raw[:min(len(raw), ends)]), string(raw[max(0, len(raw)-ends):])
	if strings.HasPrefix(begin, "[") {
		parts := gjson.GetBytes(raw, "#.text").Array()
		if len(parts) == 0 {
			return code(begin + end)
		}
		b, e := parts[0].Raw, parts[len(parts)-1].Raw
		begin, end = b[:min(len(b), ends)], e[max(0, len(e)-ends):]
	}
	head := strings.Split(escapes.Replace(strings.Trim(begin, `"`)), "\n")
	tail := strings.Split(strings.TrimRight(escapes.Replace(strings.Trim(end, `"`)), " \n"), "\n")
	if strings.HasPrefix(head[0], "{") { // an object, or the text of one
		return code(strings.Join(head, "\n") + "\n" + strings.Join(tail, "\n"))
	}
	if n := code(strings.Join(head[:min(len(head), first)], "\n")); n >= 0 {
		return n
	}
	return code(strings.Join(tail[max(0, len(tail)-last):], "\n"))
}

// code is the first exit code in a text; -1 if there is none.
func code(text string) int {
	m := exitForm.FindStringSubmatch(text)
	if m == nil {
		return -1
	}
	n, _ := strconv.Atoi(m[1] + m[2]) // digits
	return n
}

// State says in a few words how the call ended; empty if nothing tells that.
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
