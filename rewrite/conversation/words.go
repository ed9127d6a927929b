package conversation

import (
	"fmt"
	"regexp"
	"strings"

	"epitome/rewrite/jsonspan"
)

// ofClient matches what clients put among the user's words: reminders, notices, outputs of local commands, commands
// without arguments, and texts that are theirs as a whole.
var ofClient = regexp.MustCompile(`(?ms)^\s*<(?:` + clientTags + `)\b[^>]*>.*?</(?:` + clientTags + `)>|` +
	`\A\s*<command-(?:name|message)>.*<command-args>\s*</command-args>\s*\z|` +
	`\A\s*(?:Caveat: The messages below|Base directory for this skill: |\[Request interrupted by user).*`)

const clientTags = `system[-_]reminder|local-command-\w+|bash-\w+|task-notification|ide_opened_file|ide_selection|` +
	`current_datetime|environment_\w+|skill|turn_aborted|subagent_notification|user-prompt-submit-hook`

// OwnWords returns what the user says in an item, without what clients put in.
func (r *Request) OwnWords(it *Item) string {
	var own []string
	for _, text := range r.texts(it) {
		if text = strings.TrimSpace(ofClient.ReplaceAllString(text, "")); text != "" {
			own = append(own, text)
		}
	}
	return strings.Join(own, "\n")
}

// Speaks reports whether the user says or shows something of their own in an item.
func (r *Request) Speaks(it *Item) bool {
	return it.Role == User && (it.Media() != "" || r.OwnWords(it) != "")
}

// TextOf returns all that an item says in texts, parts joined by line breaks.
func (r *Request) TextOf(it *Item) string { return strings.Join(r.texts(it), "\n") }

func (r *Request) texts(it *Item) (texts []string) {
	for _, p := range it.Parts {
		if p.Kind == TextPart {
			texts = append(texts, string(jsonspan.TextOf(p.Value.Of(r.Body))))
		}
	}
	return texts
}

// Media says how many pictures, recordings and documents an item holds; empty if it holds none.
func (it *Item) Media() string {
	var list []string
	for kind, name := range [...]string{ImagePart: "picture", AudioPart: "recording", FilePart: "document"} {
		n := 0
		for _, p := range it.Parts {
			if p.Kind == PartKind(kind) && name != "" {
				n++
			}
		}
		switch {
		case n == 1:
			list = append(list, "1 "+name)
		case n > 1:
			list = append(list, fmt.Sprintf("%d %ss", n, name))
		}
	}
	return strings.Join(list, " and ")
}
