// Package markup has what pages are made of beside elements: where links lead, numbers with the value that the API
// tells, texts from outside, and nodes on lines of their own.
//
// It promises that no text that it is given becomes a part of a page's code, and that a link leads to a place below
// /-/ or within its own page, whatever the address is made of. Elements are gomponents'; who uses them keeps to the
// same by writing names of elements and attributes as constants, and no code.
package markup

import (
	"io"
	"strings"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"epitome/console/chart"
)

// mostText bounds, in characters, what a page shows of one text that came from outside.
const mostText = 2000

// Shown returns a text from outside as a page may show it: bounded, and with what cannot be seen made visible.
func Shown(text string) string { return ShownWithin(text, mostText) }

// ShownWithin is Shown with a bound of its own, in characters.
func ShownWithin(text string, most int) string { return chart.Plain(chart.Shortened(text, most)) }

// Text shows a text from outside.
func Text(text string) g.Node { return g.Text(Shown(text)) }

// Foreign shows a text from outside that may be written in another direction than what stands around it.
func Foreign(text string) g.Node { return g.El("bdi", Text(text)) }

// Named shows a name from outside, or what stands in the place of one that is not known or has nothing to be seen.
func Named(name, otherwise string) g.Node {
	if strings.TrimSpace(name) == "" {
		name = otherwise
	}
	return Foreign(name)
}

// Region is a part of a page that scrolls by itself where the screen is too narrow for it. name is the attribute that
// says to whom does not see it what it is.
func Region(name g.Node, content ...g.Node) g.Node {
	return h.Div(h.Class("wide"), h.Role("region"), name, h.TabIndex("0"), g.Group(content))
}

// Lines are nodes that stand on lines of their own, so that a page can be read and compared as a text. Those that are
// nil take none.
type Lines []g.Node

// Each makes a line of each one.
func Each[T any](all []T, line func(T) g.Node) Lines {
	lines := make(Lines, 0, len(all))
	for _, one := range all {
		lines = append(lines, line(one))
	}
	return lines
}

// Render writes the lines, and ends the line before them.
func (l Lines) Render(w io.Writer) error {
	if _, err := io.WriteString(w, "\n"); err != nil {
		return err
	}
	return l.renderEach(w)
}

func (l Lines) renderEach(w io.Writer) error {
	for _, node := range l {
		var err error
		switch node := node.(type) {
		case nil:
		case Lines:
			err = node.renderEach(w)
		default:
			if err = node.Render(w); err == nil {
				_, err = io.WriteString(w, "\n")
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}
