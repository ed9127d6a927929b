package ending

import (
	"bytes"
	"strings"

	"epitome/pattern"
	"epitome/rewrite/conversation"
	"epitome/rewrite/history/action"
	"epitome/rewrite/history/answer"
	"epitome/rewrite/shorten"
)

// errorForm finds what begins as the message of an error does, and not as a heading or a count.
var errorForm = pattern.Beginning(`(?i)^(?:<tool_use_error|exec_command failed(?: for |: )|traceback \(most recent|`+
	`exception in thread |failed to [^\s\d]|failed: *[^\s\d]|(?:error|exception)(?:\[E\d+\]| TS\d+| \([^()]{1,60}\))?: *(?:[^\s\d]|[1-9])|(?:error|failed):?$`+
	`|error (?:executing|calling|invoking|running|performing|reading|writing|editing|creating|deleting|opening|fetching|`+
	`searching|parsing|loading|applying|accessing|while|during|occurred)\b.*:(?: |$)|`+
	`(?:fehler|erreur|errore|erro|ошибка|エラー|错误|錯誤|오류)[ \x{a0}]?[:：] *[^\s\d])`,
	"<to", "exec", "traceb", "exception", "fail", "err", "feh")

// errorField finds an object that begins with an error which is not empty.
var errorField = pattern.Of(`^\s*\{\s*"error"\s*:\s*(?:"[^"]|[\[{]\s*[^\s\]}]|true|[1-9])`)

// beginsAsError reports whether a result says at its beginning that its call did nothing.
func (r *result) beginsAsError() bool {
	switch {
	case r.Said == conversation.WentWrong && r.Action.Kind != action.Shell:
		return true
	case complains(r.raw):
		return !r.shows()
	case r.Action.Kind != action.Shell && !r.answers():
		return false
	}
	wrong, _ := r.complaint()
	return wrong || !r.exit.known && r.refusal().How != ""
}

// complaint reports whether a result is the message of an error, and the line that says so: not one that the call asked
// for.
func (r *result) complaint() (is bool, line string) {
	if is, line = r.complains(); is && r.shows() {
		return false, ""
	}
	return is, line
}

// complains is complaint, whatever the call asked for. Of what a tool answers that acts, its fields count too, and of
// one that nobody knows, what stands above a page.
func (r *result) complains() (is bool, line string) {
	switch {
	case complains(r.raw), r.answers() && r.failsByField(),
		r.Action.Kind == action.Writing && len(r.text) <= longestComplaint && SaysRefusal(shorten.FirstLine(r.text)):
		return true, firstWords(r.text)
	case r.Action.Kind == action.Other:
		return errorAbove(r.text)
	}
	return false, ""
}

// firstWords is the first line of a text that says something.
func firstWords(text string) string {
	return strings.TrimSpace(shorten.FirstLine(strings.TrimLeft(text, " \t\r\n")))
}

// failsByField reports whether a result is an object of which a field says that the call failed.
func (r *result) failsByField() bool {
	value := r.raw
	if len(value) > 0 && value[0] != '{' {
		value = []byte(r.text[:min(len(r.text), longestComplaint+1)])
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
	if raw[0] == '"' {
		raw = firstLineOf(raw)
	}
	line := shorten.FirstLine(strings.TrimLeft(shortText(raw), "[{ \n"))
	return errorForm.MatchString(strings.TrimRight(line, " \t\r"))
}

// firstLineOf is a JSON string up to the end of the first line that has more than brackets and spaces, about: all else
// need not be decoded.
func firstLineOf(quoted []byte) []byte {
	const line = `\n`
	i := 1
	for i+1 < len(quoted) && (strings.IndexByte("[{ ", quoted[i]) >= 0 ||
		quoted[i] == '\\' && strings.IndexByte("ntrf", quoted[i+1]) >= 0) {
		if quoted[i] == '\\' {
			i++
		}
		i++
	}
	for i < len(quoted) {
		at := bytes.IndexByte(quoted[i:], '\\')
		if at < 0 {
			break
		}
		if i += at; bytes.HasPrefix(quoted[i:], []byte(line)) {
			return append(quoted[:i:i], '"')
		}
		i += 2
	}
	return quoted
}
