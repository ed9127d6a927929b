package pages

import (
	"cmp"
	"net/http"
	"slices"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"epitome/console/markup"
	"epitome/console/pages/frame"
	"epitome/console/pages/words"
	"epitome/console/story"
)

// conversationsList is the page with all conversations.
type conversationsList struct {
	story.Page[story.Conversation]
	Match   string
	Columns []heading
	NextTo  markup.Address // where the next page is; none at the end
	FirstTo markup.Address // where the first page is; none on it
	frame.Reader
}

// heading is a column that can be sorted by.
type heading struct {
	Text, Title string         // Title says what it is
	To          markup.Address // the list sorted by it; none: it cannot be
	Sort        string         // aria-sort, if it is
	Number      bool
}

// conversations makes the page with all conversations, a hundred at a time.
func (p *Pages) conversations(r *http.Request) (*frame.Page, error) {
	q := r.URL.Query()
	asked := story.Listing{Cursor: q.Get("cursor"), Match: q.Get("match"), Rising: q.Get("rising") != "",
		Sort: cmp.Or(q.Get("sort"), story.SortLast)}
	columns := headings(asked)
	if !slices.ContainsFunc(columns, func(c heading) bool { return c.Sort != "" }) { // there is no such column
		asked.Sort = story.SortLast
		columns = headings(asked)
	}
	found, err := p.plugs.Source.Conversations(asked)
	if err != nil {
		return nil, err
	}
	list := conversationsList{Page: found, Match: asked.Match, Columns: columns, Reader: p.reader(r)}
	at := func(cursor string) markup.Address {
		next := asked
		next.Cursor = cursor
		return listAddress(next)
	}
	if found.Next != "" {
		list.NextTo = at(found.Next)
	}
	if asked.Cursor != "" {
		list.FirstTo = at("")
	}
	return &frame.Page{Title: "Conversations", Here: "conversations", Body: list.view()}, nil
}

// listAddress is where a list is.
func listAddress(l story.Listing) markup.Address {
	at := markup.At("conversations")
	if l.Cursor != "" {
		at = at.With("cursor", l.Cursor)
	}
	if l.Match != "" {
		at = at.With("match", l.Match)
	}
	if l.Rising {
		at = at.With("rising", "1")
	}
	if l.Sort != "" && l.Sort != story.SortLast {
		at = at.With("sort", l.Sort)
	}
	return at
}

func headings(asked story.Listing) (all []heading) {
	for _, c := range []struct {
		sort string
		heading
	}{
		{story.SortLast, heading{Text: "last used", Title: "when its last exchange was"}},
		{"", heading{Text: "conversation", Title: "its id, as in the header x-epitome-conversation"}},
		{"", heading{Text: "model", Title: "that the newest request names"}},
		{story.SortTurns, heading{Text: "turns", Title: "exchanges", Number: true}},
		{story.SortTokens, heading{Text: "now", Title: "tokens of the newest request, as it was sent", Number: true}},
		{story.SortShare, heading{Text: "of window", Title: "share of what the model can hold", Number: true}},
		{story.SortCached, heading{Text: "cached", Title: "share of the input that the provider's cache had", Number: true}},
		{story.SortBilled, heading{Text: "billed", Title: "price of what the provider counted", Number: true}},
		{story.SortSaved, heading{Text: "saved",
			Title: "estimated cost as it came, less estimated cost as it was sent, less summaries", Number: true}},
		{"", heading{Text: "last decision", Title: "what was newly taken out, and when"}},
	} {
		if c.sort != "" {
			turned := c.sort == asked.Sort && !asked.Rising
			c.To = listAddress(story.Listing{Match: asked.Match, Sort: c.sort, Rising: turned})
		}
		switch {
		case c.sort != asked.Sort:
		case asked.Rising:
			c.Sort = "ascending"
		default:
			c.Sort = "descending"
		}
		all = append(all, c.heading)
	}
	return all
}

// view is the page, from top to bottom.
func (l *conversationsList) view() g.Node {
	return markup.Lines{
		h.H1(h.ID("list"), g.Text("Conversations")),
		l.filter(),
		markup.Remark(markup.Count(l.Total), g.Text(" conversation"+words.Plural(l.Total)),
			g.If(l.Match != "", g.Text(" that fit")), g.Text(". A conversation is a line of requests that extend one another.")),
		l.list(),
	}
}

// filter is where a reader says which conversations to list.
func (l *conversationsList) filter() g.Node {
	all := markup.At("conversations")
	return h.Form(h.Role("search"), markup.Action(all), h.Label(h.For("match"), g.Text("Id, model or upstream")),
		g.Text(" "), h.Input(h.ID("match"), h.Name("match"), h.Type("search"), h.Value(markup.Shown(l.Match))), g.Text(" "),
		h.Button(g.Text("Filter")), g.If(l.Match != "", g.Group{g.Text(" "), markup.Link(all, g.Text("all"))}))
}

func (l *conversationsList) list() g.Node {
	switch {
	case len(l.Items) == 0 && l.Match != "":
		return markup.Nothing(g.Text("No conversation fits. "), markup.Link(markup.At("conversations"), g.Text("Show all")),
			g.Text("."))
	case len(l.Items) == 0:
		return markup.Nothing(g.Text("Nothing yet: no conversation has come through epitome, or none is kept any more."))
	}
	return markup.Lines{
		markup.Region(h.Aria("labelledby", "list"), markup.Live("rows"),
			h.Table(h.THead(h.Tr(g.Map(l.Columns, heading.view))), h.TBody(markup.Each(l.Items, l.row)))),
		h.P(g.If(l.FirstTo.Leads(), g.Group{markup.Link(l.FirstTo, g.Text("First page")), g.Text(" ")}),
			g.If(l.NextTo.Leads(), h.A(h.Rel("next"), markup.Href(l.NextTo), g.Text("Next page")))),
	}
}

func (c heading) view() g.Node {
	text := g.Text(c.Text)
	if c.To.Leads() {
		text = markup.Link(c.To, text)
	}
	return h.Th(h.Scope("col"), h.Title(c.Title), g.If(c.Sort != "", h.Aria("sort", c.Sort)),
		g.If(!c.Number, h.Class("text")), text)
}

func (l *conversationsList) row(c story.Conversation) g.Node {
	now, share := markup.Tokens(c.Tokens), windowShare(c)
	if c.Observed() {
		now = markup.Tokens(c.Raw)
	}
	if c.Observed() && c.Window != 0 {
		share = markup.Percent(c.Raw, c.Window, "raw/window")
	}
	return h.Tr(
		markup.Wording(l.Clock(c.Last), g.If(c.Live, g.Group{g.Text(" "), liveWord()})),
		markup.RowHead(markup.Link(frame.ToConversation(c.ID), markup.ShortID(c.ID))),
		markup.Wording(markup.Foreign(c.Model)),
		markup.Cell(markup.Count(c.Turns)),
		markup.Cell(now),
		markup.Cell(share),
		markup.Cell(markup.Share(c.Cached)),
		markup.Cell(billedSum(c.Sums.Money)),
		markup.Cell(savedSum(c.Sums.Money)),
		markup.Wording(g.If(c.Observed(), g.Group{h.Small(g.Text("only observed:")), g.Text(" ")}), latestDecision(c.Latest)))
}

// liveWord says that a conversation had an exchange just now.
func liveWord() g.Node { return h.B(h.Class("live"), g.Text("live")) }
