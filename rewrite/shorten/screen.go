package shorten

import (
	"strings"
	"unicode/utf8"
)

// What a terminal's size would bound is bounded here, since the size is not known.
const (
	screenReach = 500 // lines, its own included, within which the cursor moves up
	screenWidth = 500 // columns that a move to the right reaches
)

// leastRoom is how many bytes there is room for before lines are put out: more than those within reach usually take.
const leastRoom = 128 << 10

const escape = '\x1b'

// FinalScreen returns what a terminal would show of a text after all of it was written and scrolled through: frames of
// progress bars as they were overwritten last, nothing of what was erased, no colours. Its lines are made of the
// text's characters, and of spaces where a move of the cursor left a gap. Line ends stay as they are, and every
// character, a tab or a wide one too, is one column. changed is false if the text is no terminal output, and then it
// is returned as it stands.
//
// What addresses a whole screen (clear, go to row and column, another screen) begins a new line at the end instead, so
// that earlier lines are not lost; the cursor cannot go up beyond it. Saved cursors, scrolling regions and shifting of
// characters or lines are left out without effect.
func FinalScreen(text string) (screen string, changed bool) {
	if !hasControls(text) {
		return text, false
	}
	s := terminal{lines: make([]screenLine, 1, 64), room: len(text)}
	s.out.Grow(len(text) / 2)
	for i := 0; i < len(text); {
		plain := i
		for i < len(text) && !breaksText(text[i]) {
			i++
		}
		if i > plain {
			s.write(text[plain:i])
		}
		if i < len(text) {
			i = s.control(text, i)
		}
	}
	s.settle(len(s.lines))
	return s.out.String(), true
}

// hasControls reports whether there is anything to do; a carriage return before a line feed is only a line end.
func hasControls(text string) bool {
	if strings.IndexByte(text, escape) >= 0 || strings.IndexByte(text, '\b') >= 0 ||
		strings.IndexByte(text, '\a') >= 0 {
		return true
	}
	for {
		i := strings.IndexByte(text, '\r')
		if i < 0 {
			return false
		}
		if i+1 == len(text) || text[i+1] != '\n' {
			return true
		}
		text = text[i+2:]
	}
}

// breaksText reports whether c does something else than stand in its column.
func breaksText(c byte) bool {
	const all = 1<<'\n' | 1<<'\r' | 1<<'\b' | 1<<'\a' | 1<<escape
	return c < ' ' && 1<<c&all != 0
}

// terminal is a screen while it is written to.
type terminal struct {
	out      strings.Builder // the lines that the cursor cannot reach any more
	lines    []screenLine    // the others; there is at least one
	row, col int             // of the cursor; the row is one of lines
	top      int             // the row beyond which the cursor does not move up
	// room is how many spaces gaps may still be filled with, so that the screen stays within twice the text.
	room int
}

// screenLine is a line's characters: those of plain and then of more, or cells once it was written in between.
type screenLine struct {
	plain string
	more  []byte
	cells []rune
	width int // characters
	end   string
}

func (l *screenLine) clear() { *l = screenLine{end: l.end} }

// open makes the characters changeable one by one.
func (l *screenLine) open() {
	if l.cells == nil {
		l.cells, l.plain, l.more = []rune(l.plain+string(l.more)), "", nil
	}
}

// write puts plain text at the cursor, over what stands there.
func (s *terminal) write(run string) {
	l := &s.lines[s.row]
	n := utf8.RuneCountInString(run)
	if s.col == 0 && n >= l.width {
		*l = screenLine{plain: run, width: n, end: l.end}
		s.col = n
		return
	}
	if s.col == l.width && l.cells == nil {
		l.more = append(l.more, run...)
		l.width += n
		s.col = l.width
		return
	}
	l.open()
	if gap := s.col - l.width; gap > s.room {
		s.col = l.width
	} else if gap > 0 {
		s.room -= gap
		for range gap {
			l.cells = append(l.cells, ' ')
		}
	}
	for _, r := range run {
		if s.col < len(l.cells) {
			l.cells[s.col] = r
		} else {
			l.cells = append(l.cells, r)
		}
		s.col++
	}
	l.width = len(l.cells)
}

// control does what the control character at text[i] asks for, and says where the text goes on.
func (s *terminal) control(text string, i int) int {
	switch text[i] {
	case '\n':
		s.newline("\n")
	case '\r':
		if i+1 < len(text) && text[i+1] == '\n' {
			s.newline("\r\n")
			return i + 2
		}
		s.col = 0
	case '\b':
		s.col = max(s.col-1, 0)
	case escape:
		return s.sequence(text, i+1)
	}
	return i + 1
}

