package recall

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// page takes as much of what is written as there is room for.
type page struct {
	room int
	held []byte
	more bool // there was more

	skip    int // bytes that are left out before anything is taken
	skipped int // of which so many were asked for
}

// errFull ends a reading of which no more is wanted.
var errFull = errors.New("there is no more room")

func (p *page) Write(b []byte) (int, error) {
	left := min(p.skip, len(b))
	p.skip -= left
	n := min(len(b)-left, p.room-len(p.held))
	p.held = append(p.held, b[left:left+n]...)
	if left+n < len(b) {
		p.more = true
		return left + n, errFull
	}
	return len(b), nil
}

// text is what the page has, whole lines if there is one, and how to go on. lines and grep are what was asked for.
func (p *page) text(lines, grep string) string {
	if p.skip > 0 {
		return fmt.Sprintf("[epitome: there is nothing behind so many bytes; it ends %d bytes before.]", p.skip)
	}
	if !p.more {
		return string(p.held)
	}
	text := string(p.held)
	end := strings.LastIndexByte(text, '\n')
	if end < 0 || p.skipped > 0 {
		if end >= 0 {
			text = text[:end+1]
		}
		text, same := whole(text), ""
		if lines != "" {
			same = " and the same lines"
		}
		return text + fmt.Sprintf("\n[epitome: there is more. Go on with from = %d%s, or ask with grep, or with path if it is "+
			"JSON.]", p.skipped+len(text), same)
	}
	text = text[:end+1]
	next := startOf(lines) + strings.Count(text, "\n")
	also := ""
	if grep != "" {
		next, also = lastNumber(text)+1, ", with the same grep"
	}
	ask := strconv.Itoa(next) + "-"
	if _, to, ranged := strings.Cut(lines, "-"); ranged {
		ask += to
	}
	return text + fmt.Sprintf("[epitome: there is more. Go on with lines = %q%s.]", ask, also)
}

// startOf is the first line of a range, which has been read before.
func startOf(lines string) int {
	first, _, _ := strings.Cut(lines, "-")
	if n, err := strconv.Atoi(first); err == nil {
		return n
	}
	return 1
}

// lastNumber is the number in front of the last line that was found.
func lastNumber(text string) int {
	text = strings.TrimSuffix(text, "\n")
	line := text[strings.LastIndexByte(text, '\n')+1:]
	end := strings.IndexAny(line, ":+")
	n, err := strconv.Atoi(line[:max(end, 0)])
	if err != nil {
		return 0
	}
	return n
}

// placeOf is the number of a line, and the offset in it of what was found, as they stand before that.
func placeOf(mark string) (number string, offset int) {
	number, at, _ := strings.Cut(mark, "+")
	offset, _ = strconv.Atoi(at) // none is 0
	return number, offset
}

// whole is a text without the half of a character at its end.
func whole(text string) string {
	for i := 0; i < utf8.UTFMax && len(text) > 0; i++ {
		if r, size := utf8.DecodeLastRuneInString(text); r != utf8.RuneError || size != 1 {
			break
		}
		text = text[:len(text)-1]
	}
	return text
}
