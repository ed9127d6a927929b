package pages

import (
	"time"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"epitome/console/markup"
	"epitome/console/pages/frame"
	"epitome/console/pages/words"
	"epitome/console/story"
)

// view is the page, from top to bottom.
func (o *overview) view() g.Node {
	return markup.Lines{
		h.H1(g.Text("Overview")),
		markup.Choose("Time", o.Spans),
		h.Div(markup.Live("figures"), markup.Lines{o.figures(), markup.Each(o.Notes, overviewNote), o.conversations(),
			viewTroubles(o.Wrong, o.Reader)}),
		o.Rates.View(),
		o.groups(),
		o.misses(),
		o.reasons(),
		h.H2(g.Text("How this is counted")),
		h.Details(h.Summary(g.Text("What the words mean")), markup.Lines{glossary(), prices(o.Prices)}),
	}
}

func overviewNote(text string) g.Node { return markup.Note(markup.Foreign(text)) }

// figures are the sums over the time.
func (o *overview) figures() g.Node {
	t := o.Total
	if t.Exchanges == 0 {
		return markup.Nothing(g.Text("Nothing yet: no request has come through epitome in this time. Point an agent at "),
			markup.Code("http://"+markup.Shown(o.Address)), g.Text(", or start it with "),
			markup.Code("epitome run -- COMMAND"), g.Text("."))
	}
	return markup.Lines{
		g.If(t.Shaped+t.Observed.Exchanges <= 0, markup.Nothing(markup.Count(t.Exchanges),
			g.Text(" request"+words.Plural(t.Exchanges)+" came, and none was a conversation that epitome shapes. It shapes"+
				" Chat Completions, Messages and Responses."))),
		markup.Remark(g.Text("From "), o.Clock(o.From), g.Text(" to "), o.Clock(o.Until()), g.Text("; figures are kept since "),
			o.Clock(o.Since), g.Text(".")),
		overviewTiles(t),
		moneySentences(t.Money),
		g.If(t.Observed.Exchanges != 0, observed(t.Observed)),
	}
}

func overviewTiles(t story.Sums) g.Node {
	exchanges := markup.Count(t.Exchanges)
	return h.Dl(h.Class("tiles"), markup.Lines{
		markup.Tile("Billed", billedSum(t.Money), g.Text("price of what providers counted, in "),
			markup.Count(t.Money.Measured), g.Text(" of "), exchanges, g.Text(" exchanges"),
			g.If(t.Money.Listed != 0, g.Group{g.Text("; "), markup.Count(t.Money.Listed),
				g.Text(" by subscription, at list prices")}), cutAmount(t.Money), besideBilled(t.Money)),
		savedTile(t.Money),
		markup.Tile("Kept alive", g.Group{markup.Count(t.Money.Died), g.Text(" conversation" + words.Plural(t.Money.Died))},
			markup.Count(t.Money.Beyond), g.Text(" request"+words.Plural(t.Money.Beyond)+
				" would have been refused as they came; what they would have cost is not known")),
		markup.Tile("Taken out", g.Group{markup.Tokens(t.TakenOut), g.Text(" tokens")},
			g.Text("each item once; over all requests "),
			markup.Made(t.TokensBefore-t.TokensAfter, "tokens_before-tokens_after"), g.Text(" fewer were sent")),
		markup.Tile("Cached", cachedSum(t.Usage), cacheWords(t.Usage)),
		markup.Tile("Exchanges", exchanges, markup.Count(t.Failed), g.Text(" failed, "), markup.Count(t.Rescued),
			g.Text(" rescued, "), markup.Count(t.Bypassed), g.Text(" bypassed")),
	})
}

func savedTile(m story.Money) g.Node {
	about := g.Text("estimated alike before and after, less what summaries cost")
	if m.Ruled != 0 || m.Own != 0 {
		about = g.Group{g.If(m.Ruled != 0, g.Group{g.Text("by one estimate, of the "), markup.Count(m.Ruled),
			g.Text(" request" + words.Plural(m.Ruled) + " with a price that would have fitted; ")}),
			g.Text("summaries cost "), markup.Money(m.Own), g.Text(", which is taken off"), unchargedAmount(m)}
	}
	if m.Saved < 0 {
		return markup.Tile("Extra cost", markup.Loss(m.Saved), about)
	}
	return markup.Tile("Saved", g.Group{savedSum(m), savedShare(m)}, about)
}

