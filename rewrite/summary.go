package rewrite

import (
	"errors"
	"slices"
	"strings"
	"unicode"

	"epitome/event"
	"epitome/rewrite/excerpt"
	"epitome/rewrite/ladder"
	"epitome/rewrite/ledger"
	"epitome/rewrite/recap"
	"epitome/summarize/prose"
)

// prose returns how the ladder gets a model's words for summaries; nil if no model is to be asked.
func (x *shaping) prose() ladder.Prose {
	if x.shaper.deps.Summarizer == nil || !x.state.Style.MayAsk() {
		return nil
	}
	return asker{x}
}

// asker is the ladder.Prose of a request. Its questions are about the items from the head up to end; earlier is what a
// model said in the summary before, which the answer is to update.
type asker struct{ *shaping }

// key returns the key of the question about the items up to end. The links cover the content of these items and of the
// system prompt, so a summary is never found for another conversation.
func (a asker) key(end int, earlier recap.Says) string {
	root, last, style := a.chain[a.request.Head], a.chain[end], a.state.Style
	return ledger.Hash("summary", a.lane.Scope, string(root[:]), string(last[:]), style.Mode, style.Detail, earlier.Text)
}

func (a asker) Look(end int, earlier recap.Says) (text string, ready, pending bool) {
	p, ready, pending := a.shaper.deps.Summarizer.Look(a.key(end, earlier))
	return p.Text, ready, pending
}

func (a asker) Ask(end int, earlier recap.Says) (text string, cost event.Cost, err error) {
	client := a.in.Client
	if client == nil {
		return "", cost, errors.New("nobody waits for a summary")
	}
	var p prose.Prose
	question := a.question(end, earlier)
	client.Waits(func() { p, err = a.shaper.deps.Summarizer.Ask(client.Context(), question) })
	return p.Text, p.Cost, err
}

func (a asker) Prepare(end int, earlier recap.Says) bool {
	s := a.shaper.deps.Summarizer
	if a.in.Client == nil || !s.Prepares(a.in.Upstream) {
		return false
	}
	s.Prepare(a.question(end, earlier))
	return true
}

// question returns the question for a summary of the items up to end.
func (a asker) question(end int, earlier recap.Says) prose.Question {
	s, head := a.state, a.request.Head
	q := a.newQuestion(a.key(end, earlier), s.Style.Detail)
	q.Earlier, q.Continue = earlier.Text, a.cachedBody(end, earlier)
	q.Room = recap.BudgetsFor(s.Style, s.Limits.Window, s.Scale.Ratio).Prose
	for i := head; i < end; i++ {
		q.SpanTokens += s.Sent(i)
	}
	from := head
	if earlier.Text != "" { // which covers the items before earlier.Until
		from = max(head, earlier.Until)
	}
	q.Transcript = recap.Entries(a.request, s.Calls, from, end)
	return q
}

// newQuestion returns a question without what it is about. There must be a client: its credential is in the question.
func (x *shaping) newQuestion(key, detail string) prose.Question {
	return prose.Question{
		Key: key, Detail: detail, Conversation: x.state.Decision.Conversation, Upstream: x.lane.Upstream,
		Model: x.lane.Model, Dialect: x.lane.Dialect, Scope: x.in.Scope, Project: x.in.Project,
		Credential: x.in.Client.Credential(), Usable: x.state.OfModel(x.state.Limits.Usable),
	}
}

// cachedBody returns the body without the items from end on, with the replayed edits alone: the provider has it in its
// cache, so a model reads it cheaply, with an instruction behind it. It returns nil if tools or system prompt are not
// the cached ones, if the earlier summary is not in the body, or if the window has no room for the instruction.
func (a asker) cachedBody(end int, earlier recap.Says) []byte {
	s := a.state
	hasEarlier := func(e ledger.Edit) bool { return e.Prose == earlier.Text }
	isShown := earlier.Text == "" || slices.ContainsFunc(a.replayed, hasEarlier)
	if !isShown || s.Decision.Items > 0 && s.Decision.Leading != a.out.Report.Leading { // no Items: no Leading to compare
		return nil
	}
	tokens := s.Fixed.Total() // of the vocabulary
	for i := range end {
		tokens += s.Sent(i)
	}
	if tokens+a.shaper.deps.Summarizer.Needs(s.Style.Detail) > s.Limits.Usable {
		return nil
	}
	body, err := bodyWith(a.request, a.replayed, end)
	if err != nil {
		return nil
	}
	return body
}

// minDistilled is the size of the smallest result that a model is asked about before it is cleared, in tokens of the
// vocabulary. Of a smaller one clearing would free too little, with the model's note in the stub.
const minDistilled = 1_500

// noteOf returns the note of a model about the result in item i, for the stub that replaces the result; empty if there
// is none that may be sent.
func (x *shaping) noteOf(i int) string {
	s := x.shaper.deps.Summarizer
	if s == nil || !s.Distils() || x.state.Sent(i) < minDistilled {
		return ""
	}
	p, found, _ := s.Look(x.noteKey(i))
	isForged := strings.Contains(p.Text, excerpt.Mark) || len(excerpt.ArtifactNames(p.Text)) > 0 // as if epitome said it
	if !found || isForged || x.state.Scale.CountText(p.Text) > prose.MostDistilled {
		return ""
	}
	printable := func(r rune) rune {
		if unicode.Is(unicode.C, r) && r != '\n' {
			return -1
		}
		return r
	}
	return strings.TrimSpace(strings.Map(printable, p.Text))
}

// prepareNotes has a model asked in the background about large results that will be cleared soon, for noteOf. Results
// behind the recorded prefix are left out, so nothing is asked about a conversation that is seen for the first time.
func (x *shaping) prepareNotes() {
	const most = 4 // questions for one request of the client
	s := x.shaper.deps.Summarizer
	if s == nil || !s.Distils() || x.in.Client == nil || !s.Prepares(x.in.Upstream) { // a question needs a client
		return
	}
	asked := 0
	for _, i := range x.state.DueSoon() {
		if x.state.Sent(i) < minDistilled || i >= x.state.Recorded || asked == most {
			continue
		}
		if _, found, pending := s.Look(x.noteKey(i)); found || pending {
			continue
		}
		tool, arguments := x.callOf(i)
		q := x.newQuestion(x.noteKey(i), prose.DetailDistillate)
		q.SpanTokens, q.Room = x.state.Sent(i), prose.MostDistilled
		q.Transcript = []prose.Entry{{Kind: prose.Call, Tool: tool, Text: arguments},
			{Kind: prose.Result, Tool: tool, Text: x.request.TextOf(&x.request.Items[i])}}
		s.Prepare(q)
		asked++
	}
}

// noteKey returns the key of the question about the result in item i, the same in each request that has the result.
func (x *shaping) noteKey(i int) string {
	tool, arguments := x.callOf(i)
	return ledger.Hash("distillate", x.lane.Scope, tool, arguments, string(x.request.Items[i].Hash[:]))
}

// callOf returns the tool and the arguments of the call that item i answers; empty if it answers none.
func (x *shaping) callOf(i int) (tool, arguments string) {
	if call := x.request.CallOf(i); call != nil {
		return call.Name, string(call.ArgumentsIn(x.request.Body))
	}
	return "", ""
}
