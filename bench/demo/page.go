package demo

import (
	"fmt"
	"io"
	"strings"
)

// width is how many columns a line has.
const width = 100

// page writes lines and remembers the first error.
type page struct {
	to  io.Writer
	err error
}

func (p *page) line(format string, a ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintln(p.to, strings.TrimRight(fmt.Sprintf(format, a...), " "))
	}
}

// fact writes a name and, beside it, a text on as many lines as it takes.
func (p *page) fact(name, text string) {
	const column = 24
	for _, l := range wrap(text, width-column) {
		p.line("%-*s%s", column, name, l)
		name = ""
	}
}

// bar draws a share of the window.
func bar(tokens, window int) string {
	const cells = 8
	n := min((tokens*cells+window/2)/window, cells)
	return strings.Repeat("█", n) + strings.Repeat("·", cells-n)
}
