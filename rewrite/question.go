package rewrite

import (
	"strings"

	"epitome/prose"
)

// question is what is asked about the span.
func (q *inquiring) question() prose.Question {
	out := prose.Question{
		Conversation: q.conversation, Upstream: q.lane.upstream, Model: q.lane.model, Detail: q.style.Detail,
		Credential: q.client.Credential(), Earlier: q.known.prose, SpanTokens: q.spanned(q.to), Room: q.budgets.prose, Usable: q.models(q.usable),
	}
	out.Continue = q.upTo(q.to)
	if out.Key = q.named; out.Key == "" {
		out.Key = q.key(out.Continue != nil)
	}
	from := q.from
	if q.known.prose != "" {
		from = max(from, q.known.until)
	}
	out.Transcript = q.transcript(from)
	return out
}

// upTo is the request as the provider has it in its cache, but for all from item to on; nil if there is no room in the window for
// what is asked behind it, if the provider has another beginning in its cache, or if it does not show all that is asked about.
func (q *inquiring) upTo(to int) []byte {
	if q.moved || !q.inView() {
		return nil
	}
	for _, forms := range [][]*form{q.sentBefore(), q.forms} {
		tokens := q.size.Total() - q.hist.size.Total()
		for i := range to {
			tokens += q.hist.sizes[i]
			if f := forms[i]; f != nil {
				tokens += f.Now - q.hist.sizes[i]
			}
		}
		if float64(tokens)+q.needs() > float64(q.usable) {
			continue
		}
		if body, err := q.req.upTo(to, forms); err == nil {
			return body
		}
	}
	return nil
}

// needs is how many tokens of the vocabulary a question takes besides the conversation.
func (q *inquiring) needs() float64 {
	return float64(q.Needs(q.style.Detail, q.models(q.usable), q.ratio)) / q.ratio
}

// inView reports whether what is sent shows all that is asked about: the items themselves, and for those that were left out
// before, what a model said of them.
func (q *inquiring) inView() bool {
	told := q.done == q.from
	for i := max(q.from-1, 0); i < q.to; i++ {
		switch f := q.forms[i]; {
		case f == nil:
		case f.Prose != "" && f.Prose == q.known.prose && f.Until >= q.done:
			told = true
		case i >= q.done && (f.Gone || f.Fold > 0):
			return false
		}
	}
	return told
}

// sentBefore are the forms in which items were sent with the request before, as far as they were.
func (q *inquiring) sentBefore() []*form {
	forms := append([]*form(nil), q.forms...)
	copy(forms, q.base.forms)
	return forms
}

// upTo is the body with the items before item to in these forms, and none behind them.
func (r *Request) upTo(to int, forms []*form) ([]byte, error) {
	var edits []Edit
	for i, f := range forms[:to] {
		if f == nil {
			continue
		}
		list, err := f.edits(r, i)
		if err != nil {
			return nil, err
		}
		edits = append(edits, list...)
	}
	return Splice(r.Body, append(edits, r.Dialect.Truncate(r, r.Head+to)...))
}

// transcript is the span as text from an item on, with what the user said at first before it.
func (q *inquiring) transcript(from int) (list []prose.Entry) {
	for i := range q.from {
		if q.req.Items[q.req.Head+i].Role == User {
			list = q.entry(list, i)
		}
	}
	for i := from; i < q.to; i++ {
		list = q.entry(list, i)
	}
	return list
}

// entry appends what item i says.
func (q *inquiring) entry(list []prose.Entry, i int) []prose.Entry {
	it := &q.req.Items[q.req.Head+i]
	e := prose.Entry{Group: q.hist.groups[i], Kind: prose.User, Text: q.said(i)}
	switch it.Role {
	case System, Unknown:
		e.Kind = prose.System
	case Assistant:
		e.Kind = prose.Assistant
	case Tool:
		e.Kind = prose.Result
		if k := q.hist.at[i]; k >= 0 {
			res := &q.hist.results[k]
			e.Tool, e.State = res.name, q.ending(res)
		}
	}
	if e.Text != "" || it.Role == Tool {
		list = append(list, e)
	}
	for _, c := range it.Calls {
		text := string(said(c.Arguments.Of(q.req.Body)))
		list = append(list, prose.Entry{Group: e.Group, Kind: prose.Call, Tool: c.Name, Text: text})
	}
	return list
}

// ending says in words how a call ended, if its result tells.
func (p *plan) ending(res *result) string { return inWords(p.state(res)) }

// inWords is a state in words.
func inWords(state string) string {
	switch s := strings.TrimSpace(state); {
	case s == "✓":
		return "exit code 0"
	case s == "✗":
		return "failed"
	case s != "":
		return "exit code " + strings.TrimSpace(strings.TrimPrefix(s, "✗"))
	}
	return ""
}
