package rewrite

import (
	"bytes"
	"errors"
	"slices"

	"epitome/dialect/activity"
	"epitome/offload/excerpt"
	"epitome/rewrite/ledger"
	"epitome/summarize"
)

// steadyTurns is how many requests in a row must continue the one before them until a model is asked again, once the
// client has changed an earlier message: a summary of messages that change each turn is used only once.
const steadyTurns = 2

// steady returns how many requests in a row, with this one, have continued the one before them; at most steadyTurns.
// That is also assumed where no request with the same first answer is known.
func (x *shaping) steady() int {
	r, steady := x.request, steadyTurns
	if r.Head == len(r.Items) {
		return steady
	}
	x.recent.mu.RLock()
	defer x.recent.mu.RUnlock()
	for _, l := range slices.Backward(x.recent.list) {
		o := l.request
		isAlike := o.Head < len(o.Items) && o.Items[o.Head].Hash == r.Items[r.Head].Hash
		if l.shaper != x.Shaper || !isAlike || !x.subject.IsFor(l.subject) {
			continue
		}
		if x.continues(l) {
			return min(l.steady+1, steadyTurns)
		}
		steady = 0
	}
	return steady
}

// key returns the key of the question about the items up to end. The link covers the content of all of them, and with
// it goes the prompt that the conversation began with, so a summary is never found for another conversation.
func (x *shaping) key(end int, earlier summarize.Says) string {
	link, d := x.subject.Chain[end], &x.state.Decision
	return ledger.Hash("summary", x.in.Scope, d.Additions, d.Began, string(link[:]), string(x.state.SummaryMode),
		string(x.state.SummaryDetail), earlier.Text, x.in.Focus)
}

// words gets a model's words for a summary: see ladder.Policy.
func (x *shaping) words(end int, earlier summarize.Says, wait bool) (p summarize.Prose, isReady bool, err error) {
	ready, isReady, _ := x.deps.Summarizer.Look(x.key(end, earlier)) // Ask returns the error, if it lasts
	if isReady || !wait {
		return summarize.Prose{Text: ready.Text}, isReady, nil // an earlier request has reported the cost
	}
	switch {
	case x.in.Rescue != nil:
		return p, false, errors.New("a refused request does not wait for a summary")
	case x.in.Client == nil:
		return p, false, errors.New("nobody waits for a summary")
	case x.place.isSpent():
		return p, false, errSpent
	case x.in.Compact && x.in.Focus == "" && x.isCovered(end, earlier):
		return p, false, errors.New("too little is new since a model's last words")
	case x.steady() < steadyTurns && !x.in.Compact:
		return p, false, errors.New("the client has just changed earlier messages, and may change them again")
	}
	question := x.question(end, earlier)
	defer x.place.rest()()
	p, err = x.deps.Summarizer.Ask(x.in.Client, question)
	return p, false, err
}

// isCovered reports whether a model's earlier words tell nearly all of the items up to end: a client may ask for a
// compaction with every request, and a model's words are paid for.
func (x *shaping) isCovered(end int, earlier summarize.Says) bool {
	const news = 8_000 // tokens that are worth a question in any case
	told := x.state.Size(x.request.Head, earlier.Until)
	return earlier.Text != "" && x.state.Size(earlier.Until, end) < min(news, told/2)
}

// prepare has a model asked ahead of need: see ladder.Policy.
func (x *shaping) prepare(end int, earlier summarize.Says) bool {
	if x.in.Client == nil || x.steady() < steadyTurns || !x.deps.Summarizer.Prepares(x.in.Upstream) {
		return false
	}
	x.deps.Summarizer.Prepare(x.question(end, earlier))
	return true
}

