package drawing

import (
	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"epitome/console/chart"
	"epitome/console/markup"
	"epitome/console/pages/frame"
)

// View is the chart with its heading, and with what its signs and colours mean. watched is that all its turns were only
// observed.
func (c *Course) View(watched bool) g.Node {
	return markup.Lines{
		h.H2(h.ID("course"), g.Text("Tokens by turn")),
		c.signs(watched),
		h.Ul(h.Class("key"), g.Map(c.Parts, colour)),
		markup.Region(h.Aria("labelledby", "course"), g.Attr("data-chart"), g.El("svg", h.Class("chart"),
			g.Attr("viewBox", "0 0 800 342"), h.Role("group"), h.Aria("label", c.describe), title(c.describe),
			c.drawing())),
	}
}

func (c *Course) signs(watched bool) g.Node {
	sent := "sent"
	if watched {
		sent = "would have sent"
	}
	return h.P(h.Class("soft"), g.Text("Dotted: as the client sent it. Coloured: as epitome "+sent+
		" it on, by what it is spent on. Marks: "), h.B(g.Text("O")), g.Text(" offload, "), h.B(g.Text("C")),
		g.Text(" clear, "), h.B(g.Text("K")), g.Text(" compact, "), h.B(g.Text("R")),
		g.Text(" rescue; each leads to its exchange. Below: the share that the provider's cache had; "),
		h.B(g.Text("✕")), g.Text(" is a miss."), g.If(c.above != 0, g.Group{
			g.Text(" The dotted line goes on up to "), markup.Made(c.above, "largest tokens_before"), g.Text(".")}))
}

// colour says what a colour stands for.
func colour(p Part) g.Node {
	return h.Li(g.El("svg", h.Width("12"), h.Height("12"), h.Aria("hidden", "true"),
		g.El("rect", h.Class(p.Class), h.Width("12"), h.Height("12"))), g.Text(" "+p.Name))
}

// drawing is what the chart shows, from what lies below to what lies above.
func (c *Course) drawing() g.Node {
	return markup.Lines{
		shapes(),
		markup.Each(c.up, tick),
		markup.Each(c.across, func(t chart.Tick) g.Node { return caption("mid", t.At, "272", t.Text) }),
		c.plot(),
		markup.Each(c.lines, limit.caption),
		g.Group{grid("314"), caption("end", "45", "304", "cache")},
		g.If(c.hits != "", g.El("path", h.Class("hits"), g.Attr("stroke-width", c.pitch), g.Attr("d", c.hits))),
		markup.Each(c.columns, column.pointed),
		markup.Each(c.misses, spot.crossed),
		markup.Each(c.marks, mark.lettered),
		caption("mid", "420", "334", "turn"),
	}
}

// plot has what was sent by its parts, and the lines.
func (c *Course) plot() g.Node {
	return g.El("svg", g.Attr("x", "0"), g.Attr("y", "66"), h.Width("800"), h.Height("190"),
		g.Attr("viewBox", "0 66 800 190"), markup.Lines{
			markup.Each(c.areas, func(a area) g.Node {
				return g.El("polygon", h.Class(a.class), g.Attr("points", a.points))
			}),
			markup.Each(c.lines, func(l limit) g.Node { return line(l.class, l.points) }),
			line("raw", c.raw),
		})
}

// shapes are the marks of the rungs, each in a shape of its own, drawn once for all places where they stand.
func shapes() g.Node {
	shape := func(letter string, outline g.Node, y string) g.Node {
		return g.El("g", h.ID(letter), h.Class("mark"), outline,
			g.El("text", h.Class("mid"), g.Attr("y", y), g.Text(letter)))
	}
	path := func(d string) g.Node { return g.El("path", g.Attr("d", d)) }
	return g.El("defs", shape("O", g.El("circle", g.Attr("r", "7")), "3"), shape("C", path("M-7-7h14v14h-14z"), "3"),
		shape("K", path("M0-9L9 0L0 9L-9 0z"), "3"), shape("R", path("M0-9L9 7H-9z"), "5"))
}

func (l limit) caption() g.Node {
	class := "on"
	if l.label.side != "" {
		class += " " + l.label.side
	}
	return caption(class, l.label.x, l.label.y, l.name)
}

func (c column) pointed() g.Node {
	return g.El("rect", h.Class("column"), g.Attr("x", c.x), h.Width(c.width), title(c.title))
}

func (s spot) crossed() g.Node {
	return g.El("path", h.Class("miss"), g.Attr("d", s.path), title(s.title))
}

// lettered is a mark that leads to its exchange.
func (m mark) lettered() g.Node {
	return markup.Link(frame.ToExchange(m.seq), title(m.title),
		g.El("use", markup.Href(markup.Here(m.letter)), g.Attr("x", m.x), g.Attr("y", m.y)))
}

func line(class, points string) g.Node {
	return g.El("polyline", h.Class("line "+class), g.Attr("points", points))
}
