package replay

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// At most so many names and lines are taken from the calls of one answer.
const (
	maxNames = 60
	maxLines = 40
)

// name is a text that the arguments of a call have in common with what was said before: a path, an identifier, a
// number, a quoted text or a whole line.
type name struct {
	text   string
	isWord bool // it counts only where no letter, digit or underscore touches it
	isLine bool
}

var (
	paths = regexp.MustCompile(`[~.]{0,2}/?[\p{L}\p{N}_.@+-]+(?:/[\p{L}\p{N}_.@+-]+)+`)
	words = regexp.MustCompile(`[A-Za-z_$][\p{L}\p{N}_$]*(?:\.[A-Za-z_$][\p{L}\p{N}_$]*)+|[\p{L}\p{N}_]+`)
	texts = regexp.MustCompile("\"[^\"\n]{8,80}\"|'[^'\n]{8,80}'|`[^`\n]{8,80}`")

	mixed  = regexp.MustCompile(`[A-Za-z0-9]_[A-Za-z0-9]|^[A-Za-z]*[a-z0-9][A-Z]`) // snake_case or camelCase
	number = regexp.MustCompile(`^\p{Nd}{4,}$`)
)

// namesIn returns the names in text, each once, in the order of their first place: paths, dotted words, snake_case and
// camelCase words, integers of four digits and more, and quoted texts of 8 to 80 characters.
func namesIn(text string) []name {
	type place struct {
		name
		start int
	}
	var all []place
	for _, at := range paths.FindAllStringIndex(text, -1) {
		all = append(all, place{name{text: text[at[0]:at[1]], isWord: true}, at[0]})
	}
	for _, at := range words.FindAllStringIndex(text, -1) {
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

	var names []name
	seen := map[string]bool{}
	for _, p := range all {
		if p.isWord {
			p.text = strings.Trim(p.text, ".")
		}
		if size := utf8.RuneCountInString(p.text); size < 4 || size > 200 || seen[p.text] {
			continue
		}
		if names = append(names, p.name); len(names) == maxNames {
			break
		}
		seen[p.text] = true
	}
	return names
}

// longLinesIn returns the lines of text with 24 to 300 characters, each once and without the marks of a patch: the
// lines that an edit repeats from a file.
func longLinesIn(text string) []name {
	var lines []name
	seen := map[string]bool{}
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimRightFunc(strings.TrimLeft(line, "+- \t"), unicode.IsSpace)
		size := utf8.RuneCountInString(line)
		if size < 24 || size > 300 || seen[line] {
			continue
		}
		if lines = append(lines, name{text: line, isLine: true}); len(lines) == maxLines {
			break
		}
		seen[line] = true
	}
	return lines
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

// valuesIn returns the values in the arguments of a call, a line each: strings as they read, others as they are
// written. Arguments that are no JSON object have none.
func valuesIn(arguments string) []string {
	if !gjson.Valid(arguments) || !gjson.Parse(arguments).IsObject() {
		return nil
	}
	var values []string
	var walk func(v gjson.Result)
	walk = func(v gjson.Result) {
		switch v.Type {
		case gjson.String:
			values = append(values, v.Str)
		case gjson.JSON:
			v.ForEach(func(_, value gjson.Result) bool {
				walk(value)
				return true
			})
		default:
			values = append(values, v.Raw)
		}
	}
	walk(gjson.Parse(arguments))
	return values
}
