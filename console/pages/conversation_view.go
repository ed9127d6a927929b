package pages

import (
	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"epitome/console/markup"
	"epitome/console/pages/frame"
	"epitome/console/pages/words"
	"epitome/console/story"
	"epitome/event"
)

// view is the page, from top to bottom.
func (t *talk) view() g.Node {
	chart := markup.Nothing(g.Text("There is no chart: no turn with tokens is kept."))
	if t.Chart != nil {
		chart = t.Chart.View(t.AllWatched)
	}
	return markup.Lines{
		h.H1(g.Text("Conversation "), markup.Foreign(t.Story.ID)),
		h.Div(markup.Live("talk"), markup.Lines{t.about(), t.watched(), t.tiles(), moneyNotes(t.Story.Sums.Money),
			markup.Each(t.Story.Warnings, warned)}),
		h.Div(markup.Live("chart"), markup.Lines{chart}),
		h.P(h.Class("readout soft"), g.Attr("data-readout"), g.Attr("hidden")),
		h.Div(markup.Live("lists"), markup.Lines{t.done(), t.noLongerSeen(), t.misses()}),
		h.H2(h.ID("turns"), g.Text("Turns")),
		t.turns(),
	}
}

// about says whose conversation it is, and when it was.
func (t *talk) about() g.Node {
	c := t.Story
	return h.P(g.Text("Model "), markup.Named(c.Model, "unknown"),
		g.Text(", upstream "), markup.Named(c.Upstream, "unknown"),
		g.If(c.Dialect != "", g.Group{g.Text(", "), markup.Text(c.Dialect)}),
		g.Text(". First seen "), t.Clock(c.First), g.Text(", last "), t.Clock(c.Last), g.Text("."),
		g.If(c.Live, g.Group{g.Text(" "), liveWord()}),
		g.If(c.Parent != "", g.Group{g.Text(" It has left "),
			markup.Link(frame.ToConversation(c.Parent), markup.ShortID(c.Parent)), g.Text(".")}))
}

// watched says which turns were only observed.
func (t *talk) watched() g.Node {
	switch {
	case t.AllWatched:
		return markup.Note(g.Text("This conversation is only observed: all its turns were sent as they came. The page tells what" +
			" epitome would have done."))
	case t.Watched != "":
		return markup.Note(g.Text("Some turns were only observed and sent as they came: " + t.Watched + ". Of them, the page tells" +
			" what epitome would have done."))
	}
	return nil
}

func (t *talk) tiles() g.Node {
	c := t.Story
	now := markup.Tile("Now", markup.Tokens(c.Tokens), g.Text("tokens of the newest request as it was sent; it came with "),
		markup.Tokens(c.Raw))
	share := windowShare(c.Conversation)
	if t.Unseen.Watched {
		now = markup.Tile("Now", markup.Tokens(c.Raw),
			g.Text("tokens of the newest request, which was sent as it came; epitome would have sent "),
			markup.Made(c.CountShaped(), "sum of tokens_after"))
	}
	if t.Unseen.Watched && c.Window != 0 {
		share = markup.Percent(c.Raw, c.Window, "raw/window")
	}
	kept := g.Text("all of them are kept")
	if c.Forgotten != 0 {
		kept = g.Group{markup.Count(c.Forgotten), g.Text(" earlier ones are not kept any more")}
	}
	return h.Dl(h.Class("tiles"), markup.Lines{
		now,
		markup.Tile("Of the window", share, heldWords(c.Conversation)),
		markup.Tile("Turns", markup.Count(c.Turns), kept),
		markup.Tile("Cached", markup.Share(c.Cached), g.Text("of the input, over turns whose answer tells it")),
		markup.Tile("Billed", billedSum(c.Sums.Money), g.Text("price of what the provider counted"),
			cutAmount(c.Sums.Money), besideBilled(c.Sums.Money)),
		savedOfTalk(c.Sums.Money),
	})
}

// heldWords says how much the model holds.
func heldWords(c story.Conversation) g.Node {
	held := g.Text("how much the model holds is not known")
	if c.Window != 0 {
		held = g.Group{g.Text("the model holds "), markup.Tokens(c.Window), g.Text(" tokens")}
	}
	return g.Group{held, g.If(c.Usable != 0, g.Group{g.Text(", of which a request may fill "), markup.Tokens(c.Usable)})}
}

func savedOfTalk(m story.Money) g.Node {
	about := g.Text("estimated alike before and after, less what summaries cost")
	if m.Ruled != 0 || m.Own != 0 {
		about = g.Group{markup.Money(m.Raw), g.Text(" as it came, "), markup.Money(m.Sent), g.Text(" as it was sent, "),
			markup.Money(m.Own), g.Text(" for summaries, all by one estimate"), unchargedAmount(m)}
	}
	if m.Saved < 0 {
		return markup.Tile("Extra cost", markup.Loss(m.Saved), about)
	}
	return markup.Tile("Saved", savedSum(m), about)
}

