package pages

import (
	"time"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"epitome/console/markup"
	"epitome/console/pages/drawing"
	"epitome/console/pages/frame"
	"epitome/console/pages/words"
	"epitome/event"
)

// view is the page, from top to bottom.
func (x *exchangePage) view() g.Node {
	return markup.Lines{
		h.H1(g.Text("Exchange "), markup.Count(x.Exchange.Seq)),
		x.place(),
		x.done(),
		x.fate(),
		x.rescue(),
		h.H2(h.ID("tokens"), g.Text("Tokens")),
		x.tokens(),
		h.H2(h.ID("usage"), g.Text("Usage and money")),
		x.bill(),
		h.H2(h.ID("times"), g.Text("On the wire")),
		x.wire(),
		h.H2(h.ID("edits"), g.Text("Edits")),
		x.edits(),
	}
}

// place says where in its conversation the exchange is.
func (x *exchangePage) place() g.Node {
	e := x.Exchange
	of := g.Text("It is no conversation.")
	switch {
	case e.Mode == event.ModeOff:
		of = g.Text("Mode was off: epitome did not look for a conversation in it.")
	case e.Conversation != "":
		of = g.Group{g.Text("Turn "), markup.Count(e.Turn), g.Text(" of conversation "),
			markup.Link(frame.ToConversation(e.Conversation), markup.ShortID(e.Conversation)), g.Text(".")}
	}
	return h.P(of,
		g.If(x.Earlier != 0, g.Group{g.Text(" "),
			h.A(h.Rel("prev"), markup.Href(frame.ToExchange(x.Earlier)), g.Text("The turn before"))}),
		g.If(x.Later != 0, g.Group{g.Text(" "),
			h.A(h.Rel("next"), markup.Href(frame.ToExchange(x.Later)), g.Text("The turn after"))}))
}

func (x *exchangePage) done() g.Node {
	return h.P(h.B(g.Text("What was done:")), g.Text(" "+x.What), g.If(x.Why != "", g.Group{g.Text(". "),
		h.B(g.Text("Why:")), g.Text(" "), g.El("bdi", g.Text(words.Unstopped(x.Why)))}), g.Text("."))
}

// fate says what would have become of the request without epitome, or with it.
func (x *exchangePage) fate() g.Node {
	e := x.Exchange
	switch {
	case words.Watched(e):
		return markup.Note(g.Text("This exchange was only observed: the request was sent as it came. What is told is what epitome"+
			" would have done."), g.If(e.Bill.Beyond, g.Text(" By epitome's count it was more than its model takes.")))
	case e.Bill.Beyond:
		return markup.Note(g.Text("As it came, the request was more than its model's window. It would have been refused."))
	}
	return nil
}

func (x *exchangePage) rescue() g.Node {
	r := x.Exchange.Rescue
	if r.Kind == "" {
		return nil
	}
	outcome := "It was not answered: the agent got the refusal."
	if r.Rescued {
		outcome = "It was answered, and the agent saw no error."
	}
	return markup.Lines{
		h.H2(g.Text("Rescue")),
		h.P(g.Text("The provider refused the request: "+words.Refused(r.Kind)+". epitome sent it again "),
			markup.Count(r.Tries), g.Text(" time"+words.Plural(r.Tries)+", with "), markup.Tokens(r.TokensAfter),
			g.Text(" tokens in place of "), markup.Tokens(r.TokensBefore),
			g.If(r.Stages != "", g.Group{g.Text(": "), g.El("bdi", g.Text(words.Steps(r.Stages)))}),
			g.Text(". "+outcome), g.If(r.WindowAfter != 0, g.Group{g.Text(" The window, believed to be "),
				markup.Tokens(r.WindowBefore), g.Text(", is now known as "), markup.Tokens(r.WindowAfter), g.Text(".")})),
	}
}

