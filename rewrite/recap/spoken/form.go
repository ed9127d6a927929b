package spoken

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Placeholders of words in a form: of one that names something by its letters, and of one that stands in few texts.
const named, rare = "#", "*"

// formOf is equal for texts that differ only in names and numbers: in words with a digit in them, or with what parts
// the names of a path.
func formOf(text string) string {
	words := strings.Fields(text)
	for k, w := range words {
		if isName(core(w)) {
			words[k] = nameless(w)
		}
	}
	return joined(words, func(string) bool { return false })
}

// core is a word without the marks around it.
func core(word string) string { return strings.Trim(word, ".,:;!?()[]{}\"'`*#_~。，！？：；、") }

func isName(core string) bool { return strings.ContainsAny(core, "0123456789/_\\.`#*") }

// bareWords are the words of a text, without their case and the marks around them, and without names and numbers.
func bareWords(text string) []string {
	words := strings.Fields(strings.ToLower(text))
	for k, w := range words {
		if words[k] = core(w); isName(words[k]) {
			words[k] = nameless(words[k])
		}
	}
	return words
}

// nameless is a word that is a name in a form. In scripts that have no blanks between words it is a sentence in which
// names stand: what is written in letters of such a script stays.
func nameless(word string) string {
	if !strings.ContainsFunc(word, hasNoBlanks) {
		return named
	}
	var s strings.Builder
	for word != "" {
		end := strings.IndexFunc(word, func(r rune) bool { return r >= utf8.RuneSelf })
		if end < 0 {
			end = len(word)
		}
		if end > 0 && isName(word[:end]) {
			s.WriteString(named)
		} else {
			s.WriteString(word[:end])
		}
		word = word[end:]
		if end = strings.IndexFunc(word, func(r rune) bool { return r < utf8.RuneSelf }); end < 0 {
			end = len(word)
		}
		s.WriteString(word[:end])
		word = word[end:]
	}
	return s.String()
}

// hasNoBlanks reports whether a letter is of a script that is written without blanks between words.
func hasNoBlanks(r rune) bool {
	return r >= utf8.RuneSelf && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai,
		unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// joined is a form of words. Neighbours of one placeholder are one: a name may have several words.
func joined(words []string, isRare func(word string) bool) string {
	var s strings.Builder
	last := ""
	for _, w := range words {
		if w != named && isRare(w) {
			w = rare
		}
		if w == "" || w == last && (w == rare || w == named) {
			continue
		}
		s.WriteString(w + " ")
		last = w
	}
	return s.String()
}

// forms are those of texts of which many may say the same of one thing after the other.
type forms struct {
	texts int            // of which the words are counted
	in    map[string]int // in how many texts a word stands
}

// count counts the words of a text.
func (f *forms) count(words []string) {
	if f.in == nil {
		f.in = map[string]int{}
	}
	f.texts++
	seen := make(map[string]bool, len(words))
	for _, w := range words {
		if !seen[w] {
			seen[w] = true
			f.in[w]++
		}
	}
}

// of is the form of a text with these words, in which those of few texts may differ, too; empty if most are such.
func (f *forms) of(words []string) string {
	const least, part = 3, 16 // a word stands in few texts if these are fewer than least, and than this part of all
	isRare := func(w string) bool { return f.in[w] < max(least, f.texts/part) }
	own, others := 0, 0
	for _, w := range words {
		switch {
		case w == "":
		case w != named && isRare(w):
			own++
		default:
			others++
		}
	}
	if own > others {
		return ""
	}
	return joined(words, isRare)
}
