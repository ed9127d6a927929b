package excerpt

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// The size of the terminal is not known. These bounds stand for it.
const (
	screenReach = 500 // lines, its own included, within which the cursor moves up
	screenWidth = 500 // columns that a move to the right reaches
)

// Screen returns what a terminal shows once all of a text was written to it: each progress bar as it was overwritten
// last, nothing that was erased, no colors. Its lines consist of characters of the text, and of spaces where a move of
// the cursor left a gap. Line ends stay as they are. changed is false if the text is not the output of a terminal.
//
// Every character takes one column. What addresses the whole screen (clear, go to row and column, another screen)
// begins a new line at the end, so that earlier lines are not lost, and the cursor cannot go up beyond it. Saved
// cursors, scrolling regions and insertions have no effect.
func Screen(text string) (screen string, changed bool) {
	if !strings.ContainsAny(strings.ReplaceAll(text, "\r\n", "\n"), "\r\b\a\x1b") {
		return text, false
	}
	s := terminal{lines: make([]screenLine, 1, 64), room: len(text)}
	s.out.Grow(len(text) / 2)
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		switch {
		case r == '\n':
			s.newline("\n")
		case r == '\r' && strings.HasPrefix(text[i:], "\n"):
			s.newline("\r\n")
			i++
		case r == '\r':
			s.column = 0
		case r == '\b':
			s.column = max(s.column-1, 0)
		case r == '\a':
		case r == '\x1b':
			i += s.sequence(text[i:])
		default:
			s.write(r)
		}
	}
	s.settle(len(s.lines))
	return s.out.String(), true
}

// terminal is a screen and its cursor.
type terminal struct {
	out         strings.Builder // the lines that the cursor cannot reach any more
	lines       []screenLine    // the others; there is at least one
	row, column int             // of the cursor; the row is one of lines
	top         int             // the row beyond which the cursor does not move up
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
	if len(s.lines) >= 2*screenReach {
		s.settle(len(s.lines) - screenReach)
	}
}

// settle puts out the first n lines.
func (s *terminal) settle(n int) {
	for _, l := range s.lines[:n] {
		for _, r := range l.cells {
			s.out.WriteRune(r)
		}
		s.out.WriteString(l.end)
	}
	kept := copy(s.lines, s.lines[n:])
	clear(s.lines[kept:])
	s.lines = s.lines[:kept]
	s.row, s.top = s.row-n, max(s.top-n, 0)
}

// sequence obeys the escape sequence whose escape character stands before the text, and returns its length. Of a
// sequence that is broken off it returns the part that is there.
func (s *terminal) sequence(text string) int {
	if text == "" {
		return 0
	}
	switch text[0] {
	case '[':
		end := 1 + span(text[1:], ' ', '?')
		if end == len(text) || text[end] < '@' || text[end] > '~' {
			return end
		}
		s.command(text[1:end], text[end])
		return end + 1
	case ']', 'P', 'X', '^', '_': // a title, or the address of a link; text if it does not end in its line
		end := strings.IndexAny(text, "\a\x1b\n")
		switch {
		case end >= 0 && text[end] == '\a':
			return end + 1
		case end >= 0 && strings.HasPrefix(text[end:], "\x1b\\"):
			return end + 2
		}
		return 1
	}
	end := span(text, ' ', '/')
	if end == len(text) || text[end] < '0' || text[end] > '~' {
		return end
	}
	if text[:end+1] == "c" { // reset
		s.startLine()
	}
	return end + 1
}

// span returns how many bytes at the beginning of a text are from low to high.
func span(text string, low, high byte) int {
	n := 0
	for n < len(text) && text[n] >= low && text[n] <= high {
		n++
	}
	return n
}

// command obeys a control sequence.
func (s *terminal) command(parameters string, final byte) {
	const most = 1 << 20
	if parameters != "" && parameters[0] >= '<' {
		if parameters == "?47" || parameters == "?1047" || parameters == "?1049" { // another screen, or back
			s.startLine()
		}
		return
	}
	number, _ := strconv.Atoi(parameters[:span(parameters, '0', '9')])
	n := min(max(number, 1), most)
	switch final {
	case 'A', 'F':
		s.row = max(s.row-n, s.top, len(s.lines)-screenReach)
	case 'B', 'E':
		s.row = min(s.row+n, len(s.lines)-1)
	case 'C':
		s.column = max(s.column, min(s.column+n, screenWidth))
	case 'D':
		s.column = max(s.column-n, 0)
	case 'G', '`':
		s.column = min(n-1, screenWidth)
	case 'H', 'f', 'd':
		s.startLine()
	case 'J':
		switch number {
		case 0: // what is behind the cursor
			s.lines = s.lines[:s.row+1]
			s.lines[s.row].end = ""
			s.eraseLine(0)
		case 2, 3:
			s.startLine()
		}
	case 'K':
		s.eraseLine(number)
	}
	if final == 'E' || final == 'F' {
		s.column = 0
	}
}

func (s *terminal) eraseLine(which int) {
	l := &s.lines[s.row]
	switch {
	case which == 0:
		l.cells = l.cells[:min(s.column, len(l.cells))]
	case which == 2, which == 1 && s.column >= len(l.cells)-1:
		l.cells = nil
	case which == 1 && s.column < screenWidth: // further in, each erasure would cost the whole line
		for i := range l.cells[:s.column+1] {
			l.cells[i] = ' '
		}
	}
}

// startLine goes to an empty line at the end, and makes it the top.
func (s *terminal) startLine() {
	s.row, s.column = len(s.lines)-1, 0
	if len(s.lines[s.row].cells) > 0 {
		s.newline("\n")
	}
	s.top = s.row
}
