package rewrite

import (
	"context"
	"errors"
	"slices"

	"epitome/event"
	"epitome/rewrite/ladder"
	"epitome/rewrite/ledger"
	"epitome/summarize"
)

// prose returns how the ladder gets a model's words for summaries; nil if no model is to be asked.
func (x *shaping) prose() ladder.Prose {
	if x.shaper.deps.Summarizer == nil || !x.state.SummaryMode.Asks() {
		return nil
	}
	return asker{x}
}

// steadyTurns is how many requests in a row must continue the one before them until a model is asked again, once the
// client has changed an earlier message: a summary of messages that change each turn is used only once.
const steadyTurns = 2

// steady returns how many requests in a row, with this one, have continued the one before them; at most steadyTurns.
// That is also assumed where the last request is not known, or has another first answer: it is of another conversation.
func (x *shaping) steady() int {
	r, last := x.request, x.last.request
	switch {
	case x.continuesLast():
		return min(x.last.steady+1, steadyTurns)
	case last == nil || r.Head == len(r.Items) || last.Head == len(last.Items),
		r.Items[r.Head].Hash != last.Items[last.Head].Hash:
		return steadyTurns
	}
	return 0
}

// asker is the ladder.Prose of a request. Its questions are about the items from the head up to end; earlier is what a
// model said in the summary before, which the answer is to update.
type asker struct{ *shaping }

// key returns the key of the question about the items up to end. The links cover the content of these items and of the
// system prompt, so a summary is never found for another conversation.
func (a asker) key(end int, earlier summarize.Says) string {
	root, last := a.chain[a.request.Head], a.chain[end]
	return ledger.Hash("summary", a.lane.Scope, string(root[:]), string(last[:]), string(a.state.SummaryMode),
		string(a.state.SummaryDetail), earlier.Text, a.in.Focus)
}

func (a asker) Look(end int, earlier summarize.Says) (text string, found bool) {
	p, found, _ := a.shaper.deps.Summarizer.Look(a.key(end, earlier)) // Ask returns the error, if it lasts
	return p.Text, found
}

func (a asker) Ask(end int, earlier summarize.Says) (text string, cost event.Cost, err error) {
	switch {
	case a.in.Client == nil:
		return "", cost, errors.New("nobody waits for a summary")
	case a.steady() < steadyTurns && !a.in.Compact:
		return "", cost, errors.New("the client has just changed earlier messages, and may change them again")
	}
	if turn := a.in.Turn; turn != nil {
		turn.Release(1)
		defer func() { _ = turn.Acquire(context.Background(), 1) }() // which never fails
	}
	p, err := a.shaper.deps.Summarizer.Ask(a.in.Client, a.question(end, earlier))
	return p.Text, p.Cost, err
}

func (a asker) Prepare(end int, earlier summarize.Says) bool {
	s := a.shaper.deps.Summarizer
	if a.in.Client == nil || a.steady() < steadyTurns || !s.Prepares(a.in.Upstream) {
		return false
	}
	s.Prepare(a.question(end, earlier))
	return true
}

// question returns the question for a summary of the items up to end. There must be a client: its credential is in
// the question.
func (a asker) question(end int, earlier summarize.Says) summarize.Question {
	s, head := a.state, a.request.Head
	q := summarize.Question{
		Key: a.key(end, earlier), Conversation: s.Decision.Conversation, Upstream: a.lane.Upstream,
		Model: a.lane.Model, Dialect: a.in.Dialect, Scope: a.in.Scope, Project: a.in.Project,
		Credential: a.in.Credential(), Usable: s.Limits.Usable,
		Earlier: earlier.Text, Focus: a.in.Focus, Detail: s.SummaryDetail, Continue: a.cachedBody(end, earlier),
		Room: summarize.BudgetsFor(s.SummaryMode, s.SummaryDetail, s.Limits.End, s.Scale.Ratio).Prose,
	}
	for i := head; i < end; i++ {
		q.SpanTokens += s.Sent(i)
	}
	q.Behind = s.OfModel(s.Total() - s.Overhead() - q.SpanTokens)
	q.Written = (&summarize.Span{Calls: s.Calls, From: head, To: end}).Written(1_000)
	from := head
	if earlier.Text != "" { // which covers the items before earlier.Until
		from = max(head, earlier.Until)
	}
	q.Transcript = summarize.Entries(a.request, s.Calls, from, end)
	return q
}

// cachedBody returns the body without the items from end on, with the replayed edits alone: the provider has it in its
// cache, so a model reads it cheaply, with an instruction behind it. It returns nil if tools or system prompt are not
// the cached ones, if the earlier summary is not in the body, or if the window has no room for the instruction.
func (a asker) cachedBody(end int, earlier summarize.Says) []byte {
	s := a.state
	hasEarlier := func(e ledger.Edit) bool { return e.Prose == earlier.Text }
	isShown := earlier.Text == "" || slices.ContainsFunc(a.replayed, hasEarlier)
	if !isShown || s.Decision.Items > 0 && s.Decision.Leading != a.out.Report.Leading { // no Items: no Leading to compare
		return nil
	}
	before := s.With(a.replayed) // without the new edits, which may have cleared what the provider has in its cache
	tokens := before.Total()     // of the vocabulary
	for i := end; i < len(a.request.Items); i++ {
		tokens -= before.Sent(i)
	}
	if tokens+a.shaper.deps.Summarizer.Needs() > s.Limits.Usable {
		return nil
	}
	body, err := bodyWith(a.request, a.replayed, end)
	if err != nil {
		return nil
	}
	return body
}
