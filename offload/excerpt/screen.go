package excerpt

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Bounds for the cursor in place of the size of the terminal, which is not known.
const (
	screenReach = 500 // lines at the end of the screen, the cursor's included, among which the cursor can move up
	screenWidth = 500 // columns: a move to the right ends there
)

// sequence matches an escape sequence, or what is there of an incomplete one: a control sequence, with groups for its
// first number and its final character; a title or the address of a link, if it ends in its line; or any other.
var sequence = regexp.MustCompile(`^\x1b(?:\[(\d*)[ -?]*([@-~]?)|[]PX^_](?:[^\a\x1b\n]*(?:\a|\x1b\\))?|[ -/]*[0-~]?)`)

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
			m := sequence.FindStringSubmatch(text[i:min(i+1<<10, len(text))]) // of a longer one the rest is text
			number, _ := strconv.Atoi(m[1])
			s.command(m[2], number) // m[2] is empty, and nothing happens, unless m is a whole control sequence
			size = len(m[0])
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
		for _, r := range l.cells {
			s.out.WriteRune(r)
		}
		s.out.WriteString(l.end)
	}
	s.lines = s.lines[n:]
	s.row = max(s.row-n, 0)
}

// command does what a control sequence says, by its final character and its first number, 0 if it has none.
func (s *terminal) command(final string, number int) {
	l, n := &s.lines[s.row], min(max(number, 1), 1<<20) // a move without a number goes one step; sums must not overflow
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
		switch number {
		case 0: // from the cursor to the end
			s.lines = s.lines[:s.row+1]
			l.cells, l.end = l.cells[:min(s.column, len(l.cells))], ""
		case 2, 3: // all; 1, from the start to the cursor, is ignored
			s.startLine()
		}
	case "K": // erase in the line
		switch {
		case number == 0: // from the cursor to the end
			l.cells = l.cells[:min(s.column, len(l.cells))]
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
