package spoken

import "strings"

// Placeholders of words in a form: of one that names something by its letters, and of one that stands in few texts.
const named, rare = "#", "*"

// formOf is equal for texts that differ only in names and numbers: in words with a digit in them, or with what parts
// the names of a path.
func formOf(text string) string {
	words := strings.Fields(text)
	for k, w := range words {
		if isName(core(w)) {
			words[k] = named
		}
	}
	return joined(words, func(string) bool { return false })
}

// core is a word without the marks around it.
func core(word string) string { return strings.Trim(word, ".,:;!?()[]{}\"'`*#") }

func isName(core string) bool { return strings.ContainsAny(core, "0123456789/_\\.`#*") }

// bareWords are the words of a text, without their case and the marks around them, and without names and numbers.
func bareWords(text string) []string {
	words := strings.Fields(strings.ToLower(text))
	for k, w := range words {
		if words[k] = core(w); isName(words[k]) {
			words[k] = named
		}
	}
	return words
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
