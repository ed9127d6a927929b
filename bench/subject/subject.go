// Package subject is epitome as a replay sees it: a policy that shapes each conversation in a store of its own.
//
// It promises that decisions are those of a running epitome with the same configuration, and that nothing depends on
// the machine's speed. A stand-in takes the model's place where summaries are asked for.
package subject

import (
	"context"
	"errors"
	"fmt"
	"time"

	"epitome/bench/policy"
	"epitome/cli/daemon"
	"epitome/config"
	"epitome/internal/unit"
	"epitome/offload"
	"epitome/proxy"
	"epitome/rewrite"
	"epitome/rewrite/conversation"
	"epitome/rewrite/ladder"
	"epitome/store"
	"epitome/summarize"
	"epitome/tokenize"
	"epitome/window"
)

// Subject is how conversations are shaped in a replay.
type Subject struct {
	Conf config.Config
	Unit policy.Unit // that of the replay's figures
	Code bool        // no model is asked for summaries
}

// shaper shapes the requests of one conversation, with a store and a shelf of its own in memory.
type shaper struct {
	shaper  *rewrite.Shaper
	limits  *ladder.Limits
	mode    summarize.Mode
	dialect Dialect
	window  int
	tries   int       // of rung 4
	teller  *narrator // nil: no model is asked
	last    rewrite.Output
}

// Dialect is what a conversation's dialect must be able to do.
type Dialect interface {
	conversation.Dialect
	summarize.Dialect
}

// Open makes a replay of one conversation.
func (p Subject) Open(s policy.Setting) (policy.Shaping, error) {
	dialect, ok := s.Dialect.(Dialect)
	if !ok {
		return policy.Shaping{}, fmt.Errorf("cannot shape conversations of the dialect %s: no model can be asked in it",
			s.Dialect.Name())
	}
	const most = 256 << 20 // bytes; more than any conversation's decisions take
	facts := store.NewMemory(most)
	artifacts, err := offload.OpenMemory(offload.Options{
		Secret: []byte("replay"), Quota: most, Keep: time.Hour, Address: "none",
	})
	if err != nil {
		return policy.Shaping{}, err
	}
	all := unit.Tokens(s.Window)
	windows := window.New(window.Config{Default: all, Models: map[string]unit.Tokens{"*": all}}, nil, time.Now)
	m := daemon.Deps(facts, artifacts, windows, time.Hour)
	m.Memo = tokenize.NewMemo(1 << 14)
	vocabulary := tokenize.O200k
	if p.Unit.IsServed() {
		m.Counters = p.Unit.Counters()
	} else {
		vocabulary = tokenize.Characters
		m.Models = tokenize.OneModel(tokenize.Model{Family: "characters", Vocabulary: vocabulary, Ratio: 1})
	}
	r := &shaper{
		limits: &p.Conf.Rewrite, mode: p.Conf.Summarize.Mode, window: s.Window, dialect: dialect,
		tries: proxy.RescueTries,
	}
	closing := facts.Close
	if !p.Code {
		model := &standIn{Dialect: dialect, unit: p.Unit, count: daemon.CountIn(vocabulary, m.Counters)}
		r.teller = newNarrator(p.Conf.Summarize, facts, windows, model)
		m.Summarizer = r.teller
		closing = func() error { return errors.Join(r.teller.Close(context.Background()), facts.Close()) }
	}
	r.shaper = rewrite.NewShaper(m)
	return policy.Shaping{
		Shaper: r, Close: closing,
		Artifact: func(name string) ([]byte, bool) {
			content, err := artifacts.Get(name)
			return content, err == nil
		},
	}, nil
}

// Shape is one request of the conversation.
func (r *shaper) Shape(body []byte, at time.Time) (s policy.Shaped, err error) {
	asked := rewrite.Input{
		Dialect: r.dialect, Body: body, Now: at, Upstream: "replay", Limits: r.limits, SummaryMode: r.mode,
	}
	if r.teller != nil {
		asked.Client = r.teller
	}
	r.last = r.shaper.Shape(asked)
	broke := r.last.Report.Broke
	r.rescue(asked)
	s = policy.Shaped{Body: r.last.Body, Decided: broke || r.last.Report.Broke}
	if r.teller != nil {
		s.Asked, err = r.teller.answerAhead(s.Body)
	}
	return s, errors.Join(r.last.Report.Err, err)
}

// rescue plays rung 4: a provider refuses what is larger than the window, says how large that is, and takes the first
// form that fits. What it refuses to the last is sent as it was refused first.
func (r *shaper) rescue(asked rewrite.Input) {
	best := r.last
	for try := 1; best.Report.TokensAfter.Total() > r.window && try <= r.tries; try++ {
		refused := best.Report
		from := refused.Stage.Next(try == r.tries)
		asked.Rescue = &rewrite.Rescue{
			From: from,
			Most: min(window.Usable(r.window, refused.MaxOutput), refused.TokensAfter.Total()*9/10),
		}
		out := r.shaper.Shape(asked)
		if out.Report.Err != nil || out.Report.Stage == ladder.StageNone {
			return
		}
		best = out
	}
	if best.Report.TokensAfter.Total() > r.window || best.Settle == nil {
		return
	}
	best.Settle()
	r.last = best
}