func moneyNotes(m story.Money) g.Node {
	return markup.Lines{
		g.If(m.Beyond != 0, h.P(markup.Count(m.Beyond), g.Text(" request"+words.Plural(m.Beyond)+
			" came too large for the model: without epitome the conversation would have died."))),
		g.If(m.Listed != 0, h.P(markup.Count(m.Listed), g.Text(" exchange"+words.Plural(m.Listed)+
			" went by subscription: amounts are what list prices would be, and nobody pays them."))),
	}
}

// warned tells of what a user should know; of other warnings the turns tell.
func warned(w event.Warning) g.Node {
	if w.Reason != event.ReasonUsers {
		return nil
	}
	return markup.Note(g.Text("Messages of the user were left to the transcript, as nothing else helped."))
}

// done lists what was done, and apart from it what was only shortened when it came.
func (t *talk) done() g.Node {
	heading, was, were := "What was done", "was", "were"
	if t.AllWatched {
		heading, was, were = "What would have been done", "would have been", "would have been"
	}
	deeds := markup.Nothing(g.Text("Nothing was changed: every request that is kept was sent as it came. The turns below" +
		" say why."))
	switch {
	case len(t.Deeds) > 0:
		deeds = markup.Lines{olderOnes(t.More), deedsTable(t.Deeds)}
	case len(t.Fresh) > 0:
		deeds = markup.Nothing(g.Text("Nothing that had been sent " + was + " changed. New results " + were +
			" shortened when they came."))
	}
	return markup.Lines{
		h.H2(h.ID("done"), g.Text(heading)),
		deeds,
		g.If(len(t.Fresh) > 0, h.Details(
			h.Summary(g.Text("Turns with offloads: new results that "+were+" sent as excerpts from their first time on")),
			markup.Lines{olderOnes(t.Rest), deedsTable(t.Fresh)})),
	}
}

// olderOnes says how many are not listed.
func olderOnes(count int) g.Node {
	if count == 0 {
		return nil
	}
	return markup.Remark(g.Text("The newest are listed; "), markup.Made(count, "older ones"),
		g.Text(" older ones are among the turns below."))
}

func deedsTable(all []deed) g.Node {
	return markup.Region(h.Aria("label", "What was done"), markup.Table([]markup.Column{
		{Text: "turn"},
		{Text: "what", Words: true},
		{Text: "taken out", Title: "tokens that were sent before this decision and are not since; what earlier ones had taken out is not in it"},
		{Text: "why", Words: true},
	}, markup.Each(all, deed.row)))
}

func (d deed) row() g.Node {
	e, out := d.Exchange, markup.Soft("none")
	switch {
	case e.TakenOut != 0:
		out = g.Group{g.If(words.Watched(e), wouldBe()), markup.Tokens(e.TakenOut)}
	case e.Decided:
		out = markup.Unknown("not recorded")
	}
	return h.Tr(markup.RowHead(toTurn(e)), markup.Wording(g.Text(d.What)), markup.Cell(out),
		markup.Wording(g.El("bdi", g.Text(d.Why))))
}

func wouldBe() g.Node { return g.Group{h.Small(g.Text("would be")), g.Text(" ")} }

// toTurn is the number of a turn, which leads to its exchange.
func toTurn(e event.Exchange) g.Node {
	return markup.Link(frame.ToExchange(e.Seq), g.Textf("%d", e.Turn))
}

// noLongerSeen lists what the model is not shown any more as it came.
func (t *talk) noLongerSeen() g.Node {
	heading := "What the model no longer sees"
	if t.Unseen.Watched {
		heading = "What the model would no longer see"
	}
	return markup.Lines{h.H2(h.ID("unseen"), g.Text(heading)), t.fewerTokens(), t.unseenEdits()}
}

// fewerTokens says how much shorter the newest request was.
func (t *talk) fewerTokens() g.Node {
	u := t.Unseen
	fewer := markup.Made(u.Less, "sum of tokens_before - sum of tokens_after")
	switch {
	case u.Seq == 0:
		return markup.Nothing(g.Text("No turn of the conversation is kept that could say it."))
	case u.Watched && u.Less > 0:
		return h.P(g.Text("The model sees all: the newest request was sent as it came. In mode on, it would have been sent"+
			" with "), fewer, g.Text(" tokens fewer."))
	case u.Less > 0:
		return h.P(g.Text("The newest request was sent with "), fewer, g.Text(" tokens fewer than it came with."))
	case t.Owner && u.All == 0:
		return markup.Nothing(g.Text("Nothing: the newest request was sent as it came."))
	}
	return nil
}

