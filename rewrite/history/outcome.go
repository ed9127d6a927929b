package history

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"epitome/pattern"
	"epitome/rewrite/conversation"
	"epitome/rewrite/history/answer"
	"epitome/rewrite/shorten"
	"epitome/rewrite/span"
)

// errorForm finds what begins as the message of an error does, and not as a heading or a count.
var errorForm = pattern.Of(`(?i)^(?:<tool_use_error|exec_command failed(?: for |: )|traceback \(most recent|` +
	`exception in thread |failed to [^\s\d]|failed: *[^\s\d]|(?:error|exception)(?:\[E\d+\]| TS\d+| \([^()]{1,60}\))?: *(?:[^\s\d]|[1-9])|(?:error|failed):?$` +
	`|error (?:executing|calling|invoking|running|performing|reading|writing|editing|creating|deleting|opening|fetching|` +
	`searching|parsing|loading|applying|accessing|while|during|occurred)\b.*:(?: |$)|` +
	`(?:fehler|erreur|errore|erro|ошибка|エラー|错误|錯誤|오류)[ \x{a0}]?[:：] *[^\s\d])`)

// errorField finds an object that begins with an error which is not empty.
var errorField = pattern.Of(`^\s*\{\s*"error"\s*:\s*(?:"[^"]|[\[{]\s*[^\s\]}]|true|[1-9])`)

// beginsAsError reports whether a result, as it stands in the body, says at its beginning that its call did nothing.
func (c *Source) beginsAsError(raw []byte) bool {
	if c.said == conversation.WentWell {
		return false
	}
	code, told := c.exitState(raw)
	if told && code == 0 {
		return false
	}
	if c.said == conversation.WentWrong && c.Action.Kind != KindShell {
		return true
	}
	text, _ := shortText(raw)
	if complains(raw) {
		return !c.shows(text)
	}
	if c.Action.Kind != KindShell && c.Action.Kind != KindWriting && c.Action.Kind != KindOther {
		return false
	}
	wrong, _ := c.complaint(raw, text)
	return wrong || !told && c.refusal(text).How != ""
}

// longestComplaint is the size in bytes from which on a result is no mere complaint.
const longestComplaint = 4_000

// shortText is the text of a result, as it stands in the body, or of its first part, if that is not long.
func shortText(raw []byte) (string, bool) {
	if len(raw) > 0 && raw[0] == '[' {
		raw = []byte(gjson.GetBytes(raw, "0.text").Raw)
	}
	if len(raw) > longestComplaint || len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	return string(span.TextOf(raw)), true
}

// complaint reports whether a result, as it stands in the body, is the message of an error, and the line that says so.
func (c *Source) complaint(raw []byte, text string) (is bool, line string) {
	if is, line = c.complains(raw, text); is && c.shows(text) {
		return false, ""
	}
	return is, line
}

// complains is complaint, whatever the call asked for. Of what a tool answers that acts, its fields count too, and of
// one that nobody knows, what stands above a page.
func (c *Source) complains(raw []byte, text string) (is bool, line string) {
	switch {
	case complains(raw), c.answers() && failsByField(raw, text),
		c.Action.Kind == KindWriting && len(text) <= longestComplaint && SaysRefusal(shorten.FirstLine(text)):
		return true, firstWords(text)
	case c.Action.Kind == KindOther:
		return errorAbove(text)
	}
	return false, ""
}

// firstWords is the first line of a text that says something.
func firstWords(text string) string {
	return strings.TrimSpace(shorten.FirstLine(strings.TrimLeft(text, " \t\r\n")))
}

// failsByField reports whether a result is an object of which a field says that the call failed.
func failsByField(raw []byte, text string) bool {
	value := raw
	if len(value) > 0 && value[0] != '{' {
		value = []byte(text[:min(len(text), longestComplaint+1)])
	}
	return len(value) <= longestComplaint && answer.FailsByField(value)
}

// headForm finds a line that stands above what a tool shows.
var headForm = pattern.Of(`^(?:[a-zA-Z][\w -]{0,30}: \S|#{1,6} )`)

// errorAbove reports whether one of the lines above what a tool shows says an error, and that line, if it is not long.
func errorAbove(text string) (is bool, line string) {
	const most, beginning = 3, 2_000 // lines, bytes
	n, announced, room := 0, false, beginning
	for l := range strings.SplitSeq(text[:min(len(text), beginning)], "\n") {
		room -= len(l) + 1
		l = strings.TrimSpace(l)
		if announced && l != "" || errorForm.MatchString(l) {
			if room < 0 && len(text) > beginning {
				l = "" // it may go on
			}
			return true, l
		}
		if announced = announced || strings.HasPrefix(l, "### Error"); announced {
			continue
		}
		if n++; n >= most || !headForm.MatchString(l) {
			return false, ""
		}
	}
	return false, ""
}

// complains reports whether a result, as it stands in the body, has the words with which the message of an error
// begins.
func complains(raw []byte) bool {
	if len(raw) > longestComplaint || len(raw) == 0 {
		return false
	}
	if raw[0] == '{' {
		return errorField.Match(raw)
	}
	text, _ := shortText(raw)
	line := shorten.FirstLine(strings.TrimLeft(text, "[{ \n"))
	return errorForm.MatchString(strings.TrimRight(line, " \t\r"))
}

// refusalForm finds how the answer to a call begins that was not allowed to do anything, or found nothing to change.
var refusalForm = pattern.Of(`(?i)^\W*(?:no match(?:es)? (?:was |were )?found for|could not find the exact text|(?:the )?string to replace (?:was )?not found|` +
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
	text, ok := shortText(raw)
	if !ok {
		return false
	}
	switch c.Action.Kind {
	case KindShell:
		return c.Action.OnlyFiles && len(c.Action.Writes) == 0 && SaysNoFile(text)
	case KindWriting:
		text = shorten.FirstLine(text)
	}
	return SaysRefusal(text) || SaysNoFile(text)
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
// one told, and of what writes files by means of one, above what it says.
func (c *Source) exitState(raw []byte) (code int, told bool) {
	switch c.Action.Kind {
	case KindShell:
		return exitOf(raw)
	case KindWriting:
		switch text, ok := shortText(raw); {
		case ok && strings.HasPrefix(text, "Exit code: "):
			return firstExit([]string{shorten.FirstLine(text)})
		case strings.HasPrefix(text, "{"), len(raw) > 0 && raw[0] == '{':
			return exitField(raw)
		}
	}
	return 0, false
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
	if !span.Valid(raw) {
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
