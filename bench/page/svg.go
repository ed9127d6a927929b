package page

import (
	"fmt"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"epitome/console/chart"
)

// The charts as SVG: what charts.go has worked out stands where it says.

// place is where something stands in a drawing, in its units.
type place struct{ x, y string }

// drawing is an image that says in words what it shows.
func drawing(box, words string, shapes ...g.Node) g.Node {
	return g.El("svg", g.Attr("viewBox", box), h.Role("img"), h.Aria("label", words), g.Group(shapes))
}

func straight(class string, from, to place) g.Node {
	return g.El("line", h.Class(class), g.Attr("x1", from.x), g.Attr("x2", to.x), g.Attr("y1", from.y), g.Attr("y2", to.y))
}

func points(class, list string) g.Node {
	return g.El("polyline", h.Class(class), g.Attr("points", list))
}

func written(class string, at place, text string) g.Node {
	return g.El("text", g.If(class != "", h.Class(class)), g.Attr("x", at.x), g.Attr("y", at.y), g.Text(text))
}

// up are the lines of a grid with their numbers before them.
func up(ticks []chart.Tick) g.Group {
	return each(ticks, func(t chart.Tick) g.Node {
		return g.Group{
			straight("grid", place{"42", t.At}, place{"390", t.At}),
			g.El("text", h.Class("end"), g.Attr("x", "38"), g.Attr("y", t.At), g.Attr("dy", "4"), g.Text(t.Text)),
		}
	})
}

// colored is the class of a kind of shape in a policy's colour.
func colored(kind string, color int) string { return kind + whole(color) }

func (b bars) figure() g.Node {
	height := whole(b.Height)
	return h.Figure(
		h.FigCaption(g.Text("Window of "), h.Strong(g.Text(b.Window)), g.Text(" tokens")),
		drawing("0 0 400 "+height, fmt.Sprintf("Cost by policy, window of %s tokens", b.Window),
			lines(straight("grid", place{b.One, "0"}, place{b.One, height})),
			each(b.Bars, bar.shapes)))
}

func (b bar) shapes() g.Node {
	return g.Group{
		written("on end name", place{"184", b.TextY}, b.Name),
		g.El("rect", h.Class(colored("f", b.Color)), g.Attr("x", "190"), g.Attr("y", b.Y), h.Width(b.Length),
			h.Height("16"), g.Attr("rx", "2")),
		written("on", place{b.ValueEnd, b.TextY}, b.Text),
	}
}

func (s scatter) figure() g.Node {
	return h.Figure(
		h.FigCaption(g.Text("Window of "), h.Strong(g.Text(s.Window)), g.Text(" tokens"), s.without()),
		drawing("0 -24 400 260", fmt.Sprintf("Needs met against cost, window of %s tokens", s.Window),
			up(s.Up),
			each(s.Across, func(t chart.Tick) g.Node {
				return g.Group{
					straight("grid", place{t.At, "12"}, place{t.At, "202"}),
					written("mid", place{t.At, "216"}, t.Text),
				}
			}),
			lines(written("mid", place{"216", "231"}, "cost"), written("", place{"42", "-12"}, "needs met, %")),
			each(s.Dots, dot.shapes)))
}

// without names the policies that the chart cannot show; nil if it shows all.
func (s scatter) without() g.Node {
	if len(s.Missing) == 0 {
		return nil
	}
	all := g.Group{g.Text("; without ")}
	for i, missing := range s.Missing {
		all = append(all, g.If(i > 0, g.Text(", ")), named(missing))
	}
	return append(all, g.Text(", of which there is no such figure"))
}

func (d dot) shapes() g.Node {
	return g.El("g", g.El("title", g.Text(d.Name)),
		g.El("circle", h.Class(colored("f", d.Color)), g.Attr("cx", d.X), g.Attr("cy", d.Y), g.Attr("r", "5")),
		written("on", place{d.LabelX, d.Label}, whole(d.Number)))
}

func (c courseChart) drawing() g.Node {
	inner := g.El("svg", g.Attr("x", "42"), g.Attr("y", "12"), h.Width("348"), h.Height("150"),
		g.Attr("viewBox", "0 0 348 150"), points("line raw", c.Raw), g.Map(c.Lines, courseLine.line))
	return drawing("0 0 400 196", fmt.Sprintf("Tokens of each request, window of %s tokens", c.Window),
		up(c.Up),
		each(c.Across, func(t chart.Tick) g.Node { return written("mid", place{t.At, "178"}, t.Text) }),
		lines(
			written("mid", place{"216", "192"}, "request"),
			straight("limit", place{"42", c.WindowY}, place{"390", c.WindowY}),
			inner,
			g.Map(c.Lines, courseLine.marks),
			g.If(c.Above != "", written("on", place{"50", "24"}, "as sent by the client up to "+c.Above))))
}

func (l courseLine) line() g.Node { return points("line "+colored("s", l.Color), l.Points) }

// marks are where decisions were made.
func (l courseLine) marks() g.Node {
	return g.Map(l.Marks, func(x string) g.Node {
		return straight("mark "+colored("s", l.Color), place{x, l.MarkFrom}, place{x, l.MarkTo})
	})
}
