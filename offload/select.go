package offload

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
)

const (
	// pieceSize is how long a line must be, in bytes, to be searched in pieces. The first is as long as this, the next
	// begin with the last overlap bytes of the one before and go on for up to this.
	pieceSize = 64 << 10
	overlap   = 4 << 10

	// A regexp's length in bytes, and its steps once repetitions are written out: at worst a search takes their number
	// times the bytes: a tenth of a second for a piece, some 15 s for 10 MB.
	maxRegexp = 256
	maxSteps  = 300
)

// ErrNoLines says that a text has none of the lines that are wanted; what it is wrapped in says how many the text has.
var ErrNoLines = errors.New("no such lines")

// Range says which lines of a text are wanted. The zero Range wants all, as they are.
type Range struct {
	from, to int64 // 1-based, inclusive; 0 is open
	grep     *regexp.Regexp
}

// ParseRange reads lines, as in "10-20", "10-", "-20" or "10", counted from 1, and grep, a regular expression of Go.
// Empty ones want everything; where both are given, they want the matching ones of these lines.
func ParseRange(lines, grep string) (want Range, err error) {
	if want.from, want.to, err = parseLines(lines); err != nil {
		return Range{}, fmt.Errorf("cannot read lines=%.40q: %w", lines, err)
	}
	if want.grep, err = parseGrep(grep); err != nil {
		return Range{}, fmt.Errorf("cannot read grep=%.40q: %w", grep, err)
	}
	return want, nil
}

func parseLines(lines string) (from, to int64, err error) {
	if lines == "" {
		return 0, 0, nil
	}
	first, last, ranged := strings.Cut(lines, "-")
	if !ranged {
		last = first
	}
	if first == "" && last == "" {
		return 0, 0, errors.New("want A-B, A-, -B or A, as in 10-20")
	}
	if from, err = parseLine(first); err != nil {
		return 0, 0, err
	}
	if to, err = parseLine(last); err != nil {
		return 0, 0, err
	}
	if to != 0 && to < from {
		return 0, 0, fmt.Errorf("it ends at %d, before it begins", to)
	}
	return from, to, nil
}

// parseLine reads a line's number; an empty one is 0.
func parseLine(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 63)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, fmt.Errorf("%.40s is too large; want at most %d", text, int64(math.MaxInt64))
	case err != nil:
		return 0, fmt.Errorf("%.40q is no number; want A-B, A-, -B or A, as in 10-20", text)
	case n == 0:
		return 0, errors.New("lines are counted from 1")
	}
	return int64(n), nil
}

func parseGrep(text string) (*regexp.Regexp, error) {
	if text == "" {
		return nil, nil
	}
	if len(text) > maxRegexp {
		return nil, fmt.Errorf("it has %d bytes; want at most %d", len(text), maxRegexp)
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, err
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, err
	}
	if n := len(program.Inst); n > maxSteps {
		return nil, fmt.Errorf("it has %d steps with its repetitions written out; want at most %d", n, maxSteps)
	}
	return regexp.Compile(text)
}

// Select copies the lines of r that are wanted to w, in order. Without grep they are the bytes of r. With grep each
// follows its number and a colon, without its carriage return if it has one, and ends in a newline. A line of 64 KB
// or more is searched piece by piece, and each piece that matches follows the line's number, "+", its offset in the
// line in bytes and a colon; pieces overlap by 4 KB, so that a match of up to these is found wherever it lies, and
// begin and end like lines for the regexp. Memory is bounded by the length of a piece, and r is not read much beyond
// the last line wanted. It is read in pieces, so that a reader which fails at a deadline bounds the time that a
// costly regexp takes. If no line is there to be copied although some were asked for, the error is ErrNoLines.
func Select(r io.Reader, w io.Writer, want Range) error {
	s := selection{in: bufio.NewReaderSize(r, pieceSize), out: bufio.NewWriter(w), overlap: overlap, Range: want}
	err := s.run()
	if err == nil && !s.found && want != (Range{}) {
		return s.nothingError()
	}
	if err == nil {
		err = s.out.Flush()
	}
	if err != nil {
		return fmt.Errorf("cannot select lines: %w", err)
	}
	return nil
}

// nothingError says why no line was copied.
func (s *selection) nothingError() error {
	switch {
	case !s.ended:
		return fmt.Errorf("%w: none up to %d matches", ErrNoLines, s.to)
	case s.grep != nil && s.lines >= s.from:
		return fmt.Errorf("%w: none matches; the text has %d line(s)", ErrNoLines, s.lines)
	}
	return fmt.Errorf("%w: the text has %d line(s)", ErrNoLines, s.lines)
}

// selection is one Select under way.
type selection struct {
	Range
	in      *bufio.Reader // its buffer is as long as a piece
	out     *bufio.Writer
	overlap int    // bytes
	window  []byte // of a line too long for in's buffer
	lines   int64  // that were read
	ended   bool   // the text has no more of them
	found   bool   // something was copied
}

// run ends at the end of the text, or after the last line wanted.
func (s *selection) run() error {
	for n := int64(1); s.to == 0 || n <= s.to; n++ {
		var err error
		switch {
		case n < s.from:
			err = s.skip(n)
		case s.grep == nil:
			err = s.copy(n)
		default:
			err = s.search(n)
		}
		if err == io.EOF {
			s.ended = true
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// line reads line n, or its first piece.
func (s *selection) line(n int64) ([]byte, error) {
	piece, err := s.in.ReadSlice('\n')
	if len(piece) > 0 {
		s.lines = n
	}
	return piece, err
}

func (s *selection) skip(n int64) error {
	_, err := s.line(n)
	for err == bufio.ErrBufferFull {
		_, err = s.in.ReadSlice('\n')
	}
	return err
}

func (s *selection) copy(n int64) error {
	for {
		piece, err := s.line(n)
		s.found = s.found || len(piece) > 0
		if _, failed := s.out.Write(piece); failed != nil {
			return failed
		}
		if err != bufio.ErrBufferFull {
			return err
		}
	}
}

// search prints line n if it matches. What was read before a read failed counts.
func (s *selection) search(n int64) error {
	piece, err := s.line(n)
	if err == bufio.ErrBufferFull {
		return s.searchLong(n, piece)
	}
	if len(piece) == 0 || !s.grep.Match(text(piece)) {
		return err
	}
	s.found = true
	if _, failed := fmt.Fprintf(s.out, "%d:%s\n", n, text(piece)); failed != nil {
		return failed
	}
	return err
}

// searchLong prints the pieces of line n that match. The first has been read, and more of the line follows.
func (s *selection) searchLong(n int64, first []byte) error {
	s.window = append(s.window[:0], first...)
	err := bufio.ErrBufferFull
	for offset := 0; ; {
		if found := text(s.window); s.grep.Match(found) {
			s.found = true
			if _, failed := fmt.Fprintf(s.out, "%d+%d:%s\n", n, offset, found); failed != nil {
				return failed
			}
		}
		if err != bufio.ErrBufferFull {
			return err
		}
		var more []byte
		more, err = s.in.ReadSlice('\n')
		if err != bufio.ErrBufferFull && len(text(more)) == 0 {
			return err
		}
		begin := len(s.window) - s.overlap
		offset += begin
		s.window = append(s.window[:copy(s.window, s.window[begin:])], more...)
	}
}

// text returns line without what ends it.
func text(line []byte) []byte {
	line, ended := bytes.CutSuffix(line, []byte("\n"))
	if ended {
		line, _ = bytes.CutSuffix(line, []byte("\r"))
	}
	return line
}
