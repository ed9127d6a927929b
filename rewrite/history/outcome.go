package history

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"epitome/pattern"
	"epitome/rewrite/shorten"
	"epitome/rewrite/span"
)

// errorForm finds what begins as the message of an error does, and not as a heading or a count.
var errorForm = pattern.Of(`(?i)^(?:<tool_use_error|traceback \(most recent|exception in thread |failed to [^\s\d]` +
	`|failed: *[^\s\d]|(?:error|exception)(?:\[E\d+\]| TS\d+| \([^()]{1,60}\))?: *(?:[^\s\d]|[1-9])|(?:error|failed):?$` +
	`|error (?:executing|calling|invoking|running|performing|reading|writing|editing|creating|deleting|opening|fetching|` +
	`searching|parsing|loading|applying|accessing|while|during|occurred)\b.*:(?: |$))`)

// errorField finds an object that begins with an error which is not empty.
var errorField = pattern.Of(`^\s*\{\s*"error"\s*:\s*(?:"[^"]|[\[{]\s*[^\s\]}]|true|[1-9])`)

// beginsAsError reports whether a result, as it stands in the body, begins as the message of an error does: its call
// did nothing.
func (c *Source) beginsAsError(raw []byte) bool {
	if !complains(raw) {
		return false
	}
	code, told := c.exitState(raw)
	return !told || code != 0
}

// complains reports whether a result, as it stands in the body, has the words with which the message of an error
// begins.
func complains(raw []byte) bool {
	const short = 4_000 // bytes; a longer one is no mere complaint
	if len(raw) > short || len(raw) == 0 {
		return false
	}
	if raw[0] != '"' {
		return errorField.Match(raw)
	}
	line := shorten.FirstLine(strings.TrimLeft(string(span.TextOf(raw)), "[{ \n"))
	return errorForm.MatchString(strings.TrimRight(line, " \t\r"))
}

// refusalForm finds how the answer to a call begins that was not allowed to do anything, or found nothing to change.
var refusalForm = pattern.Of(`(?i)^\W*(?:no match(?:es)? (?:was |were )?found for|(?:the )?string to replace (?:was )?not found|` +
	`apply_patch verification failed|patch rejected|invalid (?:patch|hunk)\b|` +
	`no (?:changes|edits|replacements?) (?:was |were )?(?:made|performed)|(?:permission|access) denied|e(?:acces|perm|rofs)\b|` +
	`(?:the )?user (?:doesn't want|does not want|did not|didn't|rejected|denied|declined|refused|cancell?ed|interrupted)|` +
	`(?:the |this )?(?:request|operation|edit|write|changes?|tool (?:use|call)) (?:was |were |has been |is |are )?` +
	`(?:rejected|denied|declined|refused|cancell?ed|interrupted|aborted|blocked|not (?:allowed|permitted|approved|applied)))`)

// SaysRefusal reports whether the answer to a call that writes files begins as one does that wrote nothing.
func SaysRefusal(text string) bool { return refusalForm.MatchString(text) }

// mayBeRefused reports whether a result, as it stands in the body, may say that its call could not read or write its
// files. What is short and speaks of such things may be a file too: then it counts for nothing.
func (c *Source) mayBeRefused(raw []byte) bool {
	const short = 4_000 // bytes
	if len(raw) > short || len(raw) == 0 {
		return false
	}
	if raw[0] == '[' {
		raw = []byte(gjson.GetBytes(raw, "0.text").Raw)
	}
	if len(raw) == 0 || raw[0] != '"' {
		return false
	}
	text := string(span.TextOf(raw))
	switch c.Action.Kind {
	case KindShell:
		return c.Action.OnlyFiles && len(c.Action.Writes) == 0 && SaysNoFile(text)
	case KindWriting:
		text = shorten.FirstLine(text)
	}
	return SaysRefusal(text) || SaysNoFile(text)
}

// StateInWords writes a state, as Outcome returns it, in words.
func StateInWords(state string) string {
	switch s := strings.TrimSpace(state); {
	case s == "✓":
		return "exit code 0"
	case s == "✗":
		return "failed"
	case s != "":
		return "exit code " + strings.TrimSpace(strings.TrimPrefix(s, "✗"))
	}
	return ""
}

// Outcome returns the state in which the call ended, as a mark for a stub; empty if its result does not tell. raw is
// the result as it stands in the body.
func (c *Source) Outcome(raw []byte) string {
	code, told := c.exitState(raw)
	switch {
	case code > 0:
		return fmt.Sprintf("✗ %d ", code)
	case told:
		return "✓ "
	case complains(raw):
		return "✗ "
	}
	return ""
}

