package pages

import (
	"strconv"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"epitome/console/markup"
	"epitome/console/pages/frame"
	"epitome/console/pages/words"
	"epitome/console/story"
	"epitome/event"
)

// windowShare shows how full the window was with the newest request of a conversation.
func windowShare(c story.Conversation) g.Node {
	if c.Window <= 0 {
		return markup.Unknown("how much the model holds is not known")
	}
	return g.Group{h.Meter(h.Min("0"), h.Max("1"), g.Attr("low", "0.8"), g.Attr("high", "0.9"), g.Attr("optimum", "0"),
		h.Value(strconv.FormatFloat(c.Share, 'f', 3, 64)), h.Aria("label", "share of the window")), g.Text(" "),
		markup.Share(c.Share)}
}

// latestDecision says what was newly taken out of a conversation last; nil: nothing ever was.
func latestDecision(d *story.Decided) g.Node {
	if d == nil {
		return markup.Soft("none")
	}
	return g.Group{markup.Link(frame.ToExchange(d.Seq), markup.Text(d.Action)), g.Text(" in turn "), markup.Count(d.Turn),
		g.Text(": "), markup.Count(d.Items), g.Text(" item" + words.Plural(d.Items) + ", "), markup.Tokens(d.TakenOut),
		g.Text(" taken out")}
}

// savedSum shows what several exchanges cost less for being shaped.
func savedSum(m story.Money) g.Node {
	if m.Ruled == 0 && m.Own == 0 {
		return markup.Unknown("no price or no usage is known")
	}
	return markup.Saving(m.Saved)
}

// billedSum shows what several exchanges cost, as measured.
func billedSum(m story.Money) g.Node {
	if m.Measured == 0 {
		return markup.Unknown("no price or no usage is known")
	}
	if m.AtLeast != 0 {
		return atLeast(markup.Money(m.Billed))
	}
	return upTo(m.Billed, m.Most)
}

// atLeast shows an amount that may be more, as an answer did not come whole: what its model wrote last is not told.
func atLeast(amount g.Node) g.Node {
	return g.Group{g.Text("≥ "), amount}
}

// cutAmount tells of answers that did not come whole, which may have cost more than is billed here; nil if all did.
func cutAmount(m story.Money) g.Node {
	if m.AtLeast == 0 {
		return nil
	}
	return g.Group{g.Text("; "), markup.Count(m.AtLeast), g.Text(" answer" + words.Plural(m.AtLeast) +
		" broke off or lost the client, and may have cost more")}
}

// unchargedAmount tells of summaries whose cost no amount has in it; nil if there are none.
func unchargedAmount(m story.Money) g.Node {
	if m.Uncharged == 0 {
		return nil
	}
	return g.Group{g.Text("; what "), markup.Count(m.Uncharged), g.Text(" of them cost is not known")}
}

// besideBilled tells what no bill of several exchanges has in it: what epitome's own requests for summaries cost.
func besideBilled(m story.Money) g.Node {
	if m.Own == 0 {
		return nil
	}
	return g.Group{g.Text("; and "), markup.Money(m.Own), g.Text(" for summaries, which is not in it")}
}

// savedShare shows what part was saved, and of what: not of all that was billed.
func savedShare(m story.Money) g.Node {
	if m.Raw == 0 {
		return nil
	}
	return g.Group{g.Text(" "), h.Small(markup.Percent(m.Saved, m.Raw, "saved_nano/raw_nano"), g.Text(" of "),
		markup.Money(m.Raw))}
}

// upTo shows an amount, and what it is at most where that is more.
func upTo(nano, most int64) g.Node {
	if most > nano {
		return g.Group{markup.Money(nano), g.Text(" to "), markup.Money(most)}
	}
	return markup.Money(nano)
}

// cachedAmount shows the share of a request that the provider's cache had.
func cachedAmount(e event.Exchange) g.Node {
	u := e.Usage
	switch {
	case u.Source != event.UsageProvider || u.Input == 0:
		return markup.Unknown("the answer says nothing of its tokens")
	case u.CacheUnknown:
		return markup.Unknown("the answer says nothing of the cache")
	case u.Odd:
		return markup.Unknown("the numbers in the answer contradict each other")
	}
	return markup.Percent(u.Read, u.Input, "usage.read/usage.input")
}

// cachedSum shows the share of all requests that the provider's cache had: at least so much, where some answers do not
// tell.
func cachedSum(u story.UsageSums) g.Node {
	if u.CacheInput == 0 {
		return markup.Unknown("no answer says what the provider's cache had")
	}
	share := markup.Percent(u.Read, u.Input, "usage.read/usage.input")
	if u.CacheUntold() == 0 {
		return share
	}
	return h.Span(h.Title("some answers do not tell what the cache had"), g.Text("≥ "), share)
}

// billedAmount shows what an exchange cost, as measured.
func billedAmount(e event.Exchange) g.Node {
	if !e.Bill.Measured {
		return markup.Unknown(words.Unpriced(e.Bill.Unpriced))
	}
	if e.Bill.AtLeast {
		return atLeast(markup.Money(e.Bill.Billed))
	}
	return upTo(e.Bill.Billed, e.Bill.Most)
}

// savedAmount shows what an exchange cost less for being shaped.
func savedAmount(e event.Exchange) g.Node {
	const from, watched = "bill.raw_nano-bill.sent_nano", "mode observe: it was sent as it came"
	b := e.Bill
	switch {
	case words.Watched(e) && b.Ruled && b.Saved() >= 0:
		return h.Span(h.Title(watched), g.Text("would be "), markup.MadeSaving(b.Saved(), from))
	case words.Watched(e):
		return h.Span(h.Class("soft"), h.Title(watched), g.Text("nothing"))
	case b.Beyond:
		return h.Span(h.Title("as it came, the request would have been refused: it has no price"), g.Text("kept alive"))
	case !b.Ruled:
		return markup.Unknown(words.Unpriced(b.Unpriced))
	}
	return markup.MadeSaving(b.Saved(), from)
}