func (t *talk) unseenEdits() g.Node {
	u := t.Unseen
	switch {
	case u.Seq != 0 && !t.Owner:
		return t.ToLogIn()
	case u.Missing != "":
		return markup.Note(g.Text("The list cannot be read: "), markup.Foreign(u.Missing))
	case len(u.List) == 0 && u.Less > 0:
		return markup.Nothing(g.Text("What they were was not recorded."))
	case len(u.List) == 0:
		return nil
	}
	are, they := "are not", "they"
	if u.Messages == 1 {
		are, they = "is not", "it"
	}
	if u.Watched {
		are = "would not be"
	}
	return markup.Lines{
		markup.Remark(markup.Made(u.Messages, "messages of edits"), g.Text(" message"+words.Plural(u.Messages)+
			" of the newest request "+are+" sent as "+they+" came; the largest first."), g.If(u.All > len(u.List), g.Group{g.Text(" "),
			markup.Link(frame.ToExchange(u.Seq).To("edits"), g.Text("All of them")),
			g.Text(" are on the page of the newest exchange.")})),
		editsTable(u.List),
	}
}

// misses lists when the provider's cache had less than it could have had.
func (t *talk) misses() g.Node {
	if len(t.Missed) == 0 {
		return nil
	}
	return markup.Lines{
		h.H2(h.ID("misses"), g.Text("When the cache missed")),
		markup.Region(h.Aria("labelledby", "misses"), markup.Table([]markup.Column{
			{Text: "turn"},
			{Text: "had", Title: "of the request, what the provider's cache had"},
			{Text: "could have had", Title: "of the request, what stood in the same place in the last one that was answered," +
				" as the provider counts tokens"},
			{Text: "why", Words: true},
		}, markup.Each(t.Missed, miss.row))),
	}
}

func (m miss) row() g.Node {
	e := m.Exchange
	had, could := markup.Unknown("the answer says nothing of the cache"), markup.Unknown("not recorded")
	if e.Usage.Source == event.UsageProvider && !e.Usage.CacheUnknown {
		had = markup.Tokens(e.Usage.Read)
	}
	if m.Held != 0 {
		could = markup.Made(m.Held, "held_after as the provider counts")
	}
	return h.Tr(markup.RowHead(toTurn(e)), markup.Cell(had), markup.Cell(could), markup.Wording(missWords(e)))
}

// turns lists some turns, the newest first.
func (t *talk) turns() g.Node {
	if len(t.Shown) == 0 {
		return markup.Nothing(g.Text("No turn is kept any more."))
	}
	return markup.Lines{
		markup.Remark(g.Text("The newest first.")),
		markup.Region(h.Aria("labelledby", "turns"), markup.Live("rows"), markup.Stacked("stack turns", []markup.Column{
			{Text: "turn"},
			{Text: "time", Words: true},
			{Text: "came → sent", Title: "tokens as the request came, and as it was sent"},
			{Text: "cached", Title: "share of the input that the provider's cache had"},
			{Text: "billed", Title: "price of what the provider counted"},
			{Text: "saved", Title: "estimated cost as it came, less estimated cost as it was sent; summaries are not in it"},
			{Text: "what", Words: true},
			{Text: "why", Title: "why it was done, or why nothing was", Words: true},
		}, markup.Each(t.Shown, t.turn))),
		h.P(g.If(t.Newer.Leads(), g.Group{h.A(h.Rel("prev"), markup.Href(t.Newer), g.Text("Newer turns")), g.Text(" ")}),
			g.If(t.Older.Leads(), h.A(h.Rel("next"), markup.Href(t.Older), g.Text("Older turns")))),
	}
}

func (t *talk) turn(e event.Exchange) g.Node {
	became := g.Group{g.Text(" → ")}
	if words.Watched(e) {
		became = g.Group{g.Text(", "), wouldBe()}
	}
	came, sent := e.TokensBefore.Total(), e.TokensAfter.Total()
	before := markup.Unknown("")
	if came != 0 {
		before = markup.Made(came, "tokens_before")
	}
	end := words.Ended(e)
	return h.Tr(
		markup.RowHead(toTurn(e)),
		markup.Wording(t.Clock(e.Start)),
		markup.Cell(before, g.If(sent != 0, append(became, markup.Made(sent, "tokens_after")))),
		markup.Cell(cachedAmount(e)),
		markup.Cell(billedAmount(e)),
		markup.Cell(savedAmount(e)),
		markup.Wording(g.Text(words.Done(e)), g.If(end != "", g.Group{g.Text("; "), h.B(g.Text(end))})),
		markup.Wording(g.El("bdi", g.Text(words.Why(e)))))
}
