package conversation

import (
	"fmt"
	"regexp"
	"strings"

	"epitome/rewrite/jsonspan"
)

// clientTags match what clients put around the user's words: reminders, notices, outputs of local commands.
var clientTags = regexp.MustCompile(`(?s)^\s*(?:<(system-reminder|local-command-caveat|local-command-stdout|` +
	`local-command-stderr|bash-stdout|bash-stderr|task-notification|ide_opened_file|ide_selection|current_datetime|` +
	`system_reminder|environment_details|environment_context)>)`)

// OwnWords returns a text of the user's without the notices that clients put before and behind it.
func OwnWords(text string) string {
	for {
		m := clientTags.FindStringSubmatch(text)
		if m == nil {
			break
		}
		_, rest, closed := strings.Cut(text, "</"+m[1]+">")
		if !closed {
			break
		}
		text = rest
	}
	for {
		trimmed := strings.TrimRight(text, " \t\r\n")
		open := strings.LastIndex(trimmed, "\n<")
		m := clientTags.FindStringSubmatch(trimmed[open+1:])
		if open < 0 || m == nil || !strings.HasSuffix(trimmed, "</"+m[1]+">") {
			break
		}
		text = trimmed[:open]
	}
	return strings.TrimSpace(text)
}

// TextOf returns all that an item says in texts, parts joined by line breaks.
func (r *Request) TextOf(it *Item) string {
	if len(it.Parts) == 1 && it.Parts[0].Kind == TextPart {
		return string(jsonspan.TextOf(it.Parts[0].Value.Of(r.Body)))
	}
	var texts []string
	for _, p := range it.Parts {
		if p.Kind == TextPart {
			texts = append(texts, string(jsonspan.TextOf(p.Value.Of(r.Body))))
		}
	}
	return strings.Join(texts, "\n")
}

// Speaks reports whether the user says something of their own in an item.
func (r *Request) Speaks(it *Item) bool {
	if it.Role != User {
		return false
	}
	for _, p := range it.Parts {
		if p.Kind != TextPart || OwnWords(string(jsonspan.TextOf(p.Value.Of(r.Body)))) != "" {
			return true
		}
	}
	return len(it.Parts) == 0
}

// Media says how many pictures, recordings and documents an item holds; empty if it holds none.
func (it *Item) Media() string {
	var list []string
	for _, kind := range [...]PartKind{ImagePart, AudioPart, FilePart} {
		n := 0
		for k := range it.Parts {
			if it.Parts[k].Kind == kind {
				n++
			}
		}
		switch {
		case n == 1:
			list = append(list, "1 "+kind.String())
		case n > 1:
			list = append(list, fmt.Sprintf("%d %ss", n, kind))
		}
	}
	return strings.Join(list, " and ")
}
