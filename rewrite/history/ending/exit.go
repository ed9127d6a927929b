package ending

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"epitome/pattern"
	"epitome/pattern/lazy"
	"epitome/rewrite/history/action"
	"epitome/rewrite/shorten"
	"epitome/rewrite/span"
)

// exitForm finds a line in which whoever ran a command tells its exit state, and nothing else.
var exitForm = pattern.Holding(`(?i)^[\[(<*]*(?:error: )?(?:shellid: \S+ |command executed in terminal .*\. )?`+
	`(?:(?:the )?(?:process|command|program|shell|script) )?(?:has )?`+
	`(?:(?:(?:exited|completed|finished|ended|failed|terminated|returned) (?:with )?\(?)?`+
	`(?:exit[ _]?code|exit[ _]status|return[ _]?code)|exited with (?:code|status))`+
	`[ :=>"']*(\d{1,3})(?:</\w+>|[\])>.*])*$`, "exit", "return")

// besideExit finds the other lines that stand with the exit state at the beginning or the end.
var besideExit = pattern.Beginning(`(?i)^(?:(?:chunk id|wall time|duration|session id|command|directory|cwd|signal|status|`+
	`background pids|process group pgid|original token count)\b.*:.*|wall time .*|<(\w+)>[^<]*</\w+>|</\w+>|`+
	`\[(?:current working directory|python interpreter)\b.*\]|`+"```"+`)$`,
	"chunk", "wall", "durat", "sess", "comm", "dire", "cwd", "sign", "stat", "back", "proc", "orig", "<", "[", "`")

// exit is the exit state of a call, if it is known.
type exit struct {
	code  int
	known bool
}

// exitOf is the exit state of the call that a result, as it stands in the body, answers. Only of commands is one told,
// and of what writes files by means of one, above what it says.
func exitOf(c *action.Source, raw []byte) (e exit) {
	switch c.Action.Kind {
	case action.Shell:
		e.code, e.known = exitOfCommand(raw)
	case action.Writing:
		switch text := shortText(raw); {
		case strings.HasPrefix(text, "Exit code: "):
			e.code, e.known = firstExit([]string{shorten.FirstLine(text)})
		case strings.HasPrefix(text, "{"), len(raw) > 0 && raw[0] == '{':
			e.code, e.known = exitField(raw)
		}
	}
	return e
}

// exitOfCommand returns the exit state that whoever ran a command tells at the beginning of its result, or else at the
// end.
func exitOfCommand(raw []byte) (code int, told bool) {
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
	if head := string(first[:min(len(first), ends)]); exitForm.MayStandIn(head) { // most have no word of it
		begin := linesAsTold(head)
		if len(first) > ends {
			begin = begin[:len(begin)-1]
		}
		if code, told = firstExit(begin); told {
			return code, true
		}
	}
	tail := string(last[max(0, len(last)-ends):])
	if !exitForm.MayStandIn(tail) {
		return 0, false
	}
	end := linesAsTold(tail)
	if len(last) > ends {
		end = end[1:]
	}
	slices.Reverse(end)
	return firstExit(end)
}

// escapes are those that stand in what commands and their runners write.
var escapes = lazy.Of(newEscapes)

func newEscapes() *strings.Replacer {
	return strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\r`, "\r", `\t`, "\t", `\"`, `"`, `\u003c`, "<", `\u003e`, ">")
}

// linesAsTold are the lines of a part of a JSON string.
func linesAsTold(part string) []string {
	text := strings.Trim(part, `"`)
	if strings.IndexByte(text, '\\') >= 0 { // few short results have any
		text = escapes.Get().Replace(text)
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
	const longest = 8 << 20 // bytes of a result that is read for it
	if len(raw) > longest {
		return 0, false
	}
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

// ShowsOutput reports whether a result shows something that its command has put out: that this goes on is no output.
func ShowsOutput(text string) bool {
	return !isEmpty(text, func(l string) bool { return runningForm.MatchString(l) || statusForm.MatchString(l) })
}

// showsNothing reports whether a command has put out nothing: what its runner writes around that does not count.
func showsNothing(text string) bool {
	return isEmpty(text, func(string) bool { return false })
}

// isEmpty reports whether a result has only lines that its runner writes around the output of a command, or that are
// of another such kind.
func isEmpty(text string, isOther func(line string) bool) bool {
	const most = 1_000 // bytes
	if len(text) > most {
		return false
	}
	for l := range strings.SplitSeq(text, "\n") {
		l = strings.TrimSpace(l)
		switch strings.ToLower(strings.Trim(l, "()<>. ")) {
		case "", "output:", "no output", "output: empty", "output: (empty", "error: (none", "stdout:", "stderr:":
			continue
		}
		if !exitForm.MatchString(l) && !besideExit.MatchString(l) && !isOther(l) {
			return false
		}
	}
	return true
}
