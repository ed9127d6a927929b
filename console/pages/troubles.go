package pages

import (
	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"epitome/console/markup"
	"epitome/console/pages/frame"
	"epitome/console/pages/words"
	"epitome/event"
)

// mostTroubles is how many of them the overview has; the others have a page.
const mostTroubles = 8

// troublesTitle is what the exchanges are called.
const troublesTitle = "Went wrong lately"

// viewTroubles lists some of the exchanges, the newest of which comes first. There is nothing to see if there are none.
func viewTroubles(all []event.Exchange, r frame.Reader) g.Node {
	if len(all) == 0 {
		return nil
	}
	shown := all[:min(len(all), mostTroubles)]
	return markup.Lines{
		h.H2(h.ID("wrong"), g.Text(troublesTitle)),
		aboutTroubles(),
		troublesTable(shown, r),
		g.If(len(all) > len(shown), h.P(markup.Link(frame.ToTroubles(), g.Text("All "), markup.Count(len(all))))),
	}
}

// troublesPage lists all of them.
func troublesPage(all []event.Exchange, r frame.Reader) *frame.Page {
	list := troublesTable(all, r, markup.Live("rows"))
	if len(all) == 0 {
		list = h.Div(markup.Live("rows"), markup.Nothing(g.Text("Nothing went wrong in the exchanges that are kept.")))
	}
	return &frame.Page{Title: troublesTitle, Here: "overview", Body: markup.Lines{
		h.H1(h.ID("wrong"), g.Text(troublesTitle)), aboutTroubles(), list}}
}

func aboutTroubles() g.Node {
	return markup.Remark(g.Text("The newest exchanges in which something failed, whenever that was. A bypassed request went on" +
		" as it came."))
}

// troublesTable lists the exchanges in a region with the attributes.
func troublesTable(all []event.Exchange, r frame.Reader, attributes ...g.Node) g.Node {
	return markup.Region(h.Aria("labelledby", "wrong"), g.Group(attributes), markup.Table([]markup.Column{
		{Text: "exchange"},
		{Text: "time", Words: true},
		{Text: "model", Words: true},
		{Text: "what became of it", Words: true},
		{Text: "conversation", Words: true},
	}, markup.Each(all, func(e event.Exchange) g.Node {
		conversation := markup.Soft("none")
		if e.Conversation != "" {
			conversation = markup.Link(frame.ToConversation(e.Conversation), markup.ShortID(e.Conversation))
		}
		return h.Tr(
			markup.RowHead(markup.Link(frame.ToExchange(e.Seq), g.Textf("%d", e.Seq))),
			markup.Wording(r.Clock(e.Start)),
			markup.Wording(markup.Named(e.Model, "no model")),
			markup.Wording(g.Text(words.Wrong(e))),
			markup.Wording(conversation))
	})))
}
