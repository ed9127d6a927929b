package summarize

import (
	"regexp"
	"slices"
	"strings"

	"epitome/dialect/activity"
)

// longWord matches words of at least four letters or digits, without signs.
var longWord = regexp.MustCompile(`[A-Za-z]\w{3,}`)

// nameForm matches words that look like a name: a path, words joined by dots or underscores, a word with a capital
// inside, a number of at least six digits.
var nameForm = regexp.MustCompile(`^\d{6,}$|[a-z][A-Z]|[A-Za-z](?:.*\w)?[./]\w|[A-Za-z].*_`)

// wordsIn returns the words of a text that have at least four characters, letters or signs of paths, without the signs
// at their ends.
func wordsIn(text string) (list []string) {
	const signs = "./:@+~$-"
	isBetween := func(c rune) bool {
		isLetter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
		return !isLetter && !strings.ContainsRune(signs, c)
	}
	for w := range strings.FieldsFuncSeq(text, isBetween) {
		if len(w) >= 4 {
			list = append(list, strings.Trim(w, signs))
		}
	}
	return list
}

// namesIn returns the words of a text that look like names, of files or in code.
func namesIn(text string) []string {
	const longest = 80 // bytes
	isName := func(w string) bool { return len(w) <= longest && nameForm.MatchString(w) }
	return slices.DeleteFunc(wordsIn(text), func(w string) bool { return !isName(w) })
}

// names says for which names linesToQuote quotes a line of a result: those used after it and not shown.
type names struct {
	shown map[string]bool // names that the agent sees anyway: in the summary, or in messages that are sent whole
	used  map[string]int  // index of the last item with a call that has the name in its arguments
}

// collectNames collects the names in the summary so far, in what is sent whole, and in calls from the span's start on.
func (s *summary) collectNames() *names {
	n := &names{shown: map[string]bool{}, used: map[string]int{}}
	n.markShown(s.String())
	for _, text := range s.Sent {
		n.markShown(text)
	}
	for i := s.From; i < len(s.Request.Items); i++ { // those behind the span show what the agent works on now
		for k := range s.Request.Items[i].Calls {
			for _, name := range namesIn(activity.Texts(s.Request.Body, &s.Request.Items[i].Calls[k])) {
				n.used[name] = i
			}
		}
	}
	return n
}

func (n *names) markShown(text string) {
	for _, name := range namesIn(text) {
		n.shown[name] = true
	}
}
