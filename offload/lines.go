package offload

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

const (
	pieceSize = 64 << 10 // bytes from which on a line is searched in pieces
	overlap   = 4 << 10  // bytes of the piece before with which a piece begins, so that matches between them are found
	maxRegexp = 256      // bytes; a search takes time for each byte of text and each of the expression
)

// ErrNoLines says that a text has none of the lines that are wanted.
var ErrNoLines = errors.New("no such lines")

// Range says which lines of a text are wanted. The zero Range wants all.
type Range struct {
	from, to int64 // from 1; 0 is open
	grep     *regexp.Regexp
}

// ParseRange reads lines, as in "10-20", "10-", "-20" or "10", counted from 1, and grep, a regular expression of Go.
// Empty ones want everything. With both, the matching ones of these lines are wanted.
func ParseRange(lines, grep string) (want Range, err error) {
	if lines != "" {
		first, last, isRange := strings.Cut(lines, "-")
		if !isRange {
			last = first
		}
		from, err1 := parseLine(first)
		to, err2 := parseLine(last)
		if err1 != nil || err2 != nil || first+last == "" || to != 0 && to < from {
			return Range{}, fmt.Errorf("cannot read lines=%.40q: want A-B, A-, -B or A, counted from 1, as in 10-20", lines)
		}
		want.from, want.to = from, to
	}
	if len(grep) > maxRegexp {
		return Range{}, fmt.Errorf("cannot read grep=%.40q: it has %d bytes; want at most %d", grep, len(grep), maxRegexp)
	}
	if grep != "" {
		if want.grep, err = regexp.Compile(grep); err != nil {
			return Range{}, fmt.Errorf("cannot read grep=%.40q: %w", grep, err)
		}
	}
	return want, nil
}

// parseLine reads the number of a line. An empty text is 0, an open end.
func parseLine(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 63)
	if n == 0 && err == nil {
		err = strconv.ErrRange
	}
	return int64(n), err
}

// Select copies the lines of r that are wanted to w. Without grep they are copied as they are. With grep, each line
// follows its number and a colon. A line of more than 64 KB is searched in pieces that overlap by 4 KB; each piece that
// matches follows the number of the line, and behind the first piece "+" and the offset of the piece. The error is
// ErrNoLines if a part of the text was wanted and there is none.
func Select(r io.Reader, w io.Writer, want Range) error {
	in, out := bufio.NewReaderSize(r, pieceSize), bufio.NewWriter(w)
	line, lines := int64(1), int64(0) // number of the line that is read, and how many there were so far
	found := false                    // something was copied
	var piece []byte                  // of the line
	offset := 0                       // of the piece in the line
	for want.to == 0 || line <= want.to {
		read, err := in.ReadSlice('\n')
		if err != nil && err != io.EOF && err != bufio.ErrBufferFull {
			return fmt.Errorf("cannot select lines: %w", err)
		}
		if len(read) > 0 {
			lines = line
		}
		switch {
		case line < want.from || len(read) == 0:
		case want.grep == nil:
			found = true
			_, _ = out.Write(read) // Flush returns its error
		default:
			if kept := min(len(piece), overlap); kept > 0 {
				offset += len(piece) - kept
				piece = piece[:copy(piece, piece[len(piece)-kept:])]
			}
			bare := withoutEnd(read)
			piece = append(piece, bare...)
			if (offset == 0 || len(bare) > 0) && want.grep.Match(piece) {
				found = true
				fmt.Fprintf(out, "%s:%s\n", pieceName(line, offset), piece)
			}
		}
		if err == io.EOF {
			break
		}
		if err == nil {
			line, piece, offset = line+1, piece[:0], 0
		}
	}
	if !found && want != (Range{}) {
		if want.grep != nil {
			return fmt.Errorf("%w: none matches of %d line(s)", ErrNoLines, lines)
		}
		return fmt.Errorf("%w: the text has %d line(s)", ErrNoLines, lines)
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("cannot select lines: %w", err)
	}
	return nil
}

// pieceName names a piece of a line, as in 12 for the first one and 12+61440 for another.
func pieceName(line int64, offset int) string {
	if offset == 0 {
		return strconv.FormatInt(line, 10)
	}
	return fmt.Sprintf("%d+%d", line, offset)
}

// withoutEnd returns a line without its line break.
func withoutEnd(line []byte) []byte {
	line, ended := bytes.CutSuffix(line, []byte("\n"))
	if ended {
		line, _ = bytes.CutSuffix(line, []byte("\r"))
	}
	return line
}
