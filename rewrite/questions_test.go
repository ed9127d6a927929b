package rewrite_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"epitome/rewrite"
	"epitome/rewrite/ladder"
	"epitome/rewrite/ledger"
	"epitome/summarize"
)

// answerer is a Summarizer whose model answers each question at once.
type answerer struct {
	questions int
	answers   map[string]string
}

func (a *answerer) Look(key string) (summarize.Prose, bool, error) {
	text, found := a.answers[key]
	return summarize.Prose{Text: text}, found, nil
}

func (a *answerer) Ask(_ context.Context, q summarize.Question) (p summarize.Prose, err error) {
	a.Prepare(q)
	p.Text = a.answers[q.Key]
	return p, nil
}

func (a *answerer) Prepare(q summarize.Question) {
	if a.answers[q.Key] == "" {
		a.questions++
		a.answers[q.Key] = fmt.Sprintf("## Goal\nAnswer %d.", a.questions)
	}
}

func (*answerer) Prepares(string) bool { return true }
func (*answerer) Needs() int           { return 100 }

// asking returns a process over s that asks the model of a.
func asking(s *storage, a *answerer) process {
	p := process{window: &atomic.Int64{}}
	p.Shaper = rewrite.NewShaper(rewrite.Deps{
		Ledger: ledger.New(s, keep), Shelf: shelf{s}, Memo: memo(), Summarizer: a,
		Window: func(_, _ string, _ int) (int, int) { return int(p.window.Load()), int(p.window.Load()) * 7 / 8 },
	})
	return p
}

// inputOf returns the next request of a conversation, whose client waits for it.
func inputOf(name string, c *talk, limits *ladder.Limits) rewrite.Input {
	return rewrite.Input{Dialect: dialects[name], Body: c.body(), Scope: c.scope, Upstream: "up", Limits: limits,
		Client: context.Background(), Credential: func() any { return nil }}
}

// providersSummary begins a conversation behind a summary that the provider has made.
var providersSummary = map[string]string{
	"messages":  `{"role":"assistant","content":[{"type":"compaction","content":"They fixed the shop."}]}`,
	"responses": `{"type":"compaction","id":"cmp_1","encrypted_content":"gAAAA"}`,
}

// Behind a summary of the provider nothing old changes, and no model is asked: the provider will make the next summary.
// Large results are shortened as they come, and a refused request is rescued.
func TestProviderThatCompactsGoesOn(t *testing.T) {
	for name, summary := range providersSummary {
		t.Run(name, func(t *testing.T) {
			model, limits := &answerer{answers: map[string]string{}}, defaultLimits()
			p := asking(newStorage(), model)
			p.window.Store(20_000)
			c := newTalk(name, 3, "scope", false)
			c.messages = append(c.messages, summary)
			c.user()
			sums, last := map[string]int{}, rewrite.Output{}
			for range 40 {
				c.answer(answer{text: "So."}, 2)
				last = p.Shape(inputOf(name, c, &limits))
				r := &last.Report
				sums["offloaded"] += r.Offloaded
				sums["changed"] += r.Cleared + r.Compacted
				if r.Err != nil {
					t.Fatal(r.Err)
				}
			}
			size := last.Report.TokensAfter.Total()
			if sums["offloaded"] == 0 || sums["changed"]+model.questions > 0 || size < 20_000 {
				t.Errorf("%v, %d questions, at last %d tokens: %s", sums, model.questions, size, last.Report.Code)
			}
			in := inputOf(name, c, &limits)
			in.Rescue = &rewrite.Rescue{Most: 20_000, From: ladder.StageClear}
			if r := p.Shape(in).Report; r.TokensAfter.Total() > 20_000 || r.Err != nil {
				t.Errorf("a rescue leaves %d tokens: %v", r.TokensAfter.Total(), r.Err)
			}
		})
	}
}