// tokens says what the request spends tokens on, and what they are held against.
func (x *exchangePage) tokens() g.Node {
	e := x.Exchange
	if len(x.Parts) == 0 {
		return markup.Nothing(g.Text("Unknown: the request was not read as a conversation."))
	}
	sent := "as it was sent"
	if words.Watched(e) {
		sent = "as it would have been sent"
	}
	all := h.Tr(h.Class("sum"), markup.RowHead(g.Text("all")),
		markup.Cell(markup.Made(e.TokensBefore.Total(), "sum of tokens_before")),
		markup.Cell(markup.Made(e.TokensAfter.Total(), "sum of tokens_after")))
	return markup.Lines{
		markup.Region(h.Aria("labelledby", "tokens"), markup.Table(
			[]markup.Column{{Text: "spent on"}, {Text: "as it came"}, {Text: sent}},
			markup.Lines{markup.Each(x.Parts, func(p drawing.Part) g.Node {
				return h.Tr(markup.RowHead(g.Text(p.Name)), markup.Cell(markup.Tokens(p.Before)),
					markup.Cell(markup.Tokens(p.After)))
			}), all})),
		markup.Remark(g.If(e.Estimated, g.Text("A text is so large that its tokens are estimated, by samples of it. ")),
			windowWords(e),
			g.If(e.ClearLine != 0, g.Group{g.Text(" Old results are cleared at "), markup.Tokens(e.ClearLine), g.Text(".")}),
			g.If(e.CompactLine != 0, g.Group{g.Text(" Old turns become a summary at "), markup.Tokens(e.CompactLine),
				g.Text(".")}),
			g.If(e.Items != 0, g.Group{g.Text(" The request has "), markup.Count(e.Items), g.Text(" messages.")}),
			addedWords(e)),
	}
}

// windowWords says how much the model holds.
func windowWords(e event.Exchange) g.Node {
	if e.Window == 0 {
		return g.Text("How much the model holds is unknown.")
	}
	return g.Group{g.Text("The model holds "), markup.Tokens(e.Window), g.Text(" tokens"), g.If(e.Usable != 0, g.Group{
		g.Text(", of which a request may fill "), markup.Tokens(e.Usable)}), g.Text(".")}
}

// addedWords says what epitome has added to the request; nil if nothing.
func addedWords(e event.Exchange) g.Node {
	if e.Added == 0 {
		return nil
	}
	said := g.Group{g.Text(" Of what was sent, "), markup.Tokens(e.Added),
		g.Text(" tokens are what epitome has added behind the system's text: ")}
	if e.Contexts != "" {
		said = append(said, g.Text("an index of context files ("), markup.Foreign(e.Contexts), g.Text(")"),
			g.If(e.Memory != 0, g.Text(", and ")))
	}
	if e.Memory != 0 {
		said = append(said, g.Text("the project's memory, with "), markup.Tokens(e.Memory), g.Text(" tokens"))
	}
	return append(said, g.Text("."))
}

// fact is a row of a table that has its heads at the side; title says what the head means, if it does not.
func fact(name, title string, value g.Node) g.Node {
	return h.Tr(h.Th(h.Scope("row"), g.If(title != "", h.Title(title)), g.Text(name)), value)
}

// bill says what the answer counted, and what that costs.
func (x *exchangePage) bill() g.Node {
	e := x.Exchange
	again := "by the same estimate costs"
	if words.Watched(e) {
		again = "shaped, would have cost"
	}
	return markup.Region(h.Aria("labelledby", "usage"), h.Table(h.TBody(markup.Lines{
		usage(e.Usage),
		g.If(e.Miss != event.NoMiss, fact("cache", "", markup.Wording(missWords(e)))),
		fact("billed", "price of what the provider counted", markup.Cell(billedAmount(e))),
		g.If(e.Bill.Ruled, markup.Lines{
			fact("as it came, would have cost", "estimated, as it came", markup.Cell(markup.Money(e.Bill.Raw))),
			fact(again, "by the same estimate, as it was sent", markup.Cell(markup.Money(e.Bill.Sent))),
		}),
		fact("saved", "", markup.Cell(savedAmount(e))),
		g.If(e.Bill.Price != "", fact("price", "", markup.Wording(markup.Foreign(e.Bill.Price)))),
	})))
}

// usage says what the provider counted, or what was counted in its place.
func usage(u event.Usage) g.Node {
	if u.Source == "" {
		return fact("usage", "", markup.Wording(markup.Unknown("the answer says nothing of its tokens")))
	}
	by, held := "epitome, as the answer does not tell", markup.Unknown("the answer says nothing of the cache")
	output := markup.Unknown("the answer says nothing of its tokens") // only requests are counted here
	if u.Source == event.UsageProvider {
		by, output = "the provider", markup.Tokens(u.Output)
		if u.Cut {
			output = atLeast(output)
		}
	}
	if u.Source == event.UsageProvider && !u.CacheUnknown {
		held = markup.Tokens(u.Read)
	}
	counted := func(name string, n int) g.Node { return g.If(n != 0, fact(name, "", markup.Cell(markup.Tokens(n)))) }
	return markup.Lines{
		fact("counted by", "", markup.Wording(g.Text(by),
			g.If(u.Cut, g.Text("; what the model wrote before the answer broke off, or lost the client, is not told")),
			g.If(u.Odd, g.Text("; the numbers contradict each other and are not priced")))),
		fact("input", "", markup.Cell(markup.Tokens(u.Input))),
		fact("of it cached", "of the input, what the provider's cache had", markup.Cell(held)),
		counted("of it taken up for 5 minutes", u.Write5m),
		counted("of it taken up for an hour", u.Write1h),
		fact("output", "", markup.Cell(output)),
		counted("of it thought", u.Reasoning),
	}
}