// exitForm finds a line in which whoever ran a command tells its exit state, and nothing else.
var exitForm = pattern.Of(`(?i)^[\[(<*]*(?:error: )?(?:shellid: \S+ |command executed in terminal .*\. )?` +
	`(?:(?:the )?(?:process|command|program|shell|script) )?(?:has )?` +
	`(?:(?:(?:exited|completed|finished|ended|failed|terminated|returned) (?:with )?\(?)?` +
	`(?:exit[ _]?code|exit[ _]status|return[ _]?code)|exited with (?:code|status))` +
	`[ :=>"']*(\d{1,3})(?:</\w+>|[\])>.*])*$`)

// besideExit finds the other lines that stand with the exit state at the beginning or the end.
var besideExit = pattern.Of(`(?i)^(?:(?:chunk id|wall time|duration|session id|command|directory|cwd|signal|status|` +
	`background pids|process group pgid|original token count)\b.*:.*|wall time .*|<(\w+)>[^<]*</\w+>|</\w+>|` +
	`\[(?:current working directory|python interpreter)\b.*\]|` + "```" + `)$`)

// exitState returns the exit state of the call that a result, as it stands in the body, answers. Only of commands is
// one told.
func (c *Source) exitState(raw []byte) (code int, told bool) {
	if c.Action.Kind != KindShell {
		return 0, false
	}
	return exitOf(raw)
}

// exitOf returns the exit state that whoever ran a command tells at the beginning of its result, or else at the end.
func exitOf(raw []byte) (code int, told bool) {
	const ends = 1_000 // bytes
	first, last := raw, raw
	switch {
	case len(raw) == 0:
		return 0, false
	case raw[0] == '{' || bytes.HasPrefix(raw, []byte(`"{\"`)):
		if code, told = exitField(raw); told {
			return code, true
		}
	case raw[0] == '[':
		parts := gjson.GetBytes(raw, "#.text").Array()
		if len(parts) == 0 {
			return exitOfAll(raw)
		}
		first, last = []byte(parts[0].Raw), []byte(parts[len(parts)-1].Raw)
	}
	begin := linesAsTold(first[:min(len(first), ends)])
	if len(first) > ends {
		begin = begin[:len(begin)-1]
	}
	if code, told = firstExit(begin); told {
		return code, true
	}
	end := linesAsTold(last[max(0, len(last)-ends):])
	if len(last) > ends {
		end = end[1:]
	}
	slices.Reverse(end)
	return firstExit(end)
}

// escapes are those that stand in what commands and their runners write.
var escapes = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\r`, "\r", `\t`, "\t", `\"`, `"`,
	`\u003c`, "<", `\u003e`, ">")

// linesAsTold are the lines of a part of a JSON string.
func linesAsTold(part []byte) []string {
	text := strings.Trim(string(part), `"`)
	if strings.IndexByte(text, '\\') >= 0 { // few short results have any
		text = escapes.Replace(text)
	}
	return strings.Split(text, "\n")
}

// firstExit is the exit state in the first of the lines that tells one, if only such stand before it as come with it.
func firstExit(lines []string) (code int, told bool) {
	for _, l := range lines {
		l = strings.TrimSpace(l)
		if m := exitForm.FindStringSubmatch(l); m != nil {
			code, err := strconv.Atoi(m[1])
			return code, err == nil
		}
		if l != "" && !besideExit.MatchString(l) {
			return 0, false
		}
	}
	return 0, false
}

// exitOfAll is the exit state of several commands, each with its outcome: that of the first one that failed.
func exitOfAll(raw []byte) (code int, told bool) {
	gjson.GetBytes(raw, "#.outcome.exit_code").ForEach(func(_, v gjson.Result) bool {
		if v.Type == gjson.Number && v.Int() >= 0 {
			code, told = int(v.Int()), true
		}
		return code == 0
	})
	return code, told
}

// exitField is the exit state in a result that is an object, or the text of one, or has one as the text of its output.
func exitField(raw []byte) (code int, told bool) {
	if raw[0] == '"' {
		raw = span.TextOf(raw)
	}
	if !gjson.ValidBytes(raw) {
		return 0, false
	}
	for _, name := range [...]string{"exit_code", "exitCode", "exit_status", "returncode", "metadata.exit_code", "metadata.exitCode"} {
		if v := gjson.GetBytes(raw, name); v.Type == gjson.Number && v.Int() >= 0 { // -1 says that it is not known
			return int(v.Int()), true
		}
	}
	if out := gjson.GetBytes(raw, "output"); out.Type == gjson.String && strings.HasPrefix(out.Str, "{") {
		return exitField([]byte(out.Str))
	}
	return 0, false
}