// question returns the question for a summary of the items from the head up to end. earlier is what a model said in the
// summary before, which the answer is to update. There must be a client: its credential is in the question.
func (x *shaping) question(end int, earlier summarize.Says) summarize.Question {
	s, head := x.state, x.request.Head
	q := summarize.Question{
		Key: x.key(end, earlier), Conversation: s.Decision.Conversation, Upstream: x.in.Upstream,
		Model: x.request.Model, Dialect: x.in.Dialect, Scope: x.in.Scope, Project: x.in.Project,
		Credential: x.in.Credential(), Usable: s.Limits.Usable, SpanTokens: s.Sent(head, end),
		Earlier: earlier.Text, Focus: x.in.Focus, Detail: s.SummaryDetail, Continue: x.cachedBody(end, earlier),
		Alone: s.SummaryMode == summarize.LLM, Window: x.out.Report.Window,
		Room: summarize.BudgetsFor(s.SummaryMode, s.SummaryDetail, s.Limits.End-s.Overhead(), s.Scale.Ratio).Prose,
	}
	q.Behind = s.OfModel(s.Total - s.Overhead() - q.SpanTokens)
	q.Written = (&summarize.Span{Calls: s.Calls, From: head, To: end}).Written(1_000)
	from := max(head, earlier.Until) // the earlier words cover the items before
	q.Transcript = summarize.Entries(x.request, s.Calls, from, end)
	return q
}

// cachedBody returns the body without the items from end on, with the replayed edits alone, as new ones may have
// cleared what the provider has in its cache: a model reads that cheaply, with an instruction behind it. It returns
// nil if tools or system prompt are not the cached ones, if the earlier summary is not in the body, or if the window
// has no room for the instruction.
func (x *shaping) cachedBody(end int, earlier summarize.Says) []byte {
	s := x.state
	hasEarlier := func(e ledger.Edit) bool { return e.Prose == earlier.Text }
	isShown := earlier.Text == "" || slices.ContainsFunc(x.replayed.Edits, hasEarlier)
	isOther := s.Decision.Items > 0 && s.Decision.Leading != x.out.Report.Leading // without Items it has no Leading
	if !isShown || isOther {
		return nil
	}
	tokens := x.replayed.Total - x.replayed.Sent(end, len(x.request.Items))
	if tokens+x.deps.Summarizer.Needs() > s.Limits.Usable {
		return nil
	}
	body, err := bodyWith(x.request, x.replayed.Edits, end, nil)
	if err != nil {
		return nil
	}
	if len(body) == len(x.in.Body) { // it may be that very memory, which is the client's connection's
		body = bytes.Clone(body)
	}
	return body
}

// distillateKey returns the key of the question for a distillate of the result at item i. It is a name that nobody can
// guess, of scope and content: an equal result is asked about once.
func (x *shaping) distillateKey(i int) string {
	return x.deps.Shelf.Name(x.in.Scope, []byte(x.request.LinesOf(&x.request.Items[i]))) + " distillate"
}

// distillate returns what a model has said of the result at item i: see ladder.Policy.
func (x *shaping) distillate(i int) string {
	p, _, _ := x.deps.Summarizer.Look(x.distillateKey(i)) // after an error the stub is sent without it
	return p.Text
}

// distill has a model asked about the result of a call at item i: see ladder.Policy.
func (x *shaping) distill(i int, call *activity.Call) {
	const longest, longestCall = 16_000, 150 // tokens of what the model reads; characters
	s, summarizer := x.state, x.deps.Summarizer
	if x.in.Client == nil || !summarizer.Prepares(x.in.Upstream) {
		return
	}
	text, _ := excerpt.Lines(x.request.LinesOf(&x.request.Items[i]), false, longest, s.Scale.CountText)
	speaker := "result of " + excerpt.OneLine(call.String(), longestCall) + ", " + call.State()
	summarizer.Prepare(summarize.Question{
		Key: x.distillateKey(i), Conversation: s.Decision.Conversation, Upstream: x.in.Upstream,
		Model: x.request.Model, Dialect: x.in.Dialect, Scope: x.in.Scope, Credential: x.in.Credential(),
		Usable: s.Limits.Usable, SpanTokens: s.Size(i, i+1), Distills: true, Room: summarize.MaxDistillate,
		Window:     x.out.Report.Window,
		Transcript: []summarize.Entry{{Speaker: speaker, Text: text}},
	})
}
