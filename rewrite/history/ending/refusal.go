package ending

import (
	"strings"

	"epitome/pattern"
)

// Refusal is that a call was kept from what it was to do.
type Refusal struct {
	How   string // in words for a reader; empty if it was not kept from anything
	Words string // the user's own, whole; empty if none stand in the result
}

// How calls are kept from what they were to do.
const (
	refusedByUser = "the user refused it"
	stoppedByUser = "the user broke it off"
	notAllowed    = "it was not allowed"
	outOfTime     = "it was stopped at its time limit"
	wasAborted    = "it was aborted"
)

// KeptAll reports whether the call did nothing at all.
func (r Refusal) KeptAll() bool { return r.How == refusedByUser || r.How == notAllowed }

// IsRefused reports whether somebody kept the call from what it was to do, or broke it off, and not a limit.
func (r Refusal) IsRefused() bool { return r.KeptAll() || r.How == stoppedByUser }

// refusals are the words with which agents tell that, at the beginning of a result, and behind what the user's own
// words stand in it. All that is known of them stands here.
var refusals = []struct {
	begins *pattern.Pattern
	behind []string
	how    string
}{
	{pattern.Beginning(`^The user doesn't want to (?:proceed with this tool use|take this action right now)\.`,
		"the user"),
		[]string{"To tell you how to proceed, the user said:\n", "the user said:\n"}, refusedByUser},
	{pattern.Beginning(`^The user denied this operation\b`, "the user"), []string{"<feedback>\n"}, refusedByUser},
	{pattern.Beginning(`^(?:Error: )?The user rejected permission to use this specific tool call\b`,
		"the user", "error"),
		[]string{"with the following feedback: "}, refusedByUser},
	{pattern.Holding(`(?i)^(?:error: )?(?:[\w ]{0,40} )?(?:rejected|denied|declined) by (?:the )?user\b`, " user"), nil, refusedByUser},
	{pattern.Beginning(`(?i)^(?:error: )?(?:the )?user (?:rejected|denied|declined|refused) (?:this|the|tool)\b`,
		"error", "the user", "user"), nil, refusedByUser},
	{pattern.Holding(`(?i)^(?:\[request interrupted by user\b|(?:[\w ]{0,40} )?(?:aborted|interrupted|cancell?ed) by (?:the )?user\b|`+
		`user (?:cancell?ed|interrupted|aborted) (?:tool|the|this|command)\b)`, "user"), nil, stoppedByUser},
	{pattern.Beginning(`^(?:Error: )?(?:Permission to use \S+ (?:with command .* )?has been denied|The user has specified a rule which prevents you|`+
		`Claude requested permissions to .*, but you haven't granted it yet|This command requires approval)`,
		"error", "permission", "the user", "claude", "this"), nil, notAllowed},
	{pattern.Beginning(`(?i)^command (?:timed out|did not (?:complete|finish) (?:with)?in)\b`, "command"), nil, outOfTime},
	{pattern.Beginning(`^Command aborted\.?$`, "command"), nil, wasAborted},
}

// wordsEnd is what agents write behind the user's own words.
var wordsEnd = [...]string{"\n</feedback>", "\n\nNote: The user's next message may contain"}

// longestRefusal is the size in bytes up to which a result may say nothing but that its call was refused, and why.
const longestRefusal = 16_000

// refusalIn reads the text of a result: its beginning, or, of a command's, its last line.
func refusalIn(text string, isCommand bool) Refusal {
	const longestLast = 1_000 // bytes of the last line of what a command has shown before it was stopped
	if len(text) <= longestRefusal {
		begin := behindExit(text)
		if r := refusalAt(begin); r.How != "" {
			return r
		}
		if how := whyNotBegun(begin); how != "" {
			return Refusal{How: how}
		}
	}
	if !isCommand {
		return Refusal{}
	}
	text = strings.TrimRight(text, "\n ")
	end := text[max(0, len(text)-longestLast):]
	at := strings.LastIndexByte(end, '\n')
	if at < 0 && len(end) < len(text) {
		return Refusal{} // it begins in the middle of a line
	}
	return refusalAt(end[at+1:])
}

// whyNotBegun is why a command was not allowed to begin, of which Codex says that it did not; empty if it does not say
// that. The command stands before it.
func whyNotBegun(text string) string {
	const rejected = `: CreateProcess { message: "Rejected(\"`
	if !strings.HasPrefix(text, "exec_command failed") {
		return ""
	}
	at := strings.LastIndex(text, rejected)
	if at < 0 {
		return ""
	}
	switch why := strings.TrimRight(text[at+len(rejected):], "\n "); {
	case why == `rejected by user\")" }`:
		return refusedByUser
	case strings.HasSuffix(why, `\")" }`):
		return notAllowed
	}
	return ""
}

// refusalAt reads a text that begins so.
func refusalAt(text string) Refusal {
	first, _, _ := strings.Cut(text, "\n")
	for i := range refusals {
		known := &refusals[i]
		if !known.begins.MatchString(first) {
			continue
		}
		return Refusal{How: known.how, Words: wordsBehind(text, known.behind)}
	}
	return Refusal{}
}

// wordsBehind are the user's own words in a text, behind the first of the marks that stands there.
func wordsBehind(text string, marks []string) string {
	for _, mark := range marks {
		_, words, ok := strings.Cut(text, mark)
		if !ok {
			continue
		}
		for _, end := range wordsEnd {
			words, _, _ = strings.Cut(words, end)
		}
		return strings.TrimSpace(words)
	}
	return ""
}

// behindExit is a text without the lines at its beginning that whoever runs commands writes.
func behindExit(text string) string {
	for {
		text = strings.TrimLeft(text, " \t\r\n")
		line, rest, more := strings.Cut(text, "\n")
		if !more || !besideExit.MatchString(strings.TrimRight(line, " \t\r")) {
			return text
		}
		text = rest
	}
}
