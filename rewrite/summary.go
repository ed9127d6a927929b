package rewrite

import (
	"errors"
	"slices"
	"strings"
	"unicode"

	"epitome/event"
	"epitome/prose"
	"epitome/rewrite/excerpt"
	"epitome/rewrite/ladder"
	"epitome/rewrite/ledger"
	"epitome/rewrite/recap"
)

// prose returns how the ladder gets a model's words for summaries; nil if no model is to be asked.
func (x *shaping) prose() ladder.Prose {
	if x.shaper.deps.Summarizer == nil || !x.state.Style.MayAsk() {
		return nil
	}
	return asker{x}
}

// asker asks a model about the conversation of a request.
type asker struct{ *shaping }

// key names the question about the items up to end. The links cover the content and the system prompt, so a summary
// never crosses from one system prompt to another.
func (a asker) key(end int, earlier recap.Says) string {
	root, last, style := a.chain[a.request.Head], a.chain[end], a.state.Style
	return ledger.Hash("summary", a.lane.Scope, string(root[:]), string(last[:]), style.Mode, style.Detail, earlier.Text)
}

// Look returns a text that is there.
func (a asker) Look(end int, earlier recap.Says) (text string, ready, pending bool) {
	p, ready, pending := a.shaper.deps.Summarizer.Look(a.key(end, earlier))
	return p.Text, ready, pending
}

// Ask waits for a text.
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

// Prepare has a text made in the background.
func (a asker) Prepare(end int, earlier recap.Says) bool {
	s := a.shaper.deps.Summarizer
	if a.in.Client == nil || !s.Prepares(a.in.Upstream) {
		return false
	}
	s.Prepare(a.question(end, earlier))
	return true
}

// question is what a model is asked about the items up to end.
func (a asker) question(end int, earlier recap.Says) prose.Question {
	s, head := a.state, a.request.Head
	q := a.ask(a.key(end, earlier), s.Style.Detail)
	q.Earlier, q.Continue = earlier.Text, a.upTo(end, earlier)
	q.Room = recap.BudgetsFor(s.Style, s.Limits.Window, s.Scale.Ratio).Prose
	for i := head; i < end; i++ {
		q.SpanTokens += s.Sent(i)
	}
	from := head
	if earlier.Text != "" {
		from = max(head, earlier.Until)
	}
	q.Transcript = recap.Entries(a.request, s.Calls, from, end)
	return q
}

// ask is a question for the client's model, or the one that the user has chosen, without what it is about.
func (x *shaping) ask(key, detail string) prose.Question {
	return prose.Question{
		Key: key, Detail: detail, Conversation: x.state.Decision.Conversation, Upstream: x.lane.Upstream,
		Model: x.lane.Model, Dialect: x.lane.Dialect, Scope: x.in.Scope, Project: x.in.Project,
		Credential: x.in.Client.Credential(), Usable: x.state.OfModel(x.state.Limits.Usable),
	}
}

// upTo returns the request as the provider has it in its cache, without the items from end on; nil if there is no room
// in the window for what is asked behind it, if the provider has cached another beginning, or if the earlier summary is
// not in it.
func (a asker) upTo(end int, earlier recap.Says) []byte {
	s := a.state
	isShown := earlier.Text == "" || slices.ContainsFunc(a.base, func(e ledger.Edit) bool { return e.Prose == earlier.Text })
	if !isShown || s.Decision.Items > 0 && s.Decision.Leading != a.out.Report.Leading {
		return nil
	}
	tokens := s.Fixed.Total()
	for i := range end {
		tokens += s.Sent(i)
	}
	needs := a.shaper.deps.Summarizer.Needs(s.Style.Detail)
	if tokens+needs > s.Limits.Usable {
		return nil
	}
	body, err := bodyWith(a.request, a.base, end)
	if err != nil {
		return nil
	}
	return body
}

// minDistilled is the fewest tokens of a result that a model is asked about before it is cleared, if the user wants
// that: the stub of a smaller one would leave too little to be freed.
const minDistilled = 1_500

// noteOf returns what a model noted about a result, as it may stand in a stub; empty if there is nothing.
func (x *shaping) noteOf(i int) string {
	s := x.shaper.deps.Summarizer
	if s == nil || !s.Distils() || x.state.Sent(i) < minDistilled {
		return ""
	}
	p, found, _ := s.Look(x.noteKey(i))
	if !found || strings.Contains(p.Text, excerpt.Mark) || x.state.Scale.CountText(p.Text) > prose.MostDistilled {
		return ""
	}
	for range excerpt.ArtifactNames(p.Text) {
		return "" // it would pass for an artifact's
	}
	isPrinted := func(r rune) rune {
		if unicode.Is(unicode.C, r) && r != '\n' {
			return -1
		}
		return r
	}
	return strings.TrimSpace(strings.Map(isPrinted, p.Text))
}

// prepareNotes has a model asked about large results that are cleared soon.
func (x *shaping) prepareNotes() {
	const most = 4 // results in one request
	s := x.shaper.deps.Summarizer
	if s == nil || !s.Distils() || x.in.Client == nil || !s.Prepares(x.in.Upstream) {
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
		q := x.ask(x.noteKey(i), prose.DetailDistillate)
		q.SpanTokens, q.Room = x.state.Sent(i), prose.MostDistilled
		q.Transcript = []prose.Entry{{Kind: prose.Call, Tool: tool, Text: arguments},
			{Kind: prose.Result, Tool: tool, Text: x.request.TextOf(&x.request.Items[i])}}
		s.Prepare(q)
		asked++
	}
}

// noteKey names the question about a result.
func (x *shaping) noteKey(i int) string {
	hash := x.request.Items[i].Hash
	tool, arguments := x.callOf(i)
	return ledger.Hash("distillate", x.lane.Scope, tool, arguments, string(hash[:]))
}

// callOf returns the call that item i answers.
func (x *shaping) callOf(i int) (tool, arguments string) {
	if call := x.request.CallOf(i); call != nil {
		return call.Name, string(call.ArgumentsIn(x.request.Body))
	}
	return "", ""
}
