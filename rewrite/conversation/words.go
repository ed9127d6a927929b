package conversation

import (
	"fmt"
	"regexp"
	"strings"

	"epitome/rewrite/excerpt"
	"epitome/rewrite/jsonspan"
)

// clientText matches text that clients put into user messages: elements with one of clientTags (reminders, notices,
// outputs of local commands), slash commands without arguments, and whole texts that begin as only clients write.
var clientText = regexp.MustCompile(`(?ms)^\s*<(?:` + clientTags + `)\b[^>]*>.*?</(?:` + clientTags + `)>|` +
	`\A(?:\s*<command-(?:name|message)>[^<]*</command-(?:name|message)>)+` +
	`(?:\s*<command-args>\s*</command-args>)?\s*\z|` +
	`\A\s*(?:Caveat: The messages below|Base directory for this skill: |\[Request interrupted by user).*`)

const clientTags = `system[-_]reminder|local-command-\w+|bash-\w+|task-notification|ide_opened_file|ide_selection|` +
	`current_datetime|environment_\w+|skill|turn_aborted|subagent_notification|user-prompt-submit-hook`

// OwnWords returns the texts of an item without the texts that the client put in: what the user typed.
func (r *Request) OwnWords(it *Item) string {
	var own []string
	for _, text := range r.texts(it) {
		if text = strings.TrimSpace(clientText.ReplaceAllString(text, "")); text != "" {
			own = append(own, text)
		}
	}
	return strings.Join(own, "\n")
}

// keepLine matches the lines by which a user says what every summary has to hold.
var keepLine = regexp.MustCompile(`(?im)^keep:[^\r\n]*`)

// KeepLines returns the lines of items [first, end) that begin with "keep:", in any case, in what the user typed.
func (r *Request) KeepLines(first, end int) (lines []string) {
	for i := first; i < end; i++ {
		if it := &r.Items[i]; it.Role == User {
			lines = append(lines, keepLine.FindAllString(r.OwnWords(it), -1)...)
		}
	}
	return lines
}

// Title returns the beginning of what the user typed first, for people to tell conversations apart.
func (r *Request) Title() string {
	for i := range r.Items {
		if words := r.OwnWords(&r.Items[i]); r.Items[i].Role == User && words != "" {
			return excerpt.OneLine(words, 60)
		}
	}
	return ""
}

// TextOf returns the texts of an item's parts, joined by line breaks.
func (r *Request) TextOf(it *Item) string { return strings.Join(r.texts(it), "\n") }

func (r *Request) texts(it *Item) (texts []string) {
	for _, p := range it.Parts {
		if p.Kind == TextPart {
			texts = append(texts, string(jsonspan.TextOf(p.Value.Of(r.Body))))
		}
	}
	return texts
}

// Media counts the media of an item in words, such as "2 pictures and 1 document"; "" if it has none.
func (it *Item) Media() string {
	var list []string
	for kind, name := range [...]string{ImagePart: "picture", AudioPart: "recording", FilePart: "document"} {
		n := 0
		for _, p := range it.Parts {
			if p.Kind == PartKind(kind) && name != "" { // kinds that are not media have no name in the table
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
