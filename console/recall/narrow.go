package recall

import (
	"bytes"
	"fmt"
	"regexp"
	"unicode/utf8"
)

// Of a line that is longer than longLine, only what lies around its matches is shown.
const (
	longLine    = 2 << 10 // bytes
	around      = 300     // bytes to either side
	mostMatches = 10      // of a line, or of a piece of one that is very long
)

// narrow hands lines that were found on to a page. Each begins with its number and a colon, or with "+" and an offset
// in the line between them.
type narrow struct {
	to   *page
	grep *regexp.Regexp
	line []byte // that has not ended
}

func (n *narrow) Write(b []byte) (int, error) {
	for rest := b; len(rest) > 0; {
		piece, more, ended := bytes.Cut(rest, []byte("\n"))
		n.line, rest = append(n.line, piece...), more
		if !ended {
			break
		}
		if err := n.end(); err != nil {
			return 0, err
		}
	}
	return len(b), nil
}

// end writes the line that has ended.
func (n *narrow) end() error {
	line := n.line
	n.line = n.line[:0]
	mark, text, _ := bytes.Cut(line, []byte(":"))
	if len(line) <= longLine {
		_, err := n.to.Write(append(line, '\n'))
		return err
	}
	number, offset := placeOf(string(mark))
	found := n.grep.FindAllIndex(text, mostMatches+1)
	shown := 0 // bytes of the text, up to the end of what was shown last
	for i, at := range found {
		if i == mostMatches {
			_, err := fmt.Fprintf(n.to, "[epitome: line %s has more matches; read on with from, or give a narrower expression]\n", number)
			return err
		}
		from, to := max(at[0]-around, shown), min(at[1]+around, at[0]+2*longLine, len(text))
		if shown = max(shown, to); from >= to {
			continue
		}
		for from < to && !utf8.RuneStart(text[from]) {
			from++
		}
		if _, err := fmt.Fprintf(n.to, "%s+%d:%s\n", number, offset+from, whole(string(text[from:to]))); err != nil {
			return err
		}
	}
	return nil
}
