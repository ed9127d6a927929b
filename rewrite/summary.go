package rewrite

import (
	"crypto/sha256"
	"errors"
	"fmt"
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
func (x *shaping) prose(style prose.Style) ladder.Prose {
	if x.shaper.deps.Summarizer == nil || style.Mode != prose.ModeLLM && style.Mode != prose.ModeHybrid {
		return nil
	}
	return &asker{x, style}
}

// asker asks a model about the conversation of a request.
type asker struct {
	*shaping
	style prose.Style
}

// key names the question about the items up to end. The links cover the content and the system prompt, so a summary
// never crosses from one system prompt to another.
func (a *asker) key(end int, earlier recap.Says) string {
	h := sha256.New()
	root, last := a.chain[a.request.Head], a.chain[end]
	for _, part := range []string{"summary 3", a.lane.Scope, string(root[:]), string(last[:]), a.style.Mode,
		a.style.Detail, earlier.Text} {
		_, _ = fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return string(h.Sum(nil)[:16])
}

// Look returns a text that is there.
func (a *asker) Look(end int, earlier recap.Says) (text string, ready, pending bool) {
	p, ready, pending := a.shaper.deps.Summarizer.Look(a.key(end, earlier))
	text = valid(p.Text)
	return text, ready && text != "", pending
}

// valid is a text as it can be recorded; empty if it says nothing.
func valid(text string) string {
	if text = strings.ToValidUTF8(text, "\ufffd"); strings.TrimSpace(text) == "" {
		return ""
	}
	return text
}

// Ask waits for a text.
func (a *asker) Ask(end int, earlier recap.Says) (text string, cost event.Cost, err error) {
	client := a.in.Client
	if client == nil {
		return "", cost, errors.New("nobody waits for a summary")
	}
	var p prose.Prose
	question := a.question(end, earlier)
	client.Waits(func() { p, err = a.shaper.deps.Summarizer.Ask(client.Context(), question) })
	if err == nil && valid(p.Text) != "" {
		return valid(p.Text), p.Cost, nil
	}
	a.left = client.Context().Err() != nil
	if err == nil {
		err = errors.New("a model was asked, and gave no summary")
	}
	return "", cost, err
}

// Prepare has a text made in the background.
func (a *asker) Prepare(end int, earlier recap.Says) bool {
	s := a.shaper.deps.Summarizer
	if a.in.Client == nil || !s.Prepares(a.in.Upstream) {
		return false
	}
	s.Prepare(a.question(end, earlier))
	return true
}

// question is what a model is asked about the items up to end.
func (a *asker) question(end int, earlier recap.Says) prose.Question {
	s, from := a.state, a.request.Head
	q := prose.Question{
		Key: a.key(end, earlier), Conversation: s.Decision.Conversation, Upstream: a.lane.Upstream, Model: a.lane.Model,
		Dialect: a.lane.Dialect, Scope: a.in.Scope, Project: a.in.Project, Detail: a.style.Detail,
		Credential: a.in.Client.Credential(), Earlier: earlier.Text,
		Room:   recap.BudgetsFor(a.style, s.Limits.Window, s.Scale.Ratio).Prose,
		Usable: int(float64(s.Limits.Usable) * s.Scale.Ratio), Continue: a.upTo(end, earlier),
	}
	if earlier.Text != "" {
		from = max(from, earlier.Until)
	}
	for i := a.request.Head; i < end; i++ {
		q.SpanTokens += s.Sent(i)
	}
	q.Transcript = append(a.firstWords(), recap.Entries(a.request, s.Calls, from, end)...)
	return q
}

// firstWords are the user's messages in the head.
func (a *asker) firstWords() []prose.Entry {
	var list []prose.Entry
	for _, e := range recap.Entries(a.request, a.state.Calls, a.request.Lead, a.request.Head) {
		if e.Kind == prose.User {
			list = append(list, e)
		}
	}
	return list
}

// upTo returns the request as the provider has it in its cache, without the items from end on; nil if there is no room
// in the window for what is asked behind it, if the provider has cached another beginning, or if the earlier summary is
// not in it.
func (a *asker) upTo(end int, earlier recap.Says) []byte {
	s := a.state
	if s.Decision.Items > 0 && s.Decision.Leading != a.out.Report.Leading {
		return nil
	}
	shows := func(e ledger.Edit) bool { return e.Prose == earlier.Text }
	if earlier.Text != "" && !slices.ContainsFunc(s.Edits, shows) {
		return nil
	}
	needs := a.shaper.deps.Summarizer.Needs(a.style.Detail, int(float64(s.Limits.Usable)*s.Scale.Ratio), s.Scale.Ratio)
	tokens := s.Fixed.Total()
	for i := range end {
		tokens += s.Sent(i)
	}
	if float64(tokens)+float64(needs)/s.Scale.Ratio > float64(s.Limits.Usable) {
		return nil
	}
	for _, edits := range [][]ledger.Edit{a.base, s.Edits} {
		if body, err := buildUpTo(a.request, edits, end); err == nil {
			return body
		}
	}
	return nil
}

// Results that a model is asked about before they are cleared, if the user wants that.
const (
	minDistilled = 1_500    // tokens of a result; the stub of a smaller one would leave too little to be freed
	maxGiven     = 24 << 10 // bytes of a result that the model is given
	maxWords     = 4 << 10  // bytes of the call's arguments that it is given
	maxAsked     = 4        // results in one request
)

// noteOf returns what a model noted about a result, as it may stand in a stub; empty if there is nothing.
func (x *shaping) noteOf(i int) string {
	s := x.shaper.deps.Summarizer
	if s == nil || !s.Distils() || x.state.Sent(i) < minDistilled {
		return ""
	}
	p, found, _ := s.Look(x.distillateKey(i))
	if !found || strings.Contains(p.Text, excerpt.Mark) || x.state.Scale.CountText(p.Text) > prose.MostDistilled {
		return ""
	}
	for range excerpt.ArtifactNames(p.Text) {
		return "" // it would pass for an artifact's
	}
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.C, r) && r != '\n' {
			return -1
		}
		return r
	}, valid(p.Text)))
}

