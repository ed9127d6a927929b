package shorten

import (
	"cmp"
	"slices"
	"strings"
)

// What a whole name may be, in bytes.
const (
	shortestWhole = 4
	longestWhole  = 80
	mostRead      = 64 << 10 // of a text, from its beginning
)

// WholeNames returns the names of a text as they stand there between white space, quotes and brackets, the most
// frequent first, then the first in the text. Nothing is torn off them but punctuation around them and places in a file
// behind a path. A name that may begin with the letter of an escape is none. Of JSON it reads what its strings say, of
// a long text the beginning.
func WholeNames(text string) []string {
	text = Decoded(text)
	type found struct {
		name string
		n    int
	}
	var list []found
	place := map[string]int{}
	EachName(text[:min(len(text), mostRead)], func(name string) {
		if i, ok := place[name]; ok {
			list[i].n++
		} else if len(list) < mostNames {
			place[name] = len(list)
			list = append(list, found{name, 1})
		}
	})
	slices.SortStableFunc(list, func(a, b found) int { return cmp.Compare(b.n, a.n) })
	names := make([]string, len(list))
	for i := range list {
		names[i] = list[i].name
	}
	return names
}

// EachName gives f each name that WholeNames finds, as often as it stands there. A word that has not the form of a name
// is none.
func EachName(text string, f func(name string)) {
	for start := 0; start < len(text); {
		end := start
		for end < len(text) && !partsNames(text[end]) {
			end++
		}
		if end-start >= shortestWhole && !isEscaped(text, start) {
			name := withoutPlace(withoutMarks(text[start:end], text[:start]))
			if len(name) >= shortestWhole && len(name) <= longestWhole && holdsName(name) {
				f(name)
			}
		}
		start = end + 1
	}
}

// isEscaped reports whether the letter at i may be that of an escape, as in \n, and so not belong to what follows it.
func isEscaped(text string, i int) bool {
	return i > 0 && text[i-1] == '\\' && strings.IndexByte("nrt", text[i]) >= 0
}

// partsNames reports whether a byte stands between names and in none.
func partsNames(c byte) bool {
	switch c {
	case '"', '\'', '`', '(', ')', '[', ']', '{', '}', '<', '>', ',', ';', '|', '=', '\\', '^', '*', '%', 0x7f:
		return true
	}
	return c <= ' '
}

// withoutMarks returns a word without the punctuation around it. What a path or a chain begins with is no punctuation:
// ~/a, ../a, .a/b, @a/b, $A/b. But ./ says nothing, behind a bracket only a folder begins, and *.a is no name.
func withoutMarks(word, before string) string {
	const marks = ".:!?-~#$@&"
	word = strings.TrimLeft(strings.TrimRight(word, marks), ":!?-#&")
	switch behind := before[max(0, len(before)-1):]; {
	case behind == "*" && strings.HasPrefix(word, "."): // the end of any name
		return ""
	case behind == "*":
		word = strings.TrimLeft(word, "/")
	case behind != "" && strings.Contains(")]}", behind):
		rest := strings.TrimLeft(word, marks+"/")
		slash := strings.LastIndexByte(word[:len(word)-len(rest)], '/')
		if slash < 0 {
			return rest
		}
		word = word[slash+1:] // the name of a folder may begin with a mark
	}
	for strings.HasPrefix(word, "./") {
		word = strings.TrimLeft(word[1:], "/")
	}
	if strings.HasPrefix(word, "../") || strings.HasPrefix(word, "~/") {
		return word
	}
	rest := strings.TrimLeft(word, marks)
	begins := len(rest) == len(word)-1 && rest != "" && nameByte(rest[0])&(small|capital|underscore) != 0
	isPath := strings.IndexByte(rest, '/') > 0
	if begins && (isPath && word[0] != '~' || strings.IndexByte(".$", word[0]) >= 0 && strings.IndexByte(rest, '.') > 0) {
		return word
	}
	return rest
}

// withoutPlace returns a path without the line and column behind it, as in a.go:12:5.
func withoutPlace(name string) string {
	for {
		i := strings.LastIndexByte(name, ':')
		if i <= 0 || i == len(name)-1 || strings.IndexByte(name[:i], '.') < 0 || strings.Trim(name[i+1:], digits) != "" {
			return name
		}
		name = name[:i]
	}
}

const digits = "0123456789"

// holdsName reports whether a word has the form of a name: a path, words joined by dots or underscores, a word with a
// hump, or a long number. Codings of bytes have none, nor has what is not ASCII.
func holdsName(name string) bool {
	const fewestDigits = 6
	letters, numerals, joined := 0, 0, false
	for i := range len(name) {
		switch kind := nameByte(name[i]); {
		case name[i] >= 0x80:
			return false
		case kind&(small|capital) != 0:
			letters++
		case kind == digit:
			numerals++
		}
		if i > 0 && i+1 < len(name) && (name[i] == '/' || name[i] == '.') {
			beside := nameByte(name[i-1]) | nameByte(name[i+1])
			between := nameByte(name[i-1])&word != 0 && nameByte(name[i+1])&word != 0
			joined = joined || between && beside&(small|capital) != 0
		}
	}
	if letters == 0 {
		return numerals >= fewestDigits && numerals == len(name)
	}
	return (joined || hasUnderscore(name) || hasHump(name)) && !isCode(name)
}
