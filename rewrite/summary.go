package rewrite

import (
	"bytes"
	"errors"
	"slices"

	"epitome/dialect/activity"
	"epitome/offload/excerpt"
	"epitome/rewrite/ledger"
	"epitome/rewrite/view"
	"epitome/summarize"
)

// ErrUnasked is why there are no words of a model's where nobody waits for them.
var ErrUnasked = errors.New("nobody waits for a summary")

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
	link, d, m := x.subject.Chain[end], &x.known.Before, &x.known.Model
	return ledger.Hash("summary", x.in.Scope, d.Additions, d.Began, string(link[:]), string(m.Mode), string(m.Detail),
		earlier.Text, x.in.Focus)
}

// words gets a model's words for a summary: see ladder.Model.
func (x *shaping) words(end int, earlier summarize.Says, wait bool) (p summarize.Prose, isReady bool, err error) {
	ready, isReady, _ := x.deps.Summarizer.Look(x.key(end, earlier)) // Ask returns the error, if it lasts
	if isReady || !wait {
		return summarize.Prose{Text: ready.Text}, isReady, nil // an earlier request has reported the cost
	}
	switch {
	case x.in.Rescue != nil:
		return p, false, errors.New("a refused request does not wait for a summary")
	case x.place.isSpent():
		return p, false, errSpent
	case x.known.Demand.Asked && x.in.Focus == "" && x.isCovered(end, earlier):
		return p, false, errors.New("too little is new since a model's last words")
	case x.steady() < steadyTurns && !x.known.Demand.Asked:
		return p, false, errors.New("the client has just changed earlier messages, and may change them again")
	case x.in.Client == nil: // else a model would be asked
		return p, false, ErrUnasked
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
	told := x.known.Size(x.request.Head, earlier.Until)
	return earlier.Text != "" && x.known.Size(earlier.Until, end) < min(news, told/2)
}

// prepare has a model asked ahead of need: see ladder.Model.
func (x *shaping) prepare(end int, earlier summarize.Says) bool {
	if x.in.Client == nil || x.steady() < steadyTurns || !x.deps.Summarizer.Prepares(x.in.Upstream) {
		return false
	}
	x.deps.Summarizer.Prepare(x.question(end, earlier))
	return true
}

// about returns a question about the conversation, of which it has the key. There must be a client: its credential is
// in the question.
func (x *shaping) about(key string) summarize.Question {
	return summarize.Question{
		Key: key, Conversation: x.known.Before.Conversation, Scope: x.in.Scope, Project: x.in.Project,
		Client: x.in.ClientName,
		Model: summarize.Model{
			Upstream: x.in.Upstream, Name: x.request.Model, Dialect: x.in.Dialect, Credential: x.in.Credential(),
			Usable: x.known.Limits.Usable,
		},
		Window: x.out.Report.Window,
	}
}

// question returns the question for a summary of the items from the head up to end. earlier is what a model said in the
// summary before, which the answer is to update.
func (x *shaping) question(end int, earlier summarize.Says) summarize.Question {
	k, v, head := x.known, &x.plan.View, x.request.Head
	q := x.about(x.key(end, earlier))
	q.Continue, q.SpanTokens = x.cachedBody(end, earlier), v.Sent(head, end)
	q.Room = summarize.BudgetsFor(k.Model.Mode, k.Model.Detail, k.Limits.End-v.Overhead(), k.Scale.Ratio).Prose
	q.Brief = summarize.Brief{
		Earlier: earlier.Text, Focus: x.in.Focus, Detail: k.Model.Detail, Alone: k.Model.Mode == summarize.LLM,
		Behind: k.OfModel(v.Total - v.Overhead() - q.SpanTokens),
	}
	q.Written = (&summarize.Span{Calls: k.Calls, From: head, To: end}).Files(activity.Write, 1_000, nil)
	from := max(head, earlier.Until) // the earlier words cover the items before
	q.Transcript = summarize.Entries(x.request, k.Calls, from, end)
	return q
}

// cachedBody returns the body without the items from end on, with the replayed edits alone, as new ones may have
// cleared what the provider has in its cache: a model reads that cheaply, with an instruction behind it. It returns
// nil if tools or system prompt are not the cached ones, if the earlier summary is not in the body, or if the window
// has no room for the instruction.
func (x *shaping) cachedBody(end int, earlier summarize.Says) []byte {
	k := x.known
	_, shown := x.found.view.Compacted()
	isShown := earlier.Text == "" || earlier.Text == shown.Text
	isOther := k.Before.Items > 0 && k.Before.Leading != x.subject.Leading // without Items it has no Leading
	if !isShown || isOther {
		return nil
	}
	tokens := x.found.view.Total - x.found.view.Sent(end, len(x.request.Items))
	instruction := summarize.AskTokens + k.Scale.CountText(x.in.Summary.Instructions)
	if tokens+instruction > k.Limits.Usable {
		return nil
	}
	before := x.found.view.With(view.Edit{First: end, Count: len(x.request.Items) - end, Op: view.Drop})
	body, _ := before.Render(nil) // nil after an error
	return bytes.Clone(body)      // it may be the very memory of the request, which is the client's connection's
}

// distillateKey returns the key of the question for a distillate of the result at item i. It is a name that nobody can
// guess, of scope and content: an equal result is asked about once.
func (x *shaping) distillateKey(i int) string {
	return x.deps.Shelf.Name(x.in.Scope, []byte(x.request.LinesOf(&x.request.Items[i]))) + " distillate"
}

// distillate returns what a model has said of the result at item i: see ladder.Model.
func (x *shaping) distillate(i int) string {
	p, _, _ := x.deps.Summarizer.Look(x.distillateKey(i)) // after an error the stub is sent without it
	return p.Text
}

// distill has a model asked about the result of a call at item i: see ladder.Model.
func (x *shaping) distill(i int, call *activity.Call) {
	const longest, longestCall = 16_000, 150 // tokens of what the model reads; characters
	k, summarizer := x.known, x.deps.Summarizer
	if x.in.Client == nil || !summarizer.Prepares(x.in.Upstream) {
		return
	}
	text, _ := excerpt.Lines(x.request.LinesOf(&x.request.Items[i]), false, longest, k.Scale.CountText)
	speaker := "result of " + excerpt.OneLine(call.String(), longestCall) + ", " + call.State()
	q := x.about(x.distillateKey(i))
	q.SpanTokens, q.Distills, q.Room = k.Size(i, i+1), true, summarize.MaxDistillate
	q.Transcript = []summarize.Entry{{Speaker: speaker, Text: text}}
	summarizer.Prepare(q)
}