// newline goes to the next line. One that is there already keeps its end.
func (s *terminal) newline(end string) {
	if s.row == len(s.lines)-1 {
		s.lines[s.row].end = end
		s.lines = append(s.lines, screenLine{})
	}
	s.row++
	s.col = 0
	if len(s.lines) >= 2*screenReach {
		s.settle(len(s.lines) - screenReach)
	}
}

// settle puts out the first n lines.
func (s *terminal) settle(n int) {
	if s.out.Cap()-s.out.Len() < leastRoom {
		s.out.Grow(leastRoom) // which doubles it: several times a quarter more would leave several copies
	}
	for i := range s.lines[:n] {
		l := &s.lines[i]
		s.out.WriteString(l.plain)
		s.out.Write(l.more)
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

// sequence does what the escape sequence behind the escape character asks for, and says where it ends.
func (s *terminal) sequence(text string, i int) int {
	if i == len(text) {
		return i
	}
	switch text[i] {
	case '[':
		first := i + 1
		last := skip(text, first, ' ', '?')
		if last == len(text) || text[last] < '@' || text[last] > '~' {
			return last // broken off
		}
		s.command(text[first:last], text[last])
		return last + 1
	case ']', 'P', 'X', '^', '_':
		return stringEnd(text, i+1)
	}
	last := skip(text, i, ' ', '/')
	if last == len(text) || text[last] < '0' || text[last] > '~' {
		return last
	}
	if last == i && text[i] == 'c' { // reset
		s.startLine()
	}
	return last + 1
}

// skip returns the first place at or behind i with a byte that is not from low to high.
func skip(text string, i int, low, high byte) int {
	for i < len(text) && text[i] >= low && text[i] <= high {
		i++
	}
	return i
}

// stringEnd returns the end of a control string, such as a title or a link's address, that begins at text[i]. If it
// does not end in its line, it is taken for text.
func stringEnd(text string, i int) int {
	for end := i; end < len(text); end++ {
		switch text[end] {
		case '\a':
			return end + 1
		case '\n':
			return i
		case escape:
			if end+1 < len(text) && text[end+1] == '\\' {
				return end + 2
			}
			return i
		}
	}
	return i
}

// command does a control sequence.
func (s *terminal) command(parameters string, final byte) {
	if parameters != "" && parameters[0] >= '<' {
		switch parameters {
		case "?47", "?1047", "?1049": // to another screen or back
			s.startLine()
		}
		return
	}
	number := firstNumber(parameters)
	switch final {
	case 'J':
		s.eraseScreen(number)
	case 'K':
		s.eraseLine(number)
	case 'H', 'f', 'd':
		s.startLine()
	default:
		s.move(final, max(number, 1))
	}
}

// firstNumber returns the first parameter, 0 if it is not given.
func firstNumber(parameters string) int {
	const most = 1 << 20
	n := 0
	for i := 0; i < len(parameters) && parameters[i] >= '0' && parameters[i] <= '9'; i++ {
		n = min(10*n+int(parameters[i]-'0'), most)
	}
	return n
}

// move moves the cursor by n, or to column n.
func (s *terminal) move(final byte, n int) {
	switch final {
	case 'A', 'F':
		s.row = max(s.row-n, s.top, len(s.lines)-screenReach)
	case 'B', 'E':
		s.row = min(s.row+n, len(s.lines)-1)
	case 'C':
		s.col = max(s.col, min(s.col+n, screenWidth))
	case 'D':
		s.col = max(s.col-n, 0)
	case 'G', '`':
		s.col = min(n-1, screenWidth)
	}
	if final == 'E' || final == 'F' {
		s.col = 0
	}
}

func (s *terminal) eraseScreen(which int) {
	switch which {
	case 0: // what is behind the cursor
		clear(s.lines[s.row+1:])
		s.lines = s.lines[:s.row+1]
		s.lines[s.row].end = ""
		s.eraseLine(0)
	case 2, 3:
		s.startLine()
	}
}

func (s *terminal) eraseLine(which int) {
	l := &s.lines[s.row]
	switch {
	case which == 2, which == 0 && s.col == 0, which == 1 && s.col >= l.width-1:
		l.clear()
	case which == 0 && s.col < l.width:
		l.open()
		l.cells, l.width = l.cells[:s.col], s.col
	case which == 1 && s.col < screenWidth: // further in, each erasure would cost the whole line
		l.open()
		for i := range l.cells[:s.col+1] {
			l.cells[i] = ' '
		}
	}
}

// startLine goes to an empty line at the end, and makes it the top.
func (s *terminal) startLine() {
	s.row, s.col = len(s.lines)-1, 0
	if s.lines[s.row].width > 0 {
		s.newline("\n")
	}
	s.top = s.row
}