// prepareNotes has a model asked about large results that are cleared soon.
func (x *shaping) prepareNotes() {
	s := x.shaper.deps.Summarizer
	if s == nil || !s.Distils() || x.in.Client == nil || x.in.Rescue != nil || !s.Prepares(x.in.Upstream) {
		return
	}
	asked := 0
	for _, i := range x.state.DueSoon() {
		if x.state.Sent(i) < minDistilled || i >= x.state.Known || asked == maxAsked {
			continue
		}
		if _, found, pending := s.Look(x.distillateKey(i)); !found && !pending {
			s.Prepare(x.distillateQuestion(i))
			asked++
		}
	}
}

func (x *shaping) distillateKey(i int) string {
	hash, arguments := x.request.Items[i].Hash, x.argumentsOf(i)
	sum := sha256.Sum256([]byte("distillate 2" + x.lane.Scope + "\x00" + arguments + "\x00" + string(hash[:])))
	return string(sum[:16])
}

func (x *shaping) argumentsOf(i int) string {
	if call := x.request.CallOf(i); call != nil {
		return string(call.ArgumentsIn(x.request.Body))
	}
	return ""
}

func (x *shaping) distillateQuestion(i int) prose.Question {
	s, tool := x.state, ""
	if call := x.request.CallOf(i); call != nil {
		tool = call.Name
	}
	cut := func(text string, most int) string {
		if len(text) <= most {
			return text
		}
		return strings.ToValidUTF8(fmt.Sprintf("%s\n[… %d bytes …]\n%s", text[:most/2], len(text)-most, text[len(text)-most/2:]), "")
	}
	return prose.Question{
		Key: x.distillateKey(i), Conversation: s.Decision.Conversation, Upstream: x.lane.Upstream, Model: x.lane.Model,
		Dialect: x.lane.Dialect, Credential: x.in.Client.Credential(), Detail: prose.DetailDistillate,
		SpanTokens: s.Sent(i), Room: prose.MostDistilled, Usable: int(float64(s.Limits.Usable) * s.Scale.Ratio),
		Transcript: []prose.Entry{
			{Kind: prose.Call, Tool: tool, Text: cut(x.argumentsOf(i), maxWords)},
			{Kind: prose.Result, Tool: tool, Text: cut(x.request.TextOf(&x.request.Items[i]), maxGiven)},
		},
	}
}
