package page

import (
	_ "embed"
	"fmt"
	"strconv"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"
)

// The page as HTML. All that is written is escaped where it is written, but for these two.

//go:embed page.css
var styleSheet string

//go:embed page.js
var script string

// allowed tells the browser what the page needs: its own style sheet and script.
const allowed = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"

// document is the whole page.
func (p *page) document() g.Node {
	title := g.Textf("Replay of %d conversations", p.All)
	return h.Doctype(g.Group{g.Text("\n"), h.HTML(h.Lang("en"), g.Text("\n"),
		h.Head(lines(
			h.Meta(h.Charset("utf-8")),
			h.Meta(h.Name("viewport"), h.Content("width=device-width, initial-scale=1")),
			h.Meta(h.Name("color-scheme"), h.Content("light dark")),
			h.Meta(g.Attr("http-equiv", "Content-Security-Policy"), h.Content(allowed)),
			h.TitleEl(title),
			h.StyleEl(g.Raw(styleSheet)),
		)),
		h.Body(
			lines(h.H1(title)),
			p.beginning(),
			g.If(len(p.Costs) > 0, p.comparison()),
			g.If(len(p.Talks) > 0, p.conversations()),
			g.Map(p.Sheets, sheet.section),
			g.If(len(p.Words) > 0, p.meanings()),
			lines(h.Script(g.Raw(script))),
		),
	)})
}

// lines has each of the nodes begin a line in the page's text.
func lines(nodes ...g.Node) g.Group {
	var all g.Group
	for _, node := range nodes {
		if node != nil {
			all = append(all, g.Text("\n"), node)
		}
	}
	return all
}

// each is what one makes of each of the list, likewise.
func each[T any](list []T, one func(T) g.Node) g.Group { return lines(g.Map(list, one)...) }

// whole writes a number.
func whole(n int) string { return strconv.Itoa(n) }

// beginning is what the report comes to, how it was made, and the policies in it.
func (p *page) beginning() g.Node {
	made := g.Group{g.Text(p.About)}
	if p.Command != "" {
		made = append(made, g.Text(", with "), h.Code(g.Text(p.Command)))
	}
	return g.Group{
		each(p.Headline, loud),
		g.If(p.Verdict != "", lines(loud(p.Verdict))),
		lines(h.P(h.Class("soft"), made, g.Text("."))),
		each(p.Head, soft),
		lines(
			h.P(g.Text("Recorded conversations were played once as their clients sent them, and once with each of these "+
				"policies in between:")),
			h.Ul(h.Class("key"), each(p.Legend, legend.entry))),
	}
}

func (l legend) entry() g.Node {
	return h.Li(h.B(h.Class(colored("b", l.Color)), g.Text(whole(l.Number))), g.Text(" "), named(l.Name))
}

func loud(text string) g.Node { return h.P(h.Class("head"), g.Text(text)) }

func soft(text string) g.Node { return h.P(h.Class("soft"), g.Text(text)) }

// named is a name, which changes the direction of no text beside it.
func named(text string) g.Node { return g.El("bdi", g.Text(text)) }

// comparison is what the policies cost, and what was still there.
func (p *page) comparison() g.Node {
	return lines(
		h.H2(g.Text("Cost")),
		h.P(g.Text("The price of all input relative to sending everything (the line at 1). What the provider has cached "+
			"costs a tenth.")),
		h.Div(h.Class("cards"), each(p.Costs, bars.figure)),
		h.H2(g.Text("What is still there, against cost")),
		h.P(g.Text("Up: of what answers name and the conversation held before, the share that the request still holds "+
			"in context, over hot requests: in a message that is there whole, or on a line of one. Across: cost. Up and to "+
			"the left is better.")),
		h.Div(h.Class("cards"), each(p.Recalls, scatter.figure)),
	)
}

// conversations are the charts of the longest ones, and a choice among them for a browser that runs the script.
func (p *page) conversations() g.Node {
	text := "Tokens of each request: dotted as the client sent it, in colour as it was sent on. A mark below is a decision " +
		"that changed what had been sent; the dashed line is the window."
	if p.All > len(p.Talks) {
		text += fmt.Sprintf(" The %d longest of %d conversations are drawn; the report as JSON has all.", len(p.Talks), p.All)
	}
	every := h.Option(h.Value("all"), g.Text("all"))
	return lines(
		h.H2(g.Text("Conversations")),
		h.P(g.Text(text)),
		h.P(h.ID("choice"), g.Attr("hidden"),
			h.Label(g.Text("Conversation "), h.Select(h.ID("talk"), each(p.Talks, talk.option), every)), g.Text(" "),
			h.Label(g.Text("Window "), h.Select(h.ID("window"), every, g.Map(p.Windows, func(size string) g.Node {
				return h.Option(g.Text(size))
			})))),
		h.Div(h.Class("cards"), each(p.Talks, talk.figures)),
	)
}

func (t talk) option() g.Node {
	return h.Option(h.Value(whole(t.Number)), g.Textf("%s (%d requests)", t.Name, t.Requests))
}

// figures are the conversation's charts, one for each window.
func (t talk) figures() g.Node {
	return each(t.Courses, func(c courseChart) g.Node {
		return h.Figure(h.Data("talk", whole(t.Number)), h.Data("window", c.Window),
			h.FigCaption(named(t.Name), g.Text(", window of "), h.Strong(g.Text(c.Window)),
				g.Map(c.Lines, func(l courseLine) g.Node {
					return g.Group{g.Text("; "), named(l.Name), g.Textf(": %d decisions", l.Count)}
				})),
			c.drawing())
	})
}

// section is the table with what was said below it.
func (s sheet) section() g.Node {
	return lines(
		h.H2(g.Text(s.Title)),
		h.Div(h.Class("wide"), h.Table(
			h.THead(h.Tr(g.Map(s.Heads(), column.head))),
			h.TBody(each(s.Rows, func(cells []string) g.Node { return h.Tr(g.Map(cells, cell)) })))),
		g.If(len(s.Lines) > 0, h.Ul(h.Class("lines"), each(s.Lines, func(line string) g.Node {
			return h.Li(g.Text(line))
		}))),
	)
}

func (c column) head() g.Node {
	return h.Th(h.Scope("col"), g.If(c.Meaning != "", h.Title(c.Meaning)), g.Text(c.Name))
}

func cell(text string) g.Node {
	return h.Td(g.If(text == "MISSED", h.Class("missed")), g.Text(text))
}

// meanings says what the columns mean to who cannot point at a head.
func (p *page) meanings() g.Node {
	return lines(
		h.H2(g.Text("What the columns mean")),
		h.Dl(each(p.Words, func(c column) g.Node {
			return g.Group{h.Dt(g.Text(c.Name)), h.Dd(g.Text(c.Meaning))}
		})),
	)
}