func cacheWords(u story.UsageSums) g.Node {
	if u.CacheInput == 0 {
		return g.Text("no answer says what the provider's cache had")
	}
	untold := u.CacheUntold()
	return g.Group{g.Text("of "), markup.Tokens(u.Input), g.Text(" tokens of input, the provider's cache had "),
		markup.Tokens(u.Read), g.If(untold != 0, g.Group{g.Text(" or more: the answers to "),
			markup.Made(untold, "usage.input-usage.cache_input"), g.Text(" of them do not tell")})}
}

// usualDrift is how far, in parts of a million, a bill may be from the ruler without a word.
const usualDrift = 50_000

func moneySentences(m story.Money) g.Node {
	return markup.Lines{
		g.If(m.Ruled != 0, h.P(g.Text("By one and the same estimate, "), markup.Count(m.Ruled),
			g.Text(" request"+words.Plural(m.Ruled)+" would have cost "), markup.Money(m.Raw),
			g.Text(" as they came, and "), markup.Money(m.Sent), g.Text(" as they were sent; summaries cost "),
			markup.Money(m.Own), g.Text("."), g.If(m.Drift != 0, g.Group{
				g.Text(" Where both are known, providers billed "), markup.Signed(m.Drift),
				g.Text(" against that estimate.")}))),
		g.If(m.Unpriced != 0, h.P(g.Text("Of "), markup.Count(m.Unpriced), g.Text(" exchange"+words.Plural(m.Unpriced)+
			" an amount is missing: a price or the usage is unknown. What is unknown is in no sum. "), markup.Code("[prices]"),
			g.Text(" in config.toml can name a price."))),
		g.If(max(m.Drift, -m.Drift) > usualDrift, markup.Note(g.Text("The bill differs from the estimate by more than a"+
			" twentieth. The provider's cache may have missed, it may count tokens differently, or its prices may have"+
			" changed."))),
	}
}

// observed tells of requests that were sent as they came.
func observed(s story.Seen) g.Node {
	return h.P(g.Text("In mode observe: "), markup.Count(s.Exchanges),
		g.Text(" exchange"+words.Plural(s.Exchanges)+", which came with "), markup.Tokens(s.TokensBefore),
		g.Text(" tokens, went on so, and would have been sent with "), markup.Tokens(s.TokensAfter),
		g.Text(". What they used and were billed is counted; what came, was sent, taken out and saved leaves them out."))
}

// conversations are those that had an exchange just now.
func (o *overview) conversations() g.Node {
	heading := h.H2(h.ID("live"), g.Text("Live"))
	if len(o.Live) == 0 {
		return markup.Lines{heading, markup.Nothing(g.Text("No conversation had an exchange in the last ten minutes."))}
	}
	return markup.Lines{
		heading,
		markup.Remark(markup.Count(o.Summary.Live), g.Text(" conversation"+words.Plural(o.Summary.Live)+
			" had an exchange in the last ten minutes."), g.If(o.Summary.Live > len(o.Live), g.Group{
			g.Text(" The newest are listed; "), markup.Link(markup.At("conversations"), g.Text("all conversations")),
			g.Text(" have a page.")})),
		markup.Region(h.Aria("labelledby", "live"), markup.Table([]markup.Column{
			{Text: "conversation"},
			{Text: "model", Words: true},
			{Text: "now", Title: "tokens of the newest request, as it was sent"},
			{Text: "of window", Title: "share of what the model can hold"},
			{Text: "cached", Title: "share of the input that the provider's cache had"},
			{Text: "last decision", Words: true},
		}, markup.Each(o.Live, func(c story.Conversation) g.Node {
			return h.Tr(
				markup.RowHead(markup.Link(frame.ToConversation(c.ID), markup.ShortID(c.ID))),
				markup.Wording(markup.Foreign(c.Model)),
				markup.Cell(markup.Tokens(c.Tokens)),
				markup.Cell(windowShare(c)),
				markup.Cell(markup.Share(c.Cached)),
				markup.Wording(latestDecision(c.Latest)))
		}))),
	}
}

// groups are the sums apart by model, upstream, client or conversation.
func (o *overview) groups() g.Node {
	if len(o.Groups) == 0 {
		return nil
	}
	return markup.Lines{
		h.H2(h.ID("by"), g.Text("By "+o.Group)),
		markup.Choose("Group", o.By),
		g.If(o.Grouped > len(o.Groups), markup.Remark(g.Text("The "), markup.Made(len(o.Groups), "rows that are shown"),
			g.Text(" with the most exchanges are listed, of "), markup.Made(o.Grouped, "rows"), g.Text("."))),
		markup.Region(h.Aria("labelledby", "by"), markup.Table([]markup.Column{
			{Text: "name"},
			{Text: "exchanges"},
			{Text: "came", Title: "tokens of conversations as they came"},
			{Text: "sent", Title: "and as they were sent"},
			{Text: "cached", Title: "share of the input that the provider's cache had"},
			{Text: "billed", Title: "price of what the provider counted; what summaries cost is not in it"},
			{Text: "saved", Title: "estimated cost as it came, less estimated cost as it was sent, less summaries"},
		}, markup.Each(o.Groups, o.group))),
	}
}

