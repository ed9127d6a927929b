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
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dustin/go-humanize/english"
	"github.com/tidwall/gjson"

	"epitome/internal/jsonspan"
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
	return fmt.Sprintf("%d %s", n, english.PluralWord(n, "line", ""))
}

// LaidOut lays out JSON, so that an excerpt can show single values: each array or object that is short is one line, so
// that no field is read as that of another object. ok is false for text that is no JSON array or object, is large, or
// is so deep that its indentation takes much memory. It is false, too, if the lines matter, as those of a file do, and
// are short already.
func LaidOut(text string, linesMatter bool) (lines string, ok bool) {
	const longLine, maxSize, maxDepth = 500, 8 << 20, 16 // average bytes per line; bytes of all; levels
	var b bytes.Buffer
	hasShortLines := len(text) < longLine*CountLines(text)
	if len(text) > maxSize || linesMatter && hasShortLines {
		return "", false
	}
	start := strings.TrimLeft(text, " \t\r\n")
	isJSON := strings.HasPrefix(start, "{") || strings.HasPrefix(start, "[")
	if !isJSON || !jsonspan.IsFlat([]byte(text), maxDepth) || json.Compact(&b, []byte(text)) != nil {
		return "", false
	}
	var laidOut strings.Builder
	layOut(&laidOut, gjson.ParseBytes(b.Bytes()), "\n")
	return laidOut.String(), true
}

// layOut writes a value, which is JSON without spaces, in lines, but each array or object within it that is short in
// one. lineBreak has the indentation of the value.
func layOut(b *strings.Builder, v gjson.Result, lineBreak string) {
	const longest = 1_000 // bytes of an array or object that is one line
	isWithin := lineBreak != "\n"
	if !v.IsObject() && !v.IsArray() || isWithin && len(v.Raw) <= longest {
		b.WriteString(v.Raw)
		return
	}
	b.WriteString(v.Raw[:1])
	comma := ""
	v.ForEach(func(key, value gjson.Result) bool {
		b.WriteString(comma + lineBreak + " ")
		if v.IsObject() {
			b.WriteString(key.Raw + ":")
		}
		layOut(b, value, lineBreak+" ")
		comma = ","
		return true
	})
	b.WriteString(lineBreak + v.Raw[len(v.Raw)-1:])
}

// Bounds for the cursor in place of the size of the terminal, which is not known.
const (
	screenReach = 500 // lines at the end of the screen, the cursor's included, among which the cursor can move up
	screenWidth = 500 // columns: a move to the right ends there
)

// sequence matches an escape sequence that is no control sequence, or what is there of an incomplete one: a title or
// the address of a link, if it ends in its line; or any other.
var sequence = regexp.MustCompile(`^\x1b(?:[]PX^_](?:[^\a\x1b\n]*(?:\a|\x1b\\))?|[ -/]*[0-~]?)`)

// Screen returns what a terminal shows after a text was written to it: the last state of each progress bar, no erased
// text, no colors. Its lines consist of characters of the text, and of spaces where a move of the cursor left a gap.
// changed is false, and screen is the text, if it has no escape, bell, backspace, or carriage return outside \r\n.
// Every character takes one column. Where a sequence clears the whole screen or goes to one of its rows, a new line
// begins at the end and the cursor cannot go above it any more, so earlier lines are not lost.
func Screen(text string) (screen string, changed bool) {
	if !strings.ContainsAny(strings.ReplaceAll(text, "\r\n", "\n"), "\r\b\a\x1b") {
		return text, false
	}
	s := terminal{lines: make([]screenLine, 1, 64), room: len(text)}
	s.out.Grow(len(text) / 2)
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == '\n':
			s.newline("\n")
		case r == '\r' && strings.HasPrefix(text[i:], "\r\n"):
			s.newline("\r\n")
			size = 2
		case r == '\r':
			s.column = 0
		case r == '\b':
			s.column = max(s.column-1, 0)
		case r == '\a': // the bell shows nothing
		case r == '\x1b':
			size = s.escape(text[i:min(i+1<<10, len(text))]) // of a longer one the rest is text
		default:
			s.write(r)
		}
		i += size
	}
	s.flush(len(s.lines))
	return s.out.String(), true
}

