// Package excerpt makes texts shorter: a text of lines, the output of a terminal, a single line.
//
// Every line that it shows stands in the text, word for word, and every gap says how many lines it leaves out. It knows
// one table of words that speak of failure, and no tool, language or log format. Its time grows with the text's length
// alone. It also knows how the notes of epitome begin and what the names of artifacts look like.
package excerpt

import (
	"fmt"
	"iter"
	"regexp"
	"strings"
	"unicode"
)

// Mark begins every note of epitome.
const Mark = "[epitome:"

// Count says how many tokens a text has.
type Count func(text string) int

// Note returns the line that stands above a shorter text: what the text is, and where the whole of it lies.
func Note(what, where string) string { return Mark + " " + what + ". " + where + "]" }

// colors matches sequences that change the color of what follows.
var colors = regexp.MustCompile(`\x1b\[[^@-~]*[@-~]?`)

// isForged reports whether a reader could take a line of the text for a note of epitome: white space, control
// characters and colors may stand before it.
func isForged(text string) bool {
	if !strings.Contains(text, Mark) {
		return false
	}
	isLineEnd := func(r rune) bool { return strings.ContainsRune("\r\n\v\f\u0085\u2028\u2029", r) }
	isInvisible := func(r rune) bool { return unicode.IsSpace(r) || unicode.Is(unicode.C, r) }
	for line := range strings.FieldsFuncSeq(text, isLineEnd) {
		before, _, found := strings.Cut(line, Mark)
		before = colors.ReplaceAllString(before, "")
		if found && strings.TrimLeftFunc(before, isInvisible) == "" {
			return true
		}
	}
	return false
}

// ArtifactNames yields each word of the text that may be the name of an artifact.
func ArtifactNames(text string) iter.Seq[string] {
	const length = 26 // characters of a to z and 2 to 7
	isOther := func(r rune) bool { return (r < 'a' || r > 'z') && (r < '2' || r > '7') }
	return func(yield func(string) bool) {
		for word := range strings.FieldsFuncSeq(text, isOther) {
			if len(word) == length && !yield(word) {
				return
			}
		}
	}
}

// OneLine returns a text with each run of white space and control characters as one space, in valid UTF-8. Of a text of
// more than most characters it returns the beginning.
func OneLine(text string, most int) string {
	const read = 64 << 10 // bytes
	isGap := func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }
	text = strings.Join(strings.FieldsFunc(text[:min(len(text), read)], isGap), " ")
	if shown := []rune(text); len(shown) > most {
		return strings.TrimRight(string(shown[:most-1]), " ") + "…"
	}
	return strings.ToValidUTF8(text, "\ufffd")
}

// CountLines returns how many lines a text has, the last one with or without its end.
func CountLines(text string) int {
	if text == "" {
		return 0
	}
	return strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1
}

// Amount says how many lines n are.
func Amount(n int) string {
	if n == 1 {
		return "1 line"
	}
	return fmt.Sprintf("%d lines", n)
}
