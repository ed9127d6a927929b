package rewrite

import (
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"epitome/event"
	"epitome/rewrite/conversation"
	"epitome/rewrite/ladder"
	"epitome/rewrite/ledger"
)

// atOnce is how many artifacts are asked for or put at once: a shelf may lie beyond a network.
const atOnce = 16

// restoreArtifacts sees to it that what decided edits speak of is on the shelf, from time to time; what is not is taken
// from the request again.
func (x *shaping) restoreArtifacts() error {
	d := x.state.Decision
	if len(x.base) == 0 || x.in.Now.IsZero() || !x.shaper.deps.Ledger.Touch(d, x.in.Now) {
		return nil
	}
	lost := make([]bool, len(x.base))
	var work errgroup.Group
	work.SetLimit(atOnce)
	for k := range x.base {
		work.Go(func() error {
			for _, name := range x.base[k].Artifacts {
				lost[k] = !x.shaper.deps.Shelf.Touch(name) || lost[k]
			}
			return nil
		})
	}
	_ = work.Wait() // nothing fails
	for k := range x.base {
		if lost[k] {
			x.state.KeepAgain(x.base[k])
		}
	}
	return x.keepArtifacts(true)
}

// keepArtifacts puts whatever new edits take out where it is to be found again.
func (x *shaping) keepArtifacts(late bool) error {
	s := x.state
	var work errgroup.Group
	work.SetLimit(atOnce)
	for name, content := range s.Content {
		isNamed := func(e ledger.Edit) bool { return slices.Contains(e.Artifacts, name) }
		if slices.ContainsFunc(s.Edits, isNamed) { // not so if another edit has covered it
			work.Go(func() error { return x.shaper.deps.Shelf.Put(name, content, late) })
		}
	}
	if err := work.Wait(); err != nil {
		return fmt.Errorf("cannot keep what was taken out: %w", err)
	}
	clear(s.Content)
	return nil
}

// record records the edits under the prefix that may be decided on. If an equal request was faster, its decision holds.
func (x *shaping) record() error {
	s, end := x.state, x.request.End()
	if end <= x.request.Lead {
		return nil
	}
	d, book := s.Decision, x.shaper.deps.Ledger
	d.Items, d.Sent, d.Leading = end, x.in.Now.Round(0), x.out.Report.Leading
	d.Tokens, d.Ratio = s.Spent(d.Tokens), s.Scale.Ratio
	replace := x.in.Compact || x.in.Rescue != nil || x.broke // what stands is not to hold any more
	standing, won, err := book.Record(x.lane, x.chain, d, s.Added, replace)
	if err == nil && won && x.asks && end == x.request.Head {
		_, _, err = book.Record(x.lane, x.chainOf(anyWish), d, s.Added, replace)
	}
	if err != nil {
		return err
	}
	if !won {
		s.Decision, s.Edits, s.Added = standing, standing.Edits, nil
		s.Prepare()
		x.out.Report.Code, x.out.Report.Reason = event.CodeMeanwhile, "an equal request was decided at the same time"
		return x.build()
	}
	s.Decision = standing
	return nil
}

// settle records what a rescue has decided, once the provider has taken it. A form that was refused as well is never
// recorded: what stood before stands.
func (x *shaping) settle() (recorded bool) {
	err := try(x.record)
	if x.in.Rescue.NoThinking {
		err = errors.Join(err, x.shaper.deps.Ledger.LearnBinds(x.in.Upstream, x.request.Model))
	}
	if err != nil {
		return false
	}
	x.tell()
	x.remember()
	return true
}

// fallBack sends the request as it was decided last, with all that is new left whole. That it was left whole is
// recorded, if it can be: so it stays. A count of tokens and a rescue go as they came.
func (x *shaping) fallBack(why error) {
	s, r := x.state, &x.out.Report
	isPlain := !x.in.Replay && x.in.Rescue == nil
	s.Edits, s.Added, s.Stage = nil, nil, ladder.StageNone
	x.out.Body, x.out.Changed = x.in.Body, false
	if isPlain {
		s.Edits = x.base
	}
	if c := s.Compaction; c != nil {
		c.Kind, c.Why, c.TokensAfter, c.MessagesAfter = event.CompactionFailed, why.Error(), 0, 0
	}
	s.Prepare()
	if err := x.build(); err != nil {
		why, s.Edits, s.Decision.Edits, s.Decision.List = errors.Join(why, err), nil, nil, ""
		s.Prepare()
	}
	isRecorded := isPlain && r.Conversation != "" // else the ledger does not answer
	if isRecorded {
		err := x.record()
		why, isRecorded = errors.Join(why, err), err == nil
	}
	r.Action, r.Code, r.Err = event.ActionBypass, event.CodeFailed, why
	if !isRecorded {
		s.Decision.Items, s.Decision.List, s.Decision.Sent = x.request.End(), "", x.in.Now.Round(0)
	} else if errors.Is(why, conversation.ErrBroken) { // nothing has failed here
		r.Action, r.Reason, r.Err = event.ActionNone, why.Error(), nil
	}
}

// remember keeps the request for the next one of its conversation.
func (x *shaping) remember() {
	const most = 4 << 20 // bytes: mostly pictures, which are read faster than they are sent
	if !x.request.ServerState.Empty() || len(x.in.Body) > most {
		return
	}
	s, r := x.state, &x.out.Report
	k := &known{lane: x.lane, request: x.request, chain: x.chain, calls: s.Calls, decision: s.Decision,
		over: r.TokensAfter.Total() > int(r.Usable), used: x.in.Now}
	k.decision.Edits, k.decision.Leading = s.Edits, r.Leading
	before := x.known
	if !x.goesOn() {
		before = nil
	}
	x.shaper.known.put(k, before)
}
