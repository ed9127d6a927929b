// Package shorten makes a shorter text of a longer one: final screens of terminals, and single lines.
//
// What must stand on one line is cut by OneLine, which keeps the beginning, or by Ending, for paths, which keeps the
// end; Joined cuts a list.
package shorten

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// FirstLine returns the first line of s that is not white space.
func FirstLine(s string) string {
	s = strings.TrimLeftFunc(s, unicode.IsSpace)
	s, _, _ = strings.Cut(s, "\n")
	return s
}

// OneLine is a text with every run of white space and control characters as one space, in valid UTF-8, and of at most
// room characters: of a longer one the beginning.
func OneLine[T string | []byte](text T, room int) string {
	out := make([]byte, 0, min(len(text), 2*room))
	n, gap, last := 0, false, 0 // characters, white space since the last of them, where the last of room begins
	for _, r := range string(text[:min(len(text), 64<<10)]) {
		if unicode.IsSpace(r) || unicode.IsControl(r) {
			gap = n > 0
			continue
		}
		if gap {
			gap = false
			if n++; n == room {
				last = len(out)
			}
			out = append(out, ' ')
		}
		if n++; n == room {
			last = len(out)
		}
		if n > room {
			return strings.TrimRight(string(out[:last]), " ") + "…"
		}
		out = utf8.AppendRune(out, r)
	}
	return string(out)
}

// CountLines returns how many lines a text has, the last one with or without its end.
func CountLines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}
