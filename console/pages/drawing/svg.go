package drawing

import (
	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"epitome/console/chart"
)

// grid is a thin line across the chart.
func grid(y string) g.Node {
	return g.El("line", h.Class("grid"), g.Attr("x1", "50"), g.Attr("x2", "790"), g.Attr("y1", y), g.Attr("y2", y))
}

// tick is a line of the grid with its number beside it.
func tick(t chart.Tick) g.Node {
	return g.Group{grid(t.At),
		g.El("text", h.Class("end"), g.Attr("x", "45"), g.Attr("y", t.At), g.Attr("dy", "4"), g.Text(t.Text))}
}

// caption is a text in a chart; class says how it stands at its place, if it does not begin there.
func caption(class, x, y, text string) g.Node {
	return g.El("text", g.If(class != "", h.Class(class)), g.Attr("x", x), g.Attr("y", y), g.Text(text))
}

// title is what is said of a part of a chart that is pointed at.
func title(text string) g.Node { return g.El("title", g.Text(text)) }
