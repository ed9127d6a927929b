// Package alike tells lines and failures apart by what they say but for numbers. It is pure.
package alike

import (
	"slices"
	"strings"
	"unicode"
)

// WithoutNumbers is a line without the words that are numbers, and with one space in the place of several.
func WithoutNumbers(line string) string {
	words := strings.FieldsFunc(line, isBetweenWords)
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return strings.Trim(w, "0123456789") == "" }), " ")
}

func isBetweenWords(c rune) bool { return c != '_' && !unicode.IsLetter(c) && !unicode.IsDigit(c) }

// Failure is a call that failed.
type Failure struct {
	Program []string // how it is called: its tool, and its first word
	Ending  string   // in words
	Own     []string // what stands in the call itself
}

// Kind is equal for failures of one program that ended in the same way and say the same, but for numbers and for what
// stands in the calls themselves.
func (f *Failure) Kind(lines []string) string {
	const most = 200 // bytes of what stands in the call
	own := map[string]bool{}
	for _, w := range f.Own {
		for part := range strings.FieldsFuncSeq(w[:min(len(w), most)], isBetweenWords) {
			own[part] = true
		}
	}
	s := append(slices.Clone(f.Program), f.Ending)
	for _, l := range lines {
		words := strings.Fields(WithoutNumbers(l))
		s = append(s, strings.Join(slices.DeleteFunc(words, func(w string) bool { return own[w] }), " "))
	}
	return strings.Join(s, "\n")
}

// Look is equal for failures of one program that ended in the same way with the same text, but for numbers. It saves
// reading them.
func (f *Failure) Look(text string) string {
	return strings.Join(append(slices.Clone(f.Program), f.Ending, WithoutNumbers(text)), "\n")
}