func (o *overview) group(r story.Row) g.Node {
	s, name := r.Sums, markup.Named(r.Key, "no "+o.Group)
	if o.Group == story.ByConversation && r.Key != "" {
		name = markup.Link(frame.ToConversation(r.Key), name)
	}
	return h.Tr(
		markup.RowHead(name),
		markup.Cell(markup.Count(s.Exchanges)),
		markup.Cell(markup.Tokens(s.TokensBefore)),
		markup.Cell(markup.Tokens(s.TokensAfter)),
		markup.Cell(cachedSum(s.Usage)),
		markup.Cell(billedSum(s.Money)),
		markup.Cell(savedSum(s.Money)))
}

func (o *overview) misses() g.Node {
	if len(o.Misses) == 0 {
		return nil
	}
	return markup.Lines{
		h.H2(h.ID("misses"), g.Text("When the provider's cache had less")),
		markup.Remark(markup.Count(o.Total.Hits), g.Text(" requests found in the cache what the one before had put there.")),
		reasonTable("misses", "cause", o.Misses),
	}
}

func (o *overview) reasons() g.Node {
	if len(o.Reasons) == 0 {
		return nil
	}
	return markup.Lines{
		h.H2(h.ID("reasons"), g.Text("Reasons")),
		markup.Remark(g.Text("Why nothing new was done to a request, or not all of it. The page of a conversation says it turn by" +
			" turn, with numbers, and why something was.")),
		reasonTable("reasons", "reason", o.Reasons),
	}
}

func reasonTable(id, name string, all []reason) g.Node {
	return markup.Region(h.Aria("labelledby", id), markup.Table([]markup.Column{{Text: name}, {Text: "exchanges"}},
		markup.Each(all, func(r reason) g.Node {
			return h.Tr(h.Th(h.Scope("row"), h.Class("text"), g.Text(r.Text)), markup.Cell(markup.Count(r.Count)))
		})))
}

// glossary says what the words of the page mean.
func glossary() g.Node {
	return h.Dl(h.Class("words"), markup.Lines{
		meaning("Exchange", "One request and its answer."),
		meaning("Turn", "An exchange of a conversation, counted from 1."),
		meaning("Billed", "What the provider counted, times the prices of its list; or what it says that it charged. It is"+
			" a measurement. What epitome's own requests for summaries cost is not in it."),
		meaning("Saved", "The cost of each request is estimated twice: as it came and as it was sent, with the same"+
			" assumptions about the provider's cache. Saved is the first less the second, less what summaries cost. It can"+
			" be negative: then it is called extra cost. It is of requests that would have fitted and have a price: the share beside"+
			" it is of their cost as they came, and not of what was billed."),
		meaning("Kept alive", "Requests that were too large for their model as they came. They would have been refused, so"+
			" they have no price and count in no amount."),
		meaning("Taken out", "Tokens that epitome took out of conversations, each item once. An agent sends its history"+
			" again with each request, so over all requests it is many times as much."),
		meaning("Offload (O)", "A large result is sent as an excerpt from its first time on."),
		meaning("Clear (C)", "Old results are sent as short notes."),
		meaning("Compact (K)", "Old turns are sent as one summary."),
		meaning("Rescue (R)", "The provider refused a request as too long. epitome made it shorter and sent it again, and"+
			" the agent saw no error."),
		meaning("Unknown", "Not known, and so in no sum. It is never shown as 0."),
	})
}

func meaning(word, text string) g.Node { return g.Group{h.Dt(g.Text(word)), h.Dd(g.Text(text))} }

func prices(p story.Prices) g.Node {
	if p.Models == 0 {
		return h.P(g.Text("No prices are known."))
	}
	return h.P(g.Text("Prices: "), markup.Count(p.Models), g.Text(" models from "), markup.Foreign(p.Source),
		g.Text(", of "+p.Date.Format(time.DateOnly)+". "), markup.Code("[prices]"), g.Text(" in config.toml overrides them."),
		g.If(p.Old, g.Group{g.Text(" "), h.Strong(g.Text("They are more than ninety days old."))}))
}
