package ending

import (
	"strings"

	"epitome/pattern"
)

// refusalForm finds how the answer to a call begins that was not allowed to do anything, or found nothing to change.
var refusalForm = pattern.Of(`(?i)^\W*(?:no match(?:es)? (?:was |were )?found for|could not find the exact text|(?:the )?string to replace (?:was )?not found|` +
	`apply_patch verification failed|patch rejected|invalid (?:patch|hunk)\b|` +
	`no (?:changes|edits|replacements?) (?:was |were )?(?:made|performed)|(?:permission|access) denied|e(?:acces|perm|rofs)\b|` +
	`(?:the )?user (?:doesn't want|does not want|did not|didn't|rejected|denied|declined|refused|cancell?ed|interrupted)|` +
	`(?:the |this )?(?:request|operation|edit|write|changes?|tool (?:use|call)) (?:was |were |has been |is |are )?` +
	`(?:rejected|denied|declined|refused|cancell?ed|interrupted|aborted|blocked|not (?:allowed|permitted|approved|applied)))`)

// SaysRefusal reports whether the answer to a call that writes files begins as one does that wrote nothing.
func SaysRefusal(text string) bool { return refusalForm.MatchString(text) }

// SaysNoFile reports whether a result speaks of a file that could not be read. A file that is short may say so too.
func SaysNoFile(text string) bool {
	const most = 1_000 // bytes; what is longer shows something
	if len(text) > most {
		return false
	}
	text = strings.ToLower(text)
	for _, words := range [...]string{"no such file", "not exist", "not found", "cannot find", "can't find", "could not find",
		"couldn't find", "cannot open", "can't open", "could not read", "enoent", "permission denied", "access denied",
		"not permitted", "is a directory", "not a file"} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}

// doneForm finds how the answer of a tool begins that says that it wrote a file.
var doneForm = pattern.Of(`(?i)^(?:the file \S+ (?:has been|was) (?:updated|created|edited|written)|` +
	`file (?:created|updated|written|edited) successfully|success(?:fully\b|[.:!]|$)|created file \S|wrote \d)`)
