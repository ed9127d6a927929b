// Package shorten makes a shorter text of a longer one: final screens, names, and references to lines that stand
// elsewhere.
//
// It promises that what it calls the same is the same, and that its time grows with the text and no faster.
//
// What must stand on one line is cut by OneLine, which keeps the beginning, or by Ending, for paths, which keeps the
// end; Joined cuts a list. A value of JSON is spelled on one line by span.InOneLine, whole, and answer.Cut says how
// much of a string is missing.
package shorten

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"epitome/rewrite/shell"
)

// FirstLine returns the first line of s that is not white space.
func FirstLine(s string) string {
	s = strings.TrimLeftFunc(s, unicode.IsSpace)
	s, _, _ = strings.Cut(s, "\n")
	return s
}

// Joined returns the texts on one line with commas between them, of at most room characters.
func Joined(texts []string, room int) string {
	if len(texts) == 1 {
		return OneLine(texts[0], room)
	}
	return OneLine(strings.Join(texts, ", "), room)
}

// Ending returns s on one line of at most room characters: of a longer one the end.
func Ending(s string, room int) string {
	s = OneLine(s, shell.LongestPath)
	if n := utf8.RuneCountInString(s); n > room {
		for n >= room {
			_, size := utf8.DecodeRuneInString(s)
			s = s[size:]
			n--
		}
		s = "…" + s
	}
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

// WholeLines returns lines of a text, which lack the white space around them that they have there, as they stand there,
// without their ends. What is no line of the text is left out.
func WholeLines(text string, lines []string) []string {
	list := make([]string, 0, len(lines))
	at := 0
	for _, l := range lines {
		start := lineWith(text, l, at)
		if start < 0 {
			start = lineWith(text, l, 0)
		}
		if start < 0 {
			continue
		}
		line, _, _ := strings.Cut(text[start:], "\n")
		at = start + len(line)
		list = append(list, line)
	}
	return list
}

// lineWith returns where the first line from at on begins that is l but for white space around it; -1 if there is none.
func lineWith(text, l string, at int) int {
	for at < len(text) {
		i := strings.Index(text[at:], l)
		if i < 0 {
			return -1
		}
		start := strings.LastIndexByte(text[:at+i], '\n') + 1
		line, _, _ := strings.Cut(text[start:], "\n")
		if strings.TrimSpace(line) == l {
			return start
		}
		at = start + len(line) + 1
	}
	return -1
}
