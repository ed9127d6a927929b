// Package excerpt makes texts shorter: a text of many lines, the output of a terminal, a single line.
//
// An excerpt has lines of the text, word for word, and says of every gap how many lines are omitted, or how many bytes
// of a long line. The package knows one list of words that speak of failure, and no tool, language or log format. Its
// time grows with the length of the text alone. It also knows how notes of epitome begin.
package excerpt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"epitome/dialect/jsonspan"
)

// Mark begins every note of epitome: a line in brackets that epitome adds to a conversation for the model.
const Mark = "[epitome:"

// Count returns how many tokens a text has, exactly or about.
type Count func(text string) int

// Note returns the line above a shortened text. what describes the text, where says where the full text can be read.
func Note(what, where string) string { return Mark + " " + what + ". " + where + "]" }

// Quote returns a text with "> " before each line, so that no line passes for a note or a heading.
func Quote(text string) string { return "> " + strings.ReplaceAll(text, "\n", "\n> ") }

// OneLine returns a text as one line of at most maxLength characters, in valid UTF-8: each run of white space and
// control characters becomes one space, and a longer text is cut and ends with "…".
func OneLine(text string, maxLength int) string {
	const maxRead = 64 << 10 // bytes that are looked at, as the text may be megabytes long
	isGap := func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }
	text = strings.Join(strings.FieldsFunc(text[:min(len(text), maxRead)], isGap), " ")
	if shown := []rune(text); len(shown) > maxLength {
		return strings.TrimRight(string(shown[:maxLength-1]), " .") + "…" // which is the last character
	}
	return strings.ToValidUTF8(text, "\ufffd")
}

// CountLines returns how many lines a text has. The last one counts with or without a line break at its end.
func CountLines(text string) int {
	if text == "" {
		return 0
	}
	return strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1
}

// Amount returns a number of lines in words: "1 line", "2 lines".
func Amount(n int) string {
	if n == 1 {
		return "1 line"
	}
	return fmt.Sprintf("%d lines", n)
}

// LaidOut lays out JSON, so that an excerpt can show single values: each array or object that is short is one line, so
// that no field is read as that of another object. ok is false for text that is no JSON, is large, or is so deep that its
// indentation takes much memory, and if the lines count, as those of a file do, for text that has no long ones.
func LaidOut(text string, linesCount bool) (lines string, ok bool) {
	const longLine, maxSize, maxDepth = 500, 8 << 20, 16 // average bytes per line; bytes of all; levels
	var b bytes.Buffer
	hasShortLines := len(text) < longLine*CountLines(text)
	if len(text) > maxSize || linesCount && hasShortLines {
		return "", false
	}
	start := strings.TrimLeft(text, " \t\r\n")
	isList := strings.HasPrefix(start, "{") || strings.HasPrefix(start, "[")
	if !isList || !jsonspan.IsFlat([]byte(text), maxDepth) || json.Compact(&b, []byte(text)) != nil {
		return "", false
	}
	return layOut(b.Bytes()), true
}

// layOut breaks the lines of JSON without spaces, but no array or object within it that is short.
func layOut(compact []byte) string {
	const longest = 1_000 // bytes of an array or object that is one line
	var b strings.Builder
	depth := 0
	breakLine := func() { b.WriteString("\n" + strings.Repeat(" ", depth)) }
	for i := 0; i < len(compact); i++ {
		c, end := compact[i], 0
		switch {
		case c == '"':
			end, _ = jsonspan.EndOfString(compact, i)
		case depth > 0 && (c == '{' || c == '['):
			size, _ := jsonspan.EndOfValue(compact[i:min(i+longest, len(compact))], 0) // 0 if it is longer
			end = i + size
		}
		if end > i {
			b.Write(compact[i:end])
			i = end - 1
			continue
		}
		isOpening, isClosing := c == '{' || c == '[', c == '}' || c == ']'
		if isClosing {
			depth--
			breakLine()
		}
		b.WriteByte(c)
		if isOpening {
			depth++
		}
		if isOpening || c == ',' {
			breakLine()
		}
	}
	return b.String()
}
