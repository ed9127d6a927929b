package rewrite

import (
	"epitome/dialect/activity"
	"epitome/offload/excerpt"
	"epitome/summarize"
)

// distillateKey returns the key of the question for a distillate of the result at item i. It is a name that nobody can
// guess, of scope and content: an equal result is asked about once.
func (x *shaping) distillateKey(i int) string {
	return x.shaper.deps.Shelf.Name(x.in.Scope, []byte(x.request.LinesOf(&x.request.Items[i]))) + " distillate"
}

// distillate returns what a model has said of the result at item i: see ladder.Policy.
func (x *shaping) distillate(i int) string {
	p, _, _ := x.shaper.deps.Summarizer.Look(x.distillateKey(i)) // after an error the stub is sent without it
	return p.Text
}

// distill has a model asked about the result of a call at item i: see ladder.Policy.
func (x *shaping) distill(i int, call *activity.Call) {
	const longest, longestCall = 16_000, 150 // tokens of what the model reads; characters
	s, summarizer := x.state, x.shaper.deps.Summarizer
	if x.in.Client == nil || !summarizer.Prepares(x.in.Upstream) {
		return
	}
	text, _ := excerpt.Lines(x.request.LinesOf(&x.request.Items[i]), longest, s.Scale.CountText)
	speaker := "result of " + excerpt.OneLine(call.String(), longestCall) + ", " + call.State()
	summarizer.Prepare(summarize.Question{
		Key: x.distillateKey(i), Conversation: s.Decision.Conversation, Upstream: x.in.Upstream,
		Model: x.request.Model, Dialect: x.in.Dialect, Scope: x.in.Scope, Credential: x.in.Credential(),
		Usable: s.Limits.Usable, SpanTokens: s.Size(i, i+1), Distills: true, Room: summarize.MaxDistillate,
		Transcript: []summarize.Entry{{Speaker: speaker, Text: text}},
	})
}
