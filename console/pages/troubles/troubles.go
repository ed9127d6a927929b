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

// mostShown bounds the table.
const mostShown = 8

// View lists some of the exchanges, the newest of which comes first. There is nothing to see if there are none.
func View(all []event.Exchange, r frame.Reader) g.Node {
	if len(all) == 0 {
		return nil
	}
	return markup.Lines{
		h.H2(h.ID("wrong"), g.Text("Went wrong lately")),
		markup.Remark(g.Text("The newest exchanges in which something failed, whenever that was. "),
			g.Text("A bypassed request went on as it came.")),
		markup.Region(h.Aria("labelledby", "wrong"), markup.Table([]markup.Column{
			{Text: "exchange"},
			{Text: "time", Words: true},
			{Text: "model", Words: true},
			{Text: "what became of it", Words: true},
			{Text: "conversation", Words: true},
		}, markup.Each(all[:min(len(all), mostShown)], func(e event.Exchange) g.Node {
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
		}))),
	}
}
