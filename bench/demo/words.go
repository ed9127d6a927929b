package demo

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// share returns part of the whole in percent.
func share(part, of int) int {
	if of == 0 {
		return 0
	}
	return (100*part + of/2) / of
}

// short returns a number in at most five columns.
func short(n int) string {
	switch {
	case n >= 999_500:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	case n >= 99_950:
		return fmt.Sprintf("%.0fk", float64(n)/1e3)
	case n >= 1000:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	}
	return fmt.Sprint(n)
}

// thousands returns a number with commas.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// number is so many of a noun.
func number(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return thousands(n) + " " + noun + "s"
}

// times is how often something was done.
func times(n int) string {
	if n == 1 {
		return "once"
	}
	return number(n, "time")
}

// clip cuts a text to fewer than columns columns.
func clip(s string, columns int) string {
	if utf8.RuneCountInString(s) < columns {
		return s
	}
	return strings.TrimRight(string([]rune(s)[:columns-2]), " ") + "…"
}

// wrap cuts a text into lines between words.
func wrap(s string, columns int) (lines []string) {
	for word := range strings.FieldsSeq(s) {
		if n := len(lines); n > 0 && utf8.RuneCountInString(lines[n-1])+1+utf8.RuneCountInString(word) <= columns {
			lines[n-1] += " " + word
			continue
		}
		lines = append(lines, word)
	}
	return lines
}
