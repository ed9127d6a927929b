package intext

import (
	"slices"
	"strings"

	"epitome/pattern"
)

// kept are elements of calls that hold what the agent says to the user.
var kept = [...]string{"result", "question", "response"}

// WithoutCalls is what an agent says in a text, without the calls in it: elements with the name of a tool, which are
// taken out where a client answers one, and blocks that edit a file, with the name of that file above. Answers of
// Aider's own in the agent's name say nothing.
func WithoutCalls(text string, isAnswered bool) string {
	switch strings.TrimSpace(text) {
	case "Ok.", "Ok, any changes I propose will be to those files.":
		return ""
	}
	if isAnswered || strings.Contains(text, "\n</") {
		text = withoutElements(text, isAnswered)
	}
	if strings.Contains(text, "<<<<<<< SEARCH") {
		text = withoutEdits(text)
	}
	return text
}

// speaks reports whether a tool does nothing but to speak to the user.
func speaks(tool string) bool {
	switch tool {
	case "ask_followup_question", "plan_mode_respond", "plan_mode_response", "attempt_completion":
		return true
	}
	return false
}

// opens finds a line that begins the call of a tool.
var opens = pattern.Of(`^<([a-z]+(?:_[a-z]+)+)>$`)

// withoutElements leaves out calls that are elements, but for what they say to the user: where no client has answered
// one, those that do nothing else.
func withoutElements(text string, isAnswered bool) string {
	var s strings.Builder
	end, within := "", "" // of the call, and the element of it that is kept
	for line := range strings.Lines(text) {
		bare := strings.TrimSpace(line)
		if end == "" {
			if m := opens.FindStringSubmatch(bare); m != nil && (isAnswered || speaks(m[1])) {
				end = "</" + m[1] + ">"
			} else {
				s.WriteString(line)
			}
			continue
		}
		if bare == end {
			end, within = "", ""
			continue
		}
		if within == "" {
			line, within = keptIn(line)
		}
		if within != "" {
			said, _, closed := strings.Cut(line, "</"+within+">")
			if s.WriteString(strings.TrimRight(said, "\r\n") + "\n"); closed {
				within = ""
			}
		}
	}
	return s.String()
}

// editedIn are the files that blocks in a text edit, each once: their names stand above.
func editedIn(text string) (files []string) {
	if !strings.Contains(text, "<<<<<<< SEARCH") {
		return nil
	}
	var above [2]string // the lines before, the nearest first
	for line := range strings.SplitSeq(text, "\n") {
		bare := strings.TrimSpace(line)
		isEdit := strings.HasPrefix(bare, "<<<<<<< SEARCH") && strings.HasPrefix(above[0], "```")
		f := above[1]
		isName := f != "" && !strings.ContainsAny(f, " \t") && !slices.Contains(files, f)
		if isEdit && isName && len(files) < mostEdited {
			files = append(files, f)
		}
		above[0], above[1] = bare, above[0]
	}
	return files
}

// mostEdited is how many files of one text are told.
const mostEdited = 20

// keptIn is what a line begins with an element that is kept, and the name of that; as it is if it does not.
func keptIn(line string) (said, name string) {
	for _, name := range kept {
		if rest, found := strings.CutPrefix(strings.TrimSpace(line), "<"+name+">"); found {
			return rest + "\n", name
		}
	}
	return line, ""
}

// withoutEdits leaves out blocks that edit files, with their fences and the names of the files above.
func withoutEdits(text string) string {
	const fence = "```"
	var lines []string
	inBlock, isBehind := false, false
	for line := range strings.SplitSeq(text, "\n") {
		bare := strings.TrimSpace(line)
		switch {
		case inBlock:
			inBlock = !strings.HasPrefix(bare, ">>>>>>> REPLACE")
			isBehind = !inBlock
			continue
		case strings.HasPrefix(bare, "<<<<<<< SEARCH"):
			if n := len(lines) - 1; n >= 0 && strings.HasPrefix(lines[n], fence) {
				lines = lines[:n]
			}
			if n := len(lines) - 1; n >= 0 && !strings.ContainsAny(strings.TrimSpace(lines[n]), " \t") {
				lines = lines[:n]
			}
			inBlock = true
			continue
		case isBehind && bare == fence:
			isBehind = false
			continue
		}
		lines, isBehind = append(lines, line), false
	}
	return strings.Join(lines, "\n")
}
