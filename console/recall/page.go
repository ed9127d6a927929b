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
}

// errFull ends a reading of which no more is wanted.
var errFull = errors.New("there is no more room")

func (p *page) Write(b []byte) (int, error) {
	n := min(len(b), p.room-len(p.held))
	p.held = append(p.held, b[:n]...)
	if n < len(b) {
		p.more = true
		return n, errFull
	}
	return n, nil
}

// text is what the page has, whole lines if there is one, and how to go on. lines and grep are what was asked for.
func (p *page) text(lines, grep string) string {
	if !p.more {
		return string(p.held)
	}
	text := string(p.held)
	end := strings.LastIndexByte(text, '\n')
	if end < 0 {
		return whole(text) + fmt.Sprintf("\n[epitome: the first %d bytes of this line are above. Ask with grep, or with path if "+
			"it is JSON.]", len(text))
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
