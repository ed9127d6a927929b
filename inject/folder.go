package inject

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"epitome/internal/lazyregexp"
	"epitome/rewrite/conversation"
	"epitome/rewrite/jsonspan"
)

// Folder returns the folder in which an agent says that it works, before the model first speaks: an absolute path on
// one line; empty if it says nothing. The system prompt counts before the user's messages, and what an agent writes in
// an element of its own before lines of a text, which may quote a file.
func Folder(r *conversation.Request) string {
	var system, user []string
	for _, text := range r.Prompts {
		system = append(system, string(jsonspan.TextOf(text.Of(r.Body))))
	}
	for i := range r.Items[:r.Head] {
		it := &r.Items[i]
		for _, p := range it.Parts {
			text := string(jsonspan.TextOf(p.Value.Of(r.Body)))
			switch {
			case p.Kind != conversation.TextPart:
			case it.Role == conversation.System:
				system = append(system, text)
			case it.Role == conversation.User:
				user = append(user, text)
			}
		}
	}
	for _, texts := range [...][]string{system, user} {
		for _, find := range [...]func(string) string{folderInElement, folderInLine} {
			for _, text := range texts {
				if path := find(text); path != "" {
					return path
				}
			}
		}
	}
	return ""
}

// folderInElement finds the folder in a text that Codex writes.
func folderInElement(text string) string {
	if !strings.HasPrefix(text, "<environment_context>") {
		return ""
	}
	_, rest, _ := strings.Cut(text, "<cwd>")
	path, _, closed := strings.Cut(rest, "</cwd>")
	if !closed {
		return ""
	}
	return cleanPath(path)
}

// folderLabel matches a line that names the folder, as most other agents write it, maybe in a list.
var folderLabel = lazyregexp.New(`(?i)^[ *0-9.-]{0,12}` +
	`(?:(?:current |primary )?working directory|I'm currently working in the directory): (.*)$`)

// folderInLine finds the folder behind a label.
func folderInLine(text string) string {
	for line := range strings.Lines(text) {
		if !strings.Contains(line, "irectory: ") {
			continue
		}
		if m := folderLabel().FindStringSubmatch(strings.TrimRight(line, "\r\n")); m != nil {
			if path := cleanPath(m[1]); path != "" {
				return path
			}
		}
	}
	return ""
}

// cleanPath returns a path without a slash at its end; empty if it is not absolute, or no path on one line.
func cleanPath(path string) string {
	const most = 200 // characters
	if path = strings.TrimSpace(path); len(path) > 1 {
		path = strings.TrimRight(path, "/")
	}
	isOdd := func(r rune) bool { return r == utf8.RuneError || unicode.IsControl(r) }
	isDrive := len(path) > 2 && unicode.IsLetter(rune(path[0])) && path[1] == ':' && strings.ContainsAny(path[2:3], `\/`)
	isAbsolute := strings.HasPrefix(path, "/") || strings.HasPrefix(path, "~/") || isDrive
	if !isAbsolute || utf8.RuneCountInString(path) > most || strings.ContainsFunc(path, isOdd) {
		return ""
	}
	return path
}
