package conversation

import (
	"strings"

	"epitome/rewrite/span"
)

// wrappers are the elements in which clients put texts of their own beside what a user says.
func wrappers() [13]string {
	return [...]string{
		"system-reminder", // Claude Code, opencode
		"local-command-caveat", "local-command-stdout", "local-command-stderr", "bash-stdout", "bash-stderr",
		"task-notification", "ide_opened_file", "ide_selection", // Claude Code
		"current_datetime", "system_reminder", // Copilot CLI
		"environment_details", // Cline, Roo
		"environment_context", // Codex
	}
}

// OwnWords is what a user says in a text: all of it, word for word, but for what its client has put before and behind
// it in elements of its own.
func OwnWords(text string) string {
	own := text
	for {
		rest := strings.TrimSpace(own)
		before := len(rest)
		if !strings.HasPrefix(rest, "<") && !strings.HasSuffix(rest, ">") {
			return own
		}
		for _, name := range wrappers() {
			rest = strings.TrimSpace(withoutWrapper(rest, name))
		}
		if len(rest) == before {
			return own
		}
		own = rest
	}
}

// withoutWrapper takes one element of a name off each end of a text, if it stands there.
func withoutWrapper(text, name string) string {
	open, end := "<"+name+">", "</"+name+">"
	if strings.HasPrefix(text, open) {
		if inner, rest, found := strings.Cut(text, end); found {
			text = withoutPointer(rest, inner)
		}
	}
	if trimmed := strings.TrimRight(text, " \t\r\n"); strings.HasSuffix(trimmed, end) {
		if at := strings.LastIndex(trimmed, open); at >= 0 {
			text = trimmed[:at]
		}
	}
	return text
}

// withoutPointer takes the line off that Claude Code puts behind a notice of a task: where its output lies, as the
// notice says, too.
func withoutPointer(text, notice string) string {
	file, ok := element(notice, "output-file")
	if !ok {
		return text
	}
	trimmed := strings.TrimSpace(text)
	for _, says := range [...]string{"Read the output file to retrieve the result: ", "Full transcript available at: "} {
		if rest, is := strings.CutPrefix(trimmed, says+file); is && (rest == "" || rest[0] == '\n') {
			return rest
		}
	}
	return text
}

// element is what stands in the first element of a name, without white space around it.
func element(text, name string) (inner string, ok bool) {
	_, rest, ok := strings.Cut(text, "<"+name+">")
	if !ok {
		return "", false
	}
	inner, _, ok = strings.Cut(rest, "</"+name+">")
	return strings.TrimSpace(inner), ok
}

// Speaks reports whether the user says or shows something in an item: not all of it is the client's.
func Speaks(r *Request, it *Item) bool {
	if it.Role != User {
		return false
	}
	parts, err := r.Parts(it)
	for _, p := range parts {
		if p.Kind != TextPart || OwnWords(string(span.TextOf(p.Value.Of(r.Body)))) != "" {
			return true
		}
	}
	return err != nil || len(parts) == 0
}
