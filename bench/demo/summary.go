package demo

import (
	"slices"
	"strconv"
	"strings"

	"epitome/internal/lazyregexp"
)

// How the model answers when epitome asks it for a summary. It is no language model: it copies lines of the
// conversation that say of themselves what they are, identifiers, and its calls with the beginning of what came of
// them, until the summary is about as long as it may be. Of what it was not given it knows nothing.

var (
	askedHeading = lazyregexp.New(`(?m)^## ([A-Z][A-Za-z ]+)\n\[`)
	askedLength  = lazyregexp.New(`at most about (\d+) tokens`)
	critical     = lazyregexp.New(`\b(?:CHG-\d{5}|tr-[0-9a-f]{8})\b`)
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

// A summary keeps within what it is asked for, about.
const (
	tokensPerNote = 40
	bytesPerToken = 3
	longestDeed   = 90 // characters of a call's arguments, and of the line that came of it
)

// summaryOf fills the sections that are asked for.
func summaryOf(v *view) string {
	instruction := string(v.messages[len(v.messages)-1].Content)
	headings := grouped(askedHeading(), instruction)
	most, tokens := 6, 0
	if m := askedLength().FindStringSubmatch(instruction); m != nil {
		tokens, _ = strconv.Atoi(m[1])
		most = min(max(tokens/tokensPerNote/max(len(headings), 1), 1), most)
	}
	var all strings.Builder
	for _, m := range v.messages {
		all.WriteString(string(m.Content) + "\n")
	}
	sections := make([]string, len(headings))
	room := tokens * bytesPerToken
	for i, h := range headings {
		list := notes(all.String(), h)
		sections[i] = "## " + h + "\n" + listed(list[max(len(list)-most, 0):])
		if len(list) == 0 {
			sections[i] += "none\n"
		}
		room -= len(sections[i])
	}
	for i, h := range headings {
		if h == "Progress" {
			sections[i] += listed(deeds(v, room))
		}
	}
	return strings.Join(sections, "")
}

func listed(notes []string) string {
	var b strings.Builder
	for _, note := range notes {
		b.WriteString("- " + note + "\n")
	}
	return b.String()
}

// deeds returns the model's calls, each with the first line of what came of it: the latest that fit into room, in
// bytes, the oldest first.
func deeds(v *view, room int) (list []string) {
	results := map[string]string{}
	for i := len(v.messages) - 1; i >= 0; i-- {
		m := v.messages[i]
		if m.Role == "tool" {
			results[m.Answers], _, _ = strings.Cut(string(m.Content), "\n")
		}
		for _, c := range m.Calls {
			deed := "I called " + c.Function.Name + " " + clip(c.Function.Arguments, longestDeed) + ": " +
				clip(results[c.ID], longestDeed)
			if room -= len("- \n") + len(deed); room < 0 {
				slices.Reverse(list)
				return list
			}
			list = append(list, deed)
		}
	}
	slices.Reverse(list)
	return list
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
		for _, at := range critical().FindAllStringSubmatchIndex(conversation, -1) {
			add(conversation[at[0]:at[1]])
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
