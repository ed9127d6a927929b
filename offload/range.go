package offload

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"

	"github.com/dustin/go-humanize/english"
)

const maxRegexp = 256 // bytes; a search takes time for each byte of text and each of the expression

// ErrNoLines says that a text has none of the lines that are wanted.
var ErrNoLines = errors.New("no line matches")

// Range says which lines of a text are wanted. The zero Range wants all.
type Range struct {
	from, to int // from 1; 0 is open
	grep     *regexp.Regexp
}

// rangeForm matches numbers of lines, from 1, as "A-B", "A-", "-B" and "A".
var rangeForm = regexp.MustCompile(`^([1-9][0-9]{0,17})?(-)?([1-9][0-9]{0,17})?$`)

// ParseRange reads lines, as in "10-20", "10-", "-20" or "10", counted from 1, and grep, a regular expression of Go.
// Empty ones want everything. With both, the matching ones of these lines are wanted.
func ParseRange(lines, grep string) (want Range, err error) {
	if lines != "" {
		m := rangeForm.FindStringSubmatch(lines)
		if m != nil {
			want.from, _ = strconv.Atoi(m[1])
			want.to, _ = strconv.Atoi(m[3])
		}
		if m == nil || lines == "-" || want.to != 0 && want.to < want.from {
			return want, fmt.Errorf("cannot read lines=%.40q: want 10-20 (A-B, A at most B), 10-, -20 or 10", lines)
		}
		if m[2] == "" {
			want.to = want.from
		}
	}
	if len(grep) > maxRegexp {
		return want, fmt.Errorf("cannot read grep=%.40q: it has %d bytes; want at most %d", grep, len(grep), maxRegexp)
	}
	if grep != "" {
		if want.grep, err = regexp.Compile(grep); err != nil {
			return Range{}, fmt.Errorf("cannot read grep=%.40q: %w", grep, err)
		}
	}
	return want, nil
}

// Select returns the wanted lines of a text. Without grep they are unchanged. With grep, each line follows its number
// and a colon, and of a long line there is only the text around its matches. The error is ErrNoLines if a part of the
// text was wanted and there is none, and that of the context once it ends.
func Select(ctx context.Context, text []byte, want Range) ([]byte, error) {
	if want == (Range{}) {
		return text, ctx.Err()
	}
	var out bytes.Buffer
	lines := 0 // so far
	found := false
	for line := range bytes.Lines(text) {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("cannot select lines: %w", ctx.Err())
		}
		lines++
		if lines < want.from || want.to != 0 && lines > want.to {
			continue
		}
		if want.grep == nil {
			found = true
			out.Write(line)
			continue
		}
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		found = writeMatches(&out, lines, line, want.grep) || found
	}
	if !found {
		return nil, fmt.Errorf("%w: the text has %s", ErrNoLines, english.Plural(lines, "line", ""))
	}
	return out.Bytes(), nil
}

// writeMatches writes line n if it matches, and reports whether it does. A long line is written in parts, each around a
// match, as in "12+61440:text": the number of the line and the offset of the part in bytes.
func writeMatches(w io.Writer, n int, line []byte, grep *regexp.Regexp) bool {
	const long, around, most = 2 << 10, 300, 10 // bytes, bytes, matches
	if len(line) <= long {
		if !grep.Match(line) {
			return false
		}
		fmt.Fprintf(w, "%d:%s\n", n, line)
		return true
	}
	matches := grep.FindAllIndex(line, most)
	shown := 0 // bytes of the line
	for _, match := range matches {
		from, to := max(match[0]-around, shown), min(match[1]+around, match[0]+2*long, len(line))
		if from < to {
			fmt.Fprintf(w, "%d+%d:%s\n", n, from, bytes.ToValidUTF8(line[from:to], nil))
			shown = to
		}
	}
	return matches != nil
}
