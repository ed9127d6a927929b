// Package lines reads a content as the lines that a page shows, and compares two of them.
//
// It promises that a line of any length takes bounded memory and is counted whole, that what cannot be seen of it is
// made visible, and that a difference turns one text into the other.
package lines

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"epitome/console/chart"
)

// Line is a line of a content, as a page shows it.
type Line struct {
	Number int
	Text   string // its beginning, with what cannot be seen made visible
	Cut    int64  // bytes that are not shown
	Raw    string // the beginning as it is
}

// mostLine bounds, in characters, what is shown of one line.
const mostLine = 2000

// Reader reads a content line by line, and holds no more of it than the beginning of one.
type Reader struct {
	from   *bufio.Reader
	number int
}

// NewReader returns one of what from holds.
func NewReader(from io.Reader) *Reader { return &Reader{from: bufio.NewReaderSize(from, 64<<10)} }

// Next returns the next line; io.EOF behind the last one.
func (r *Reader) Next() (Line, error) {
	var held []byte
	total, err := int64(0), error(nil)
	for {
		var piece []byte
		piece, err = r.from.ReadSlice('\n')
		total += int64(len(piece))
		held = append(held, piece[:min(len(piece), max(0, utf8.UTFMax*mostLine-len(held)))]...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			break
		}
	}
	if err != nil && (!errors.Is(err, io.EOF) || total == 0) {
		return Line{}, err
	}
	r.number++
	text := strings.TrimRight(string(held), "\r\n")
	end := total - int64(len(held)-len(text)) // where its words end, if all are held
	if len(held) == utf8.UTFMax*mostLine {
		end = total
	}
	if runes := []rune(text); len(runes) > mostLine {
		text = string(runes[:mostLine])
	}
	return Line{r.number, Visible(text), max(0, end-int64(len(text))), text}, nil
}

// Visible is the text of a line; tabs stay, as a page shows them.
func Visible(text string) string {
	parts := strings.Split(text, "\t")
	for i := range parts {
		parts[i] = chart.Plain(parts[i])
	}
	return strings.Join(parts, "\t")
}

// Read returns the first lines, and whether there are more.
func Read(from io.Reader, most int) (all []Line, more bool, err error) {
	for r := NewReader(from); ; {
		next, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all, false, nil
		}
		if err != nil || len(all) == most {
			return all, err == nil, err
		}
		all = append(all, next)
	}
}
