package summarize

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"epitome/dialect/activity"
	"epitome/dialect/conversation"
	"epitome/offload"
	"epitome/offload/excerpt"
)

// fileForm matches names of files by their ending: a word in prose rarely has one.
var fileForm = regexp.MustCompile(`^[\w./-]*\w\.[a-z]{1,4}$`)

// doubts returns lines about a message of the agent in item i, and what it says: files that nothing before it names, so
// that no call can have written them, and the last command before it, if that failed. A model that goes on believes its
// own words, whatever calls have shown.
func (s *summary) doubts(i int, said string) (text string) {
	const mostNames = 3
	before := s.Request.Body[:s.Request.Items[i].Span.Start]
	var unknown []string
	for _, name := range namesIn(said) {
		isFile := fileForm.MatchString(name) && len(unknown) < mostNames && !slices.Contains(unknown, name)
		if isFile && !bytes.Contains(before, []byte(path.Base(name))) {
			unknown = append(unknown, name)
			text += fmt.Sprintf("(no call before this names %s)\n", name)
		}
	}
	if c := s.lastFailure(i); c != nil {
		text += fmt.Sprintf("(when it last ran before this, `%s` %s)\n", excerpt.OneLine(c.About, 100), c.State())
	}
	return text
}

// unknownNames returns a line with the names and long numbers of a model's text that nothing in the conversation has;
// nothing if there are none. A model that updates its own text would believe them for ever. Of many names and a large
// conversation, only the first names are looked up.
func (s *summary) unknownNames(text string) string {
	const most, mostBytes = 8, 512 << 20 // names; bytes that are searched for all of them
	var list []string
	searched := 0
	isUnknown := func(word string) bool {
		if searched > mostBytes {
			return false
		}
		before, _, isKnown := bytes.Cut(s.Request.Body, []byte(word))
		searched += len(before)
		return !isKnown
	}
	for _, name := range append(namesIn(text), longNumber.FindAllString(text, -1)...) {
		if len(list) < most && !slices.Contains(list, name) && hasUnknownPiece(name, isUnknown) {
			list = append(list, name)
		}
	}
	if len(list) == 0 {
		return ""
	}
	return "\n(nothing in the conversation has: " + strings.Join(list, ", ") + ")"
}

// longNumber matches numbers that a reader may look up or copy. Shorter ones may be counts, of lines in a stub too.
var longNumber = regexp.MustCompile(`\b\d{5,}\b`)

// hasUnknownPiece reports whether a piece of a path that looks like a name itself stands nowhere in the conversation.
// Models write a/b for one or the other and Type.method for two words of a file, but put together no name of a file.
func hasUnknownPiece(name string, isUnknown func(word string) bool) bool {
	if !isUnknown(name) || offload.IsName(path.Base(name)) { // an artifact's name stands in what is sent alone
		return false
	}
	for _, piece := range strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("/:@", r) }) {
		isName := nameForm.MatchString(piece) || longNumber.MatchString(piece)
		isFile := fileForm.MatchString(piece)
		if isName && isUnknown(piece) && (isFile || slices.ContainsFunc(strings.Split(piece, "."), isUnknown)) {
			return true
		}
	}
	return false
}

// lastFailure returns the newest command since the user's last message before item i that failed when it was run last,
// and whose output says so; nil if there is none.
func (s *summary) lastFailure(i int) *activity.Call {
	ran := map[string]bool{}
	for k := range slices.Backward(s.Calls) {
		c := &s.Calls[k]
		if c.Item >= i || c.Kind != activity.Run {
			continue
		}
		if c.Failed() && !ran[c.About] && c.Failure(c.ResultText(s.Request)) != "" {
			if c.Item < s.turnOf(i) {
				return nil
			}
			return c
		}
		ran[c.About] = true
	}
	return nil
}

// turnOf returns the item of the user's last message before item i; 0 if there is none.
func (s *summary) turnOf(i int) int {
	for k := i - 1; k > 0; k-- {
		it := &s.Request.Items[k]
		if it.Role == conversation.User && s.Request.OwnWords(it) != "" {
			return k
		}
	}
	return 0
}

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
