package pages

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"epitome/console/chart"
)

// line is a line of a content, as a page shows it.
type line struct {
	Number int
	Text   string // its beginning, with what cannot be seen made visible
	Cut    int64  // bytes that are not shown
	raw    string // the beginning as it is
}

// mostLine bounds, in characters, what is shown of one line.
const mostLine = 2000

// lines reads a content line by line, and holds no more of it than the beginning of one.
type lines struct {
	from   *bufio.Reader
	number int
}

func newLines(from io.Reader) *lines { return &lines{from: bufio.NewReaderSize(from, 64<<10)} }

// next returns the next line; io.EOF behind the last one.
func (l *lines) next() (line, error) {
	var held []byte
	total, err := int64(0), error(nil)
	for {
		var piece []byte
		piece, err = l.from.ReadSlice('\n')
		total += int64(len(piece))
		held = append(held, piece[:min(len(piece), max(0, utf8.UTFMax*mostLine-len(held)))]...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			break
		}
	}
	if err != nil && (!errors.Is(err, io.EOF) || total == 0) {
		return line{}, err
	}
	l.number++
	text := strings.TrimRight(string(held), "\r\n")
	end := total - int64(len(held)-len(text)) // where its words end, if all are held
	if len(held) == utf8.UTFMax*mostLine {
		end = total
	}
	if runes := []rune(text); len(runes) > mostLine {
		text = string(runes[:mostLine])
	}
	return line{l.number, visible(text), max(0, end-int64(len(text))), text}, nil
}

// visible is the text of a line; tabs stay, as a page shows them.
func visible(text string) string {
	parts := strings.Split(text, "\t")
	for i := range parts {
		parts[i] = chart.Plain(parts[i])
	}
	return strings.Join(parts, "\t")
}

// readLines returns the first lines, and whether there are more.
func readLines(from io.Reader, most int) (all []line, more bool, err error) {
	for l := newLines(from); ; {
		next, err := l.next()
		if errors.Is(err, io.EOF) {
			return all, false, nil
		}
		if err != nil || len(all) == most {
			return all, err == nil, err
		}
		all = append(all, next)
	}
}
