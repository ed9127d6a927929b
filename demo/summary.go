package demo

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// How the model answers when epitome asks it for a summary. It is no language model: it copies lines of the
// conversation that say of themselves what they are, and identifiers. Of what it was not given it knows nothing.

var (
	askedHeading = regexp.MustCompile(`(?m)^## ([A-Z][A-Za-z ]+)\n\[`)
	askedLength  = regexp.MustCompile(`at most about (\d+) tokens`)
	critical     = regexp.MustCompile(`\b(?:CHG-\d{5}|tr-[0-9a-f]{8})\b`)
)

// noted returns the beginning of a section's lines, as the assistant, the user and the model's own summaries write
// them.
func noted(heading string) string {
	return map[string]string{
		"Goal": "Goal: ", "Constraints": "Rule: ", "Progress": "Done: ", "Key Decisions": "Decision: ",
		"Failed Approaches": "Tried: ",
		"Open Issues":       "Open: ", "Next Steps": "Next: ",
	}[heading]
}

// asksForSummary reports whether a request is epitome's own: its last message is a user's, and asks for sections.
func asksForSummary(v *view) bool {
	if len(v.messages) == 0 {
		return false
	}
	last := v.messages[len(v.messages)-1]
	return last.Role == "user" && strings.Contains(string(last.Content), "\n## Goal\n[") &&
		strings.Contains(string(last.Content), "\n## Next Steps\n[")
}

const tokensPerNote = 40 // about, so that a summary keeps within what it is asked for

// summaryOf fills the sections that are asked for.
func summaryOf(v *view) string {
	instruction := string(v.messages[len(v.messages)-1].Content)
	headings := askedHeading.FindAllStringSubmatch(instruction, -1)
	most := 6
	if m := askedLength.FindStringSubmatch(instruction); m != nil {
		n, _ := strconv.Atoi(m[1])
		most = min(max(n/tokensPerNote/max(len(headings), 1), 1), most)
	}
	var all strings.Builder
	for _, m := range v.messages {
		all.WriteString(string(m.Content) + "\n")
	}
	var b strings.Builder
	for _, h := range headings {
		b.WriteString("## " + h[1] + "\n")
		list := notes(all.String(), h[1])
		for _, note := range list[max(len(list)-most, 0):] {
			b.WriteString("- " + note + "\n")
		}
		if len(list) == 0 {
			b.WriteString("none\n")
		}
	}
	return b.String()
}

// notes returns the lines of a section, each once, the oldest first.
func notes(conversation, heading string) (list []string) {
	add := func(note string) {
		if !slices.Contains(list, note) {
			list = append(list, note)
		}
	}
	mark := noted(heading)
	if mark == "" {
		for _, name := range critical.FindAllString(conversation, -1) {
			add(name)
		}
		return list
	}
	for l := range strings.Lines(conversation) {
		if l = strings.TrimPrefix(strings.TrimSpace(l), "- "); strings.HasPrefix(l, mark) {
			add(l)
		}
	}
	return list
}
