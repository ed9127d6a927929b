package markup

import (
	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"epitome/console/chart"
)

// Note is a paragraph that a reader must not miss.
func Note(content ...g.Node) g.Node { return h.P(h.Class("note"), g.Group(content)) }

// Remark is a paragraph that explains what stands beside it.
func Remark(content ...g.Node) g.Node { return h.P(h.Class("soft"), g.Group(content)) }

// Nothing says why there is nothing to show.
func Nothing(content ...g.Node) g.Node { return h.P(h.Class("empty"), g.Group(content)) }

// Soft is a word in the place of a figure.
func Soft(text string) g.Node { return h.Span(h.Class("soft"), g.Text(text)) }

// Code is what is written in a file or typed.
func Code(text string) g.Node { return h.Code(g.Text(text)) }

// Live are the attributes of a part that the script brings up to date.
func Live(id string) g.Node { return g.Group{g.Attr("data-live"), h.ID(id)} }

// Tile is a figure with its name above, and what there is to say of it below.
func Tile(name string, shown g.Node, about ...g.Node) g.Node {
	return h.Div(h.Dt(g.Text(name)), h.Dd(shown), h.Dd(h.Class("soft"), g.Group(about)))
}

// Choice is one of several ways to look at a page.
type Choice struct {
	Text string
	To   Address
	Here bool
}

// Choose leads to each of the ways.
func Choose(name string, all []Choice) g.Node {
	return h.Nav(h.Class("choice"), h.Aria("label", name), g.Map(all, func(c Choice) g.Node {
		return g.Group{Link(c.To, g.If(c.Here, h.Aria("current", "true")), g.Text(c.Text)), g.Text(" ")}
	}))
}

// Column is a column of a table.
type Column struct {
	Text  string
	Title string // what it has; empty: the text says it
	Words bool   // it has words, and no numbers
}

// Table is a table with its columns, and rows below one another.
func Table(columns []Column, rows Lines) g.Node {
	return h.Table(heads(columns), h.TBody(rows))
}

// Stacked is a table whose cells stand below one another on a narrow screen.
func Stacked(class string, columns []Column, rows Lines) g.Node {
	return h.Table(h.Class(class), heads(columns), h.TBody(rows))
}

func heads(columns []Column) g.Node {
	return h.THead(h.Tr(g.Map(columns, func(c Column) g.Node {
		return h.Th(h.Scope("col"), g.If(c.Words, h.Class("text")), g.If(c.Title != "", h.Title(c.Title)), g.Text(c.Text))
	})))
}

// RowHead is the cell that says what a row is of.
func RowHead(content ...g.Node) g.Node { return h.Th(h.Scope("row"), g.Group(content)) }

// Cell has a number.
func Cell(content ...g.Node) g.Node { return h.Td(g.Group(content)) }

// Wording is a cell that has words.
func Wording(content ...g.Node) g.Node { return h.Td(h.Class("text"), g.Group(content)) }

// ShortID is the beginning of an id, which tells it from others.
func ShortID(id string) g.Node {
	const most, whole = 12, 14
	shown := Shown(id)
	if len(id) > whole {
		shown = chart.Shortened(shown, most+1)
	}
	return g.El("bdi", h.Title(Shown(id)), g.Text(shown))
}
