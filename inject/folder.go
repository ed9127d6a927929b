package inject

import (
	"cmp"
	"regexp"
	"strings"
	"sync"

	"epitome/dialect/conversation"
	"epitome/dialect/jsonspan"
)

// The folder in which an agent works, as Codex writes it and as most other agents do, maybe in a list: an absolute path
// of up to 200 characters.
const path = `((?:~?/|[A-Za-z]:[\\/])[^<\r\n]{0,198})`

var folderExprs = sync.OnceValue(func() []*regexp.Regexp {
	return []*regexp.Regexp{regexp.MustCompile(`^<environment_context>(?s:.*?)<cwd>` + path + `</cwd>`),
		regexp.MustCompile(`(?im)^[ *0-9.-]{0,12}(?:(?:current |primary )?working directory|` +
			`I'm currently working in the directory): ` + path + `\r?$`)}
})

// Folder returns the folder in which an agent says that it works, before the model first speaks; empty if it says
// nothing. The system prompt counts before the user's messages, and an element that an agent writes before a line of
// any text, which may quote a file.
func Folder(r *conversation.Request) string {
	var system, user []string
	for _, text := range r.Prompts {
		system = append(system, string(jsonspan.TextOf(text.Of(r.Body))))
	}
	for i := range r.Items[:r.Head] {
		it := &r.Items[i]
		for _, p := range it.Parts {
			switch text := string(jsonspan.TextOf(p.Value.Of(r.Body))); {
			case p.Kind != conversation.TextPart:
			case it.Role == conversation.System:
				system = append(system, text)
			case it.Role == conversation.User:
				user = append(user, text)
			}
		}
	}
	for _, texts := range [...][]string{system, user} {
		for _, expr := range folderExprs() {
			for _, text := range texts {
				if !strings.Contains(text, "irectory: ") && !strings.Contains(text, "<cwd>") {
					continue // expressions are slow on long texts
				}
				if found := expr.FindStringSubmatch(text); found != nil {
					return cmp.Or(strings.TrimRight(found[1], "/ "), "/")
				}
			}
		}
	}
	return ""
}