// terminal is a screen and its cursor.
type terminal struct {
	out         strings.Builder // the lines that the cursor cannot reach any more
	lines       []screenLine    // the lines below those of out; there is always one at least
	row, column int             // place of the cursor: an index of lines, and a column from 0 on
	room        int             // spaces that may still fill gaps: a screen has at most twice the bytes of its text
}

type screenLine struct {
	cells []rune
	end   string // its line break; empty in the last line
}

// write puts a character at the cursor, in place of the one that is there.
func (s *terminal) write(r rune) {
	l := &s.lines[s.row]
	if s.column-len(l.cells) > s.room { // no spaces are left for the gap: it is not shown
		s.column = len(l.cells)
	}
	for ; len(l.cells) < s.column; s.room-- {
		l.cells = append(l.cells, ' ')
	}
	if s.column == len(l.cells) {
		l.cells = append(l.cells, r)
	} else {
		l.cells[s.column] = r
	}
	s.column++
}

// newline moves the cursor to the start of the next line. If there is none, it adds one, behind the line break end.
func (s *terminal) newline(end string) {
	if s.row == len(s.lines)-1 {
		s.lines[s.row].end = end
		s.lines = append(s.lines, screenLine{})
	}
	s.row++
	s.column = 0
	s.flush(max(len(s.lines)-screenReach, 0)) // the cursor never comes back to these
}

// flush moves the first n lines to out, where the cursor cannot reach them.
func (s *terminal) flush(n int) {
	for _, l := range s.lines[:n] {
		s.out.WriteString(string(l.cells) + l.end)
	}
	s.lines = s.lines[n:]
	s.row = max(s.row-n, 0)
}

// escape does what the escape sequence says that begins a text, and returns its length. It is incomplete if no final
// character follows its parameters.
func (s *terminal) escape(text string) int {
	parameters, isControl := strings.CutPrefix(text, "\x1b[")
	if !isControl {
		return len(sequence.FindString(text))
	}
	rest := strings.TrimLeftFunc(parameters, func(r rune) bool { return r >= ' ' && r <= '?' })
	size := len(text) - len(rest)
	if rest == "" || rest[0] < '@' || rest[0] > '~' {
		return size
	}
	digits := len(parameters) - len(strings.TrimLeft(parameters, "0123456789"))
	number, _ := strconv.Atoi("0" + parameters[:digits])
	s.command(rest[:1], number)
	return size + 1
}

// command does what a control sequence says, by its final character and its first number, 0 if it has none.
func (s *terminal) command(final string, number int) {
	n := min(max(number, 1), 1<<20) // a move without a number goes one step; sums must not overflow
	l := &s.lines[s.row]
	toCursor := l.cells[:min(s.column, len(l.cells))]
	switch final {
	case "A", "F": // up
		s.row = max(s.row-n, 0)
	case "B", "E": // down
		s.row = min(s.row+n, len(s.lines)-1)
	case "C": // right; a cursor beyond screenWidth keeps its column
		s.column = max(s.column, min(s.column+n, screenWidth))
	case "D": // left
		s.column = max(s.column-n, 0)
	case "G": // to column n
		s.column = min(n-1, screenWidth)
	case "H", "f", "d": // to a row of the screen
		s.startLine()
	case "J": // erase in the screen
		if number > 0 { // all of it, or from the start to the cursor
			s.startLine()
			break
		}
		s.lines = s.lines[:s.row+1]
		l.cells, l.end = toCursor, ""
	case "K": // erase in the line
		switch {
		case number == 0: // from the cursor to the end
			l.cells = toCursor
		case number == 2, number == 1 && s.column >= len(l.cells)-1: // all; 1, up to the cursor, only if that is all
			l.cells = nil
		}
	}
	if final == "E" || final == "F" { // these also go to the start of the line
		s.column = 0
	}
}

// startLine moves the cursor to the start of an empty line at the end, and keeps it from going above that line.
func (s *terminal) startLine() {
	s.row = len(s.lines) - 1
	if len(s.lines[s.row].cells) > 0 {
		s.newline("\n")
	}
	s.flush(s.row)
	s.column = 0
}
