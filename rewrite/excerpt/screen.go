package excerpt

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The size of the terminal is not known. These bounds stand for it.
const (
	screenReach = 500 // lines, its own included, within which the cursor moves up
	screenWidth = 500 // columns that a move to the right reaches
)

// sequence matches an escape sequence: a control sequence with its first number and its final character; a title or the
// address of a link, if it ends in its line; another one. Of a sequence that is broken off it matches what is there.
var sequence = regexp.MustCompile(`^\x1b(?:\[(\d*)[ -?]*([@-~]?)|[]PX^_](?:[^\a\x1b\n]*(?:\a|\x1b\\))?|[ -/]*[0-~]?)`)

// Screen returns what a terminal shows once all of a text was written to it: each progress bar as it was overwritten
// last, nothing that was erased, no colors. Its lines consist of characters of the text, and of spaces where a move of
// the cursor left a gap. Line ends stay as they are. changed is false if the text is not the output of a terminal.
//
// Every character takes one column. What clears the whole screen or goes to a row of it begins a new line at the end,
// and the cursor cannot go up beyond it, so that earlier lines are not lost. Other sequences have no effect.
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
		case r == '\a':
		case r == '\x1b':
			m := sequence.FindStringSubmatch(text[i:])
			number, _ := strconv.Atoi(m[1])
			s.command(m[2], number)
			size = len(m[0])
		default:
			s.write(r)
		}
		i += size
	}
	s.settle(len(s.lines))
	return s.out.String(), true
}

// terminal is a screen and its cursor.
type terminal struct {
	out         strings.Builder // the lines that the cursor cannot reach any more
	lines       []screenLine    // the others; there is at least one
	row, column int             // of the cursor; the row is one of lines
	room        int             // spaces that may still fill gaps: a screen has at most twice the length of its text
}

type screenLine struct {
	cells []rune
	end   string
}

// write puts a character at the cursor, over what stands there.
func (s *terminal) write(r rune) {
	l := &s.lines[s.row]
	if s.column-len(l.cells) > s.room {
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

// newline goes to the next line. A line that is there already keeps its end.
func (s *terminal) newline(end string) {
	if s.row == len(s.lines)-1 {
		s.lines[s.row].end = end
		s.lines = append(s.lines, screenLine{})
	}
	s.row++
	s.column = 0
	s.settle(len(s.lines) - screenReach)
}

// settle puts out the first n lines.
func (s *terminal) settle(n int) {
	if n <= 0 {
		return
	}
	for _, l := range s.lines[:n] {
		for _, r := range l.cells {
			s.out.WriteRune(r)
		}
		s.out.WriteString(l.end)
	}
	s.lines = s.lines[n:]
	s.row = max(s.row-n, 0)
}

// command obeys a control sequence.
func (s *terminal) command(final string, number int) {
	l, n := &s.lines[s.row], min(max(number, 1), 1<<20)
	switch final {
	case "A", "F":
		s.row = max(s.row-n, 0)
	case "B", "E":
		s.row = min(s.row+n, len(s.lines)-1)
	case "C":
		s.column = max(s.column, min(s.column+n, screenWidth))
	case "D":
		s.column = max(s.column-n, 0)
	case "G":
		s.column = min(n-1, screenWidth)
	case "H", "f", "d":
		s.startLine()
	case "J":
		switch number {
		case 0: // what is behind the cursor
			s.lines = s.lines[:s.row+1]
			l.cells, l.end = l.cells[:min(s.column, len(l.cells))], ""
		case 2, 3:
			s.startLine()
		}
	case "K":
		switch {
		case number == 0: // what is behind the cursor
			l.cells = l.cells[:min(s.column, len(l.cells))]
		case number == 2, number == 1 && s.column >= len(l.cells)-1:
			l.cells = nil
		}
	}
	if final == "E" || final == "F" {
		s.column = 0
	}
}

// startLine goes to an empty line at the end, and keeps the cursor from going up.
func (s *terminal) startLine() {
	s.row = len(s.lines) - 1
	if len(s.lines[s.row].cells) > 0 {
		s.newline("\n")
	}
	s.settle(s.row)
	s.column = 0
}
