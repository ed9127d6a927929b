package compact

import (
	"epitome/prose"
	"epitome/rewrite/conversation"
	"epitome/rewrite/decision"
	"epitome/rewrite/plan"
	"epitome/rewrite/span"
)

// question is what is asked about the span.
func (q *summarySearch) question() prose.Question {
	p := q.comp.P
	out := prose.Question{
		Conversation: p.Told.Conversation, Upstream: p.Route.Upstream, Model: p.Route.Model, Dialect: p.Route.Dialect,
		Scope: p.Route.Scope, Project: p.Ask.Project, Detail: p.Ask.Style.Detail,
		Credential: p.Ask.Client.Credential(), Earlier: q.known.Text,
		SpanTokens: q.comp.spanSize(q.to), Room: q.comp.room.Prose, Usable: p.Scale.InModelTokens(p.Limits.Usable),
	}
	out.Continue = q.upTo(q.to)
	if out.Key = q.foundKey; out.Key == "" {
		out.Key = q.key(out.Continue != nil)
	}
	from := q.comp.from
	if q.known.Text != "" {
		from = max(from, q.known.Until)
	}
	out.Transcript = q.transcript(from)
	return out
}

// upTo is the request as the provider has it in its cache, but for all from item to on; nil if there is no room in the
// window for what is asked behind it, if the provider has another beginning in its cache, or if it does not show all
// that is asked about.
func (q *summarySearch) upTo(to int) []byte {
	if q.comp.P.Ask.HeadMoved || !q.inView() {
		return nil
	}
	for _, forms := range [][]*decision.Form{q.sentBefore(), plan.FormsToSend(q.comp.P)} {
		tokens := q.comp.P.Size.Total() - q.comp.P.Hist.Size.Total()
		for i := range to {
			tokens += q.comp.P.Hist.Sizes[i]
			if f := forms[i]; f != nil {
				tokens += f.Now - q.comp.P.Hist.Sizes[i]
			}
		}
		if float64(tokens)+q.needs() > float64(q.comp.P.Limits.Usable) {
			continue
		}
		if body, err := requestUpTo(q.comp.P, to, forms); err == nil {
			return body
		}
	}
	return nil
}

// needs is how many tokens of the vocabulary a question takes besides the conversation.
func (q *summarySearch) needs() float64 {
	p := q.comp.P
	needs := p.Ask.Summariser.Needs(p.Ask.Style.Detail, p.Scale.InModelTokens(p.Limits.Usable), p.Scale.Ratio)
	return float64(needs) / p.Scale.Ratio
}

// inView reports whether what is sent shows all that is asked about: the items themselves, and for those that were left
// out before, what a model said of them.
func (q *summarySearch) inView() bool {
	told := q.comp.compactedTo == q.comp.from
	for i := max(q.comp.from-1, 0); i < q.to; i++ {
		switch f := q.comp.P.Forms[i]; {
		case f == nil:
		case f.Prose != "" && f.Prose == q.known.Text && f.Until >= q.comp.compactedTo:
			told = true
		case i >= q.comp.compactedTo && (f.Gone || f.Fold > 0):
			return false
		}
	}
	return told
}

// sentBefore are the forms in which items were sent with the request before, as far as they were, and behind them those
// in which they would be sent now.
func (q *summarySearch) sentBefore() []*decision.Form {
	forms := plan.FormsToSend(q.comp.P)
	copy(forms, q.comp.P.Base.Forms)
	return forms
}

// requestUpTo is the body with the items before item to in these forms, and none behind them.
// The head is what it is in all requests.
func requestUpTo(p *plan.Plan, to int, forms []*decision.Form) ([]byte, error) {
	edits, err := decision.Edits(p.Req, forms, to)
	if err != nil {
		return nil, err
	}
	return span.Splice(p.Req.Body, append(edits, p.Ask.Head...))
}

// transcript is the span as text from an item on, with what the user said at first before it.
func (q *summarySearch) transcript(from int) (list []prose.Entry) {
	for i := range q.comp.from {
		if q.comp.P.Req.Items[q.comp.P.Req.Head+i].Role == conversation.User {
			list = q.entry(list, i)
		}
	}
	for i := from; i < q.to; i++ {
		list = q.entry(list, i)
	}
	return list
}

// entry appends what item i says.
func (q *summarySearch) entry(list []prose.Entry, i int) []prose.Entry {
	it := &q.comp.P.Req.Items[q.comp.P.Req.Head+i]
	e := prose.Entry{Group: q.comp.P.Hist.Answers[i], Kind: prose.User, Text: q.comp.P.TextOf(i)}
	switch it.Role {
	case conversation.System, conversation.Unknown:
		e.Kind = prose.System
	case conversation.Assistant:
		e.Kind = prose.Assistant
	case conversation.User:
		e.Text = plan.OwnWords(q.comp.P, i)
	case conversation.Tool:
		e.Kind = prose.Result
		if k := q.comp.P.Hist.ResultAt[i]; k >= 0 {
			res := &q.comp.P.Hist.Results[k]
			e.Tool, e.State = res.Tool, res.State()
		}
	}
	if e.Text != "" || it.Role == conversation.Tool {
		list = append(list, e)
	}
	for _, c := range it.Calls {
		text := string(c.ArgumentsIn(q.comp.P.Req.Body))
		list = append(list, prose.Entry{Group: e.Group, Kind: prose.Call, Tool: c.Name, Text: text})
	}
	return list
}
