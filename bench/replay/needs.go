package replay

import (
	"cmp"
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
)

// At most so many names and lines are taken from the calls of one answer.
const (
	maxNames = 60
	maxLines = 40
)

// need is a name or line in the calls of an answer that messages before the answer contain.
type need struct {
	name
	isOld  bool  // the newest of the messages is more than five answers back
	places []int // of the messages, in order
}

// name is a text that the arguments of a call may have in common with what was said before: a path, an identifier, a
// number, a quoted text or a whole line.
type name struct {
	text   string
	isWord bool // it counts only where no letter, digit or underscore touches it
	isLine bool
}

var (
	paths = matching("paths")
	words = matching("words")
	texts = regexp.MustCompile("\"[^\"\n]{8,80}\"|'[^'\n]{8,80}'|`[^`\n]{8,80}`")

	mixed  = regexp.MustCompile(`[A-Za-z0-9]_[A-Za-z0-9]|^[A-Za-z]*[a-z0-9][A-Z]`) // snake_case or camelCase
	number = regexp.MustCompile(`^\p{Nd}{4,}$`)
)

// findNeeds sets the needs of all turns. No answer to the last request is known, so it has none.
func (s *session) findNeeds() {
	const old = 5 // answers
	places := map[name][]int{}
	for t := range s.turns[:len(s.turns)-1] {
		turn := &s.turns[t]
		args := s.whole.messages[turn.end].args
		for _, n := range append(namesIn(args), longLinesIn(args)...) {
			at, isKnown := places[n]
			if !isKnown {
				at = s.placesOf(n)
				places[n] = at
			}
			before, _ := slices.BinarySearch(at, turn.end)
			if before > 0 {
				isOld := t >= old && at[before-1] < s.turns[t-old].end
				turn.needs = append(turn.needs, need{n, isOld, at[:before]})
			}
		}
	}
}

// placesOf returns the places of the messages that have a name.
func (s *session) placesOf(n name) (places []int) {
	for i, m := range s.whole.messages {
		if n.isIn(m.text) {
			places = append(places, i)
		}
	}
	return places
}

// namesIn returns the names in text, each once, in the order of their first place: paths, dotted words, snake_case and
// camelCase words, integers of four digits and more, and quoted texts of 8 to 80 characters.
func namesIn(text string) (names []name) {
	type place struct {
		name
		start int
	}
	var all []place
	for _, at := range paths().FindAllStringIndex(text, -1) {
		all = append(all, place{name{text: text[at[0]:at[1]], isWord: true}, at[0]})
	}
	for _, at := range words().FindAllStringIndex(text, -1) {
		word := text[at[0]:at[1]]
		isFraction := at[0] > 0 && text[at[0]-1] == '.' || at[1] < len(text) && text[at[1]] == '.'
		if strings.Contains(word, ".") || mixed.MatchString(word) || !isFraction && number.MatchString(word) {
			all = append(all, place{name{text: word, isWord: true}, at[0]})
		}
	}
	for _, at := range texts.FindAllStringIndex(text, -1) {
		all = append(all, place{name{text: text[at[0]+1 : at[1]-1]}, at[0]})
	}
	slices.SortFunc(all, func(a, b place) int { return cmp.Or(a.start-b.start, strings.Compare(a.text, b.text)) })
	for _, p := range all {
		if p.isWord {
			p.text = strings.Trim(p.text, ".")
		}
		if len(names) < maxNames {
			names = appendNew(names, p.name, 4, 200)
		}
	}
	return names
}

// longLinesIn returns the lines of text with 24 to 300 characters, each once and without the marks of a patch: the
// lines that an edit repeats from a file.
func longLinesIn(text string) (lines []name) {
	for line := range strings.SplitSeq(text, "\n") {
		if len(lines) == maxLines {
			break
		}
		line = strings.TrimRightFunc(strings.TrimLeft(line, "+- \t"), unicode.IsSpace)
		lines = appendNew(lines, name{text: line, isLine: true}, 24, 300)
	}
	return lines
}

// appendNew appends a name that has between least and most characters, unless one of names has its text.
func appendNew(names []name, n name, least, most int) []name {
	size := utf8.RuneCountInString(n.text)
	if size < least || size > most || slices.ContainsFunc(names, func(o name) bool { return o.text == n.text }) {
		return names
	}
	return append(names, n)
}

// isIn reports whether text contains the name.
func (n name) isIn(text string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], n.text)
		if i < 0 {
			return false
		}
		from += i
		before, _ := utf8.DecodeLastRuneInString(text[:from])
		after, _ := utf8.DecodeRuneInString(text[from+len(n.text):])
		if !n.isWord || !inWord(before) && !inWord(after) {
			return true
		}
		from++
	}
}

func inWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) }

// Nothing that is measured knows the rules in rules.toml: which lines of an output tell what went wrong.
//
//go:embed rules.toml
var rulesText []byte

// rules has the lists of rules by their names.
var rules = sync.OnceValue(func() (lists map[string][]string) {
	err := toml.Unmarshal(rulesText, &lists)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return lists
})

// matching returns an expression that matches where one in a list does. It is compiled when it is first needed: no
// other command should wait for it.
func matching(list string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(strings.Join(rules()[list], "|")) })
}

var (
	success       = matching("success")
	failure       = matching("failure")
	failureWithin = matching("failureWithin")
	harmless      = matching("harmless")
	source        = matching("source")
)

// failuresIn returns the distinct lines of an output that tell what went wrong, as they are shown.
func failuresIn(text string) (lines []string) {
	seen := map[string]bool{}
	for line := range strings.SplitSeq(text, "\n") {
		line = shown(line)
		if !seen[line] && isFailure(line) {
			lines = append(lines, line)
		}
		seen[line] = true
	}
	return lines
}

// isFailure reports whether a line tells what went wrong. Lines of more than 1000 bytes, such as data, never do.
func isFailure(line string) bool {
	switch {
	case len(line) > 1000 || success().MatchString(line):
		return false
	case failure().MatchString(line):
		return true
	case source().MatchString(line):
		return false
	}
	return failureWithin().MatchString(harmless().ReplaceAllString(line, " "))
}
