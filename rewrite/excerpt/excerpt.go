// Package excerpt makes one text shorter without changing a line of it.
//
// Every line that it shows stands in the text, word for word, and every gap says how many lines it leaves out. It knows
// one expression of words that speak of failure, and no tool, language or log format. Its time grows with the text's
// length alone.
package excerpt

import "epitome/rewrite/mark"

// Count says how many tokens a text has.
type Count func(text string) int

// Note is the line that stands with what is left of a text: what that is, and where all of it lies.
func Note(what, where string) string { return mark.Start + " " + what + ". " + where + "]" }