// missWords says why the cache had less of a request.
func missWords(e event.Exchange) g.Node {
	return g.Group{g.Text(words.Miss(e.Miss)), g.If(e.Miss == event.MissClient && e.Diverged != 0,
		g.Group{g.Text(", from message "), markup.Count(e.Diverged), g.Text(" on")})}
}

// wire says what came and went, and when.
func (x *exchangePage) wire() g.Node {
	e := x.Exchange
	return markup.Region(h.Aria("labelledby", "times"), h.Table(h.TBody(markup.Lines{
		fact("began", "", markup.Wording(x.Clock(e.Start))),
		fact("request", "", markup.Wording(g.El("bdi", markup.Text(e.Method), g.Text(" "), markup.Text(e.Path)),
			g.Text(" to "), markup.Named(e.Upstream, "no upstream"))),
		g.If(e.Client != "", fact("client", "", markup.Wording(markup.Foreign(e.Client)))),
		fact("model", "", markup.Wording(markup.Named(e.Model, "unknown"))),
		fact("answered", "", markup.Wording(answer(e))),
		fact("shaped in", "spent by epitome on the conversation", markup.Cell(tookOr(e.ShapeTime, "not shaped"))),
		fact("sent after", "until the request had been written", markup.Cell(tookOr(e.Sent, "never"))),
		fact("first byte after", "", markup.Cell(tookOr(e.FirstByte, "never"))),
		fact("all", "", markup.Cell(markup.Took(e.Duration))),
		fact("bytes", "", markup.Cell(markup.Size(e.RequestBytes), g.Text(" came, "), markup.Size(e.ResponseBytes),
			g.Text(" answered"))),
	})))
}

// tookOr shows a time that something took, or what there is to say where it took none.
func tookOr(d time.Duration, otherwise string) g.Node {
	if d == 0 {
		return markup.Soft(otherwise)
	}
	return markup.Took(d)
}

// answer says what the client got.
func answer(e event.Exchange) g.Node {
	status := g.Text("nothing")
	if e.Status != 0 {
		status = markup.Count(e.Status)
	}
	fault := words.Fault(e.Fault)
	return g.Group{status, g.If(fault != "", g.Text(": "+fault)),
		g.If(e.Err != "" && markup.Shown(e.Err) != fault, g.Group{g.Text(" ("), markup.Foreign(e.Err), g.Text(")")})}
}

// edits are what was sent in another form than it came in.
func (x *exchangePage) edits() g.Node {
	e := x.Exchange
	const unchanged = "Nothing was changed: the request was sent as it came."
	switch {
	case e.Decision == "" && e.Mode == event.ModeObserve:
		return markup.Nothing(g.Text("Nothing was changed: in mode observe, requests are sent as they came."))
	case e.Decision == "" && e.Mode == event.ModeOff:
		return markup.Nothing(g.Text("Nothing was changed: mode is off."))
	case e.Decision == "":
		return markup.Nothing(g.Text(unchanged))
	case !x.Owner:
		return x.ToLogIn()
	case x.Missing != "":
		return markup.Note(g.Text("The edits cannot be read: "), markup.Foreign(x.Missing))
	case x.All == 0:
		return markup.Nothing(g.Text(unchanged))
	}
	return markup.Lines{
		x.editsWords(),
		g.If(len(x.Pages) > 0, markup.Choose("Edits", x.Pages)),
		editsTable(x.Edits),
	}
}

func (x *exchangePage) editsWords() g.Node {
	were, they := "were", "they"
	if x.Messages == 1 {
		were, they = "was", "it"
	}
	if words.Watched(x.Exchange) {
		were = "would have been"
	}
	decided := g.Text("all of that was decided before")
	if x.New > 0 {
		decided = g.Group{markup.Made(x.New, "messages of edits with new"),
			g.Text(" of them were decided in this exchange and are listed first")}
	}
	if x.New == 1 {
		decided = g.Group{markup.Made(x.New, "messages of edits with new"),
			g.Text(" of them was decided in this exchange and is listed first")}
	}
	return h.P(markup.Made(x.Messages, "messages of edits"), g.Text(" message"+words.Plural(x.Messages)+" "+were+" sent in another form than "+they+
		" came; "), decided, g.Text(". A message leads to what stood there beside what was sent."))
}
