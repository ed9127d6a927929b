// Package troubles shows which exchanges went wrong lately, whatever conversation they are of, or of none.
//
// It promises that each leads to its page, and that what became of it is told in words.
package troubles

import (
	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"epitome/console/markup"
	"epitome/console/pages/frame"
	"epitome/console/pages/words"
	"epitome/event"
)

// mostShown is how many of them the overview has; the others have a page.
const mostShown = 8

// title is what the exchanges are called.
const title = "Went wrong lately"

// View lists some of the exchanges, the newest of which comes first. There is nothing to see if there are none.
func View(all []event.Exchange, r frame.Reader) g.Node {
	if len(all) == 0 {
		return nil
	}
	shown := all[:min(len(all), mostShown)]
	return markup.Lines{
		h.H2(h.ID("wrong"), g.Text(title)),
		about(),
		table(shown, r),
		g.If(len(all) > len(shown), h.P(markup.Link(frame.ToTroubles(), g.Text("All "), markup.Count(len(all))))),
	}
}

// Page lists all of them.
func Page(all []event.Exchange, r frame.Reader) *frame.Page {
	list := table(all, r, markup.Live("rows"))
	if len(all) == 0 {
		list = h.Div(markup.Live("rows"), markup.Nothing(g.Text("Nothing went wrong in the exchanges that are kept.")))
	}
	return &frame.Page{Title: title, Here: "overview", Body: markup.Lines{
		h.H1(h.ID("wrong"), g.Text(title)), about(), list}}
}

func about() g.Node {
	return markup.Remark(g.Text("The newest exchanges in which something failed, whenever that was. A bypassed request went on" +
		" as it came."))
}

// table lists the exchanges in a region with the attributes.
func table(all []event.Exchange, r frame.Reader, attributes ...g.Node) g.Node {
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
