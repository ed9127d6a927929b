// Package rewrite puts a conversation into the form in which it is sent.
//
// Shaper.Shape is the way of a request: read it, find what was decided for its prefix, let the ladder decide about the
// rest, build the body, check it, record what was decided. It promises that a body is never decoded and encoded again:
// what is not edited stays as it is, to the byte. It promises that what was sent of a prefix is sent again as long as
// the prefix keeps coming, and that an edited body breaks no rule of structure that its original kept.
//
// Results depend on the request, the limits and the ledger alone. A Shaper remembers conversations, to save time and
// for nothing else. The package does no I/O of its own and reads no clock.
package rewrite

import (
	"encoding/hex"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"epitome/event"
	"epitome/rewrite/addition"
	"epitome/rewrite/compact"
	"epitome/rewrite/conversation"
	"epitome/rewrite/decision"
	"epitome/rewrite/history"
	"epitome/rewrite/ladder"
	"epitome/rewrite/limits"
	"epitome/rewrite/offer"
	"epitome/rewrite/plan"
	"epitome/rewrite/seen"
	"epitome/rewrite/span"
	"epitome/tokenize"
	"epitome/unit"
)

// Deps are what shaping needs of the rest of the program. None may be nil, unless it says so.
type Deps struct {
	Ledger   decision.Ledger
	Shelf    decision.Shelf
	Counters *tokenize.Counters
	Models   tokenize.Models
	Memo     *tokenize.Memo
	// Window is how many tokens a model at an upstream holds, and how many of them a request that asks for maxOutput
	// may fill.
	Window func(upstream, model string, maxOutput int) (window, usable int)
	// Ratio is how many tokens of a model at an upstream one token of the vocabulary is, and how many answers have
	// shown it. None have if that is 0: then the model's own ratio holds, as it does if Ratio is nil.
	Ratio func(s tokenize.Source) (ratio float64, answers int)
	// CachedPrice is what a cached token of a model at an upstream costs, where a new one costs 1, if that is known.
	// nil: it is as the limits say.
	CachedPrice func(upstream, model string) (price float64, ok bool)
	// Summariser asks models for prose; nil if none is asked.
	Summariser plan.Summariser
	// Tell hears what happens while a request is shaped; nil if nobody wants to.
	Tell plan.Listener
	// Passing says that what the ledger and shelf keep does not outlive the process: little is decided then.
	Passing bool
	// Recall says which clients are told to read artifacts with epitome's tool.
	Recall           Recall
	addition.Sources // of what conversations are given
	// Keep is how long what the ledger has lives. What is remembered of a conversation lives no longer. 0: for ever.
	Keep time.Duration
}

// Shaper shapes requests. Its methods may be called from any goroutine.
type Shaper struct {
	deps   Deps
	seen   *seen.Cache[*past]
	failed atomic.Bool // something was sent that could not be recorded
}

// NewShaper makes a shaper.
func NewShaper(m Deps) *Shaper { return &Shaper{deps: m, seen: seen.New[*past](m.Keep)} }

// Shape says what to send in a request's place. It never fails: what goes wrong stands in the report, and the request
// goes on in the form that was decided last, or else as it came.
func (s *Shaper) Shape(a Input) Output {
	x := &run{shaper: s, in: a, out: Output{Body: a.Body, dialect: a.Dialect}}
	x.out.Report.Action = ActionNone
	x.guarded(x.read)
	if x.req == nil || x.out.Report.Err != nil {
		return x.out
	}
	x.guarded(x.decide)
	switch err := x.out.Report.Err; {
	case x.in.Replay:
		return x.out
	case errors.Is(err, compact.ErrDeserted): // nothing is decided, as nothing will be sent
		x.out.Report.Action, x.out.Report.Code = ActionNone, event.NoCode
		return x.out
	case x.in.Rescue != nil && x.in.Rescue.Unthinking && err != nil: // without a store it helps all the same
		x.fallBack()
		return x.out
	case x.in.Rescue != nil: // nothing is decided before it is known whether that helps
		x.aside(func() { takeBearings(x) })
		return x.out
	case err != nil:
		x.fallBack()
	}
	x.aside(func() { takeBearings(x) })
	x.aside(x.conclude)
	x.aside(func() { stamp(x) }) // while the chain is the whole request's
	if x.out.Report.Err == nil {
		x.aside(x.learn)
	} else {
		x.aside(func() { putBack(x) })
	}
	return x.out
}

// fallBack sends what was recorded last, with all that is new left whole. That this was left whole is recorded, if it
// can be: so it stays.
func (x *run) fallBack() {
	r := &x.out.Report
	x.shaper.failed.Store(true)
	err := r.Err
	lost := x.turn != nil && x.turn.Failure() != nil // then nothing can be recorded
	if x.log.recorded == nil && !x.log.formLost && x.in.Rescue == nil && !lost {
		r.Err = nil
		x.guarded(x.leaveWhole)
		err = errors.Join(err, r.Err)
	}
	r.Err, x.plan.Forms = nil, plan.BaseForms(x.plan)
	plan.TakeThinking(x.plan)
	x.guarded(x.build)
	r.Err, r.Action, r.Code = errors.Join(err, r.Err), ActionBypass, event.CodeFailed
}

// leaveWhole records what was recorded last, with all that is new left whole.
func (x *run) leaveWhole() error {
	x.plan.Forms = plan.BaseForms(x.plan)
	plan.TakeThinking(x.plan)
	if err := keepArtifacts(x.plan); err != nil {
		return err
	}
	d := &decision.Decision{Forms: x.plan.Forms, Outcomes: x.plan.Base.Outcomes}
	// A compaction that came to nothing may come to nothing again.
	if n := x.plan.Result.Notice; n.Kind == event.CompactionStarted || n.Kind == event.CompactionCompleted {
		total := x.plan.Total()
		d.Outcomes = d.Outcomes.With(decision.Outcomes{{Before: total, After: total}}, x.plan.Limits.Conf.Thrash)
	}
	if err := x.log.write(d); err != nil {
		return err
	}
	return x.remember(d)
}

// run is the way of one request.
type run struct {
	shaper  *Shaper
	in      Input
	out     Output
	req     *conversation.Request
	hist    *history.History
	plan    *plan.Plan
	name    decision.Ref  // of the conversation
	past    *past         // what was known before; nil if nothing was
	highest decision.Rung // of all forms
	log     recording
	ledger  decision.Ledger
	turn    decision.Turn // the ledger, if others share it; else nil
	tag     string        // of the turn
	fixed   fixed
	spelled decision.Spelled // texts of forms, which go with the past
}

// guarded does one step. If it fails or panics, the body is as it came.
func (x *run) guarded(step func() error) {
	defer func() {
		if r := recover(); r != nil {
			x.fail(fmt.Errorf("panic: %v\n%s", r, debug.Stack()))
		}
	}()
	if err := step(); err != nil {
		x.fail(err)
	}
}

// aside does what the body does not depend on any more. If it panics, that is reported, and the body is what was
// decided.
func (x *run) aside(step func()) {
	defer func() {
		if r := recover(); r != nil {
			x.out.Report.Err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	step()
}

// say puts into the report why nothing new was done, or not all of it.
func say(x *run, why plan.Why) { x.out.Report.Code, x.out.Report.Reason = why.Code, why.Words }

func (x *run) fail(err error) {
	x.asItCame()
	x.out.Report.Err, x.out.Report.Action, x.out.Report.Code = err, ActionBypass, event.CodeFailed
}

// mostValues is how many values of JSON a request has that is read: each costs a microsecond or more, however short it
// is. Agents' requests have a few thousand.
const mostValues = 700_000

// read finds out what was asked. Its frame is small, as a request's deepest calls are made below it: the stack that
// they need stays with the goroutine while the answer streams.
func (x *run) read() error {
	if span.IsBusy(x.in.Body, mostValues) {
		say(x, plan.Because(event.CodeNotRead, "the request has more than %d values", mostValues))
		return nil
	}
	req, err := x.in.Dialect.Read(x.in.Body, x.recall)
	if errors.Is(err, conversation.ErrMoved) {
		x.past = nil
		req, err = x.in.Dialect.Read(x.in.Body, nil)
	}
	if err != nil {
		say(x, plan.Why{Code: event.CodeNotRead, Words: err.Error()})
		return nil
	}
	scale, answers, err := x.shaper.scale(&x.in, req.Model)
	if err != nil {
		return err
	}
	req.Marks = seen.AllMarks(x.past.marks(), req.Marks)
	// What was counted for another model is of no use, nor what is known of a conversation that began here.
	if x.past != nil && (x.past.route.Model != req.Model || !req.Upkeep.Before.Empty()) {
		x.past = nil
	}
	x.req, x.hist, x.spelled = req, x.past.history(), x.past.texts()
	x.fixed = fixedOf(x)
	x.hist.Extend(req, scale)
	layOut(x, scale, answers)
	return nil
}

// layOut makes the plan, and the report on a request for which nothing is done.
func layOut(x *run, scale conversation.Scale, answers int) {
	req := x.req
	believed, room := x.shaper.deps.Window(x.in.Upstream, req.Model, req.MaxOutput)
	window, usable := x.in.Rescue.Within(believed, room)
	size, estimated := req.CountFixed(scale)
	size, estimated = size.Plus(x.hist.Size), estimated || x.hist.IsEstimated()
	x.plan = &plan.Plan{
		Case:   plan.Case{Manual: x.in.Compact, Rescue: x.in.Rescue, Binds: bindsOf(x), Estimated: estimated},
		Limits: limitsFor(x).EffectiveAt(window, usable, scale.Ratio), Scale: scale,
		Route: decision.Route{
			Scope: x.in.Scope, Upstream: x.in.Upstream, Model: req.Model, Dialect: x.in.Dialect.Key(),
		}.Hash(),
		Req: req, Hist: x.hist, Shelf: x.shaper.deps.Shelf, Base: &decision.Decision{},
		End: req.Decidable(), Size: size,
		Sheet: plan.Sheet{Named: map[string]bool{}, NewForms: map[int]bool{}},
		Ask:   x.asker(window), Told: plan.Teller{Listener: x.shaper.deps.Tell, Window: believed, Usable: usable},
	}
	x.plan.Case.ByTool = x.shaper.deps.Recall.by(req)
	x.plan.Case.NoReader = sync.OnceValue(func() bool { return offer.NoReader(req) })
	x.ledger = x.shaper.deps.Ledger
	takeTurn(x)
	x.log = recording{ledger: x.ledger, plan: x.plan}
	r := &x.out.Report
	r.Model, r.MaxOutput, r.Streams, r.Drops = req.Model, req.MaxOutput, req.Stream, req.Upkeep.Drops
	r.Items, r.Window, r.Usable = conversation.MessagesIn(req, 0, len(req.Items)), believed, usable
	r.Ratio, r.Answers, r.Estimated = scale.Ratio, answers, estimated
	r.Before, r.After, r.Counted = size.Times(scale.Ratio), size.Times(scale.Ratio), plan.Comparable(x.plan, size)
}

// limitsFor are the limits of the request, for its model.
func limitsFor(x *run) *limits.Limits {
	l := x.in.Limits.For(x.req.Model)
	if known := x.shaper.deps.CachedPrice; known != nil {
		if price, ok := known(x.in.Upstream, x.req.Model); ok {
			l = l.AtPrice(price)
		}
	}
	return l
}

// scale is what requests for a model are measured with, and how many answers have shown its ratio. A rescue counts as
// the refused form was counted.
func (s *Shaper) scale(in *Input, name string) (scale conversation.Scale, answers int, err error) {
	model := s.deps.Models.Of(name)
	counter, err := s.deps.Counters.For(model.Vocabulary)
	if err != nil {
		return scale, 0, err
	}
	scale = conversation.Scale{Model: model, Counter: counter, Memo: s.deps.Memo, Ratio: model.Ratio}
	switch {
	case in.Rescue != nil && in.Rescue.Ratio > 0:
		scale.Ratio, answers = in.Rescue.Ratio, in.Rescue.Answers
	case s.deps.Ratio != nil && !model.Exact:
		source := tokenize.Source{Upstream: in.Upstream, Model: name, Dialect: in.Dialect.Key()}
		if ratio, n := s.deps.Ratio(source); n > 0 {
			scale.Ratio, answers = ratio, n
		}
	}
	return scale, answers, nil
}

// decide finds the form of each item, and records it before anything is sent. The order of its steps is the promise:
// what was decided before is found first, and holds; only then is anything new decided, by what is left of the room;
// what may not be sent is found out by building it, before it is recorded; and what was recorded meanwhile by somebody
// else is what is built at the end.
func (x *run) decide() error {
	p := x.plan
	readAhead(x)
	x.log.noteVersions()
	x.log.standing = standingOf(x)
	p.Base = p.Route.Deepest(x.ledger, x.hist.Chain, x.log.standing)
	if err := addToHead(x); err != nil {
		return err
	}
	if err := noteLost(x); err != nil {
		return err
	}
	x.log.noteHeld()
	p.Forms = plan.BaseForms(p)
	p.Sheet.Sent, p.Result.Outcomes, p.Case.CacheExpired = slices.Clone(p.Forms), p.Base.Outcomes, cacheExpired(x)
	p.Sheet.NoteBase(p.Sheet.Sent)
	noteSentUnrecorded(x)
	if plan.IsDeadEnd(p) {
		beginAnew(x)
	}
	x.out.Report.Unsure = mayMisplace(x)
	if x.in.Replay {
		return x.build()
	}
	if err := errors.Join(x.log.restoreArtifacts(), x.nameConversation()); err != nil {
		return err
	}
	if err := unlessTied(x, x.log.noteStable); err != nil {
		return err
	}
	if p.Base.Version != 0 && p.Base.Depth() == x.hist.Len() && !p.Case.MayOverwrite() {
		x.log.recorded, x.log.again = p.Base, true
		say(x, plan.Why{Code: event.CodeAgain, Words: "the request is one that was decided before"})
		x.out.Report.Broke = p.Sheet.Broke
		return x.build()
	}
	warnOfImitation(x)
	x.extend()
	p.Sheet.Broke = p.Sheet.Broke || x.log.deadEnd && plan.FirstChanged(p) < x.log.held
	if plan.TakeThinking(p); p.Sheet.Thoughts > 0 {
		compact.NoteTotal(p)
	}
	if p.Ask.Deserted {
		p.Tell(compact.FailureOf(p.Result.Notice, compact.ErrDeserted.Error()))
		return compact.ErrDeserted
	}
	if err := x.build(); err != nil { // what may not be sent is not recorded either
		return err
	}
	if err := x.record(); err != nil || !x.log.adopted && !x.out.added.other {
		return err
	}
	return x.build()
}

// nameConversation finds out which conversation the request belongs to.
func (x *run) nameConversation() error {
	if x.log.unsure {
		return nil
	}
	known, name := 0, decision.Ref{}
	if x.past != nil {
		known, name = x.past.Len(), x.past.name
	}
	prefix := decision.Prefix{Ledger: x.ledger, Route: x.plan.Route, Chain: x.hist.Chain}
	n, err := prefix.Name(x.plan.End, known, name)
	if err != nil {
		return err
	}
	x.name = n.Name
	x.plan.Told.Conversation = idOf(n.Name)
	r := &x.out.Report
	r.Conversation, r.Project = x.plan.Told.Conversation, x.plan.Ask.Project
	if n.Left != (decision.Ref{}) {
		r.Bearings.Parent, r.Bearings.Diverged = idOf(n.Left), conversation.NumberOf(x.req, x.req.Head+n.Shared)
	}
	return nil
}

// idOf is the id of a conversation, as everybody is told it.
func idOf(name decision.Ref) string { return hex.EncodeToString(name[:8]) }

// asker is how prose may be had for this request, at a window of so many tokens.
func (x *run) asker(window int) *plan.Asker {
	q := &plan.Asker{Summariser: x.shaper.deps.Summariser, Project: x.in.Project, Client: x.in.Client}
	q.Style = x.in.Style.At(window)
	if x.in.Rescue != nil { // nobody is asked, but what was made for the larger window will do
		q.Style = x.in.Style.At(x.in.Rescue.Most + unit.MostTokens)
	}
	if x.past != nil {
		q.HeadMoved = x.past.fixed.leading != x.fixed.leading
		q.Prepared, q.PreparedCut = x.past.ahead.tokens, x.past.ahead.cut
	}
	return q
}

// extend makes the new part of the decision.
func (x *run) extend() {
	p := x.plan
	if p.Case.Rescue != nil {
		p.Case.OverQuota = x.shaper.deps.Passing || p.Shelf.Full()
		say(x, ladder.RescuePlan(p))
		return
	}
	elsewhere, tooMuch := ladder.WhyElsewhere(p.Req.Upkeep.By), ladder.WhyTooMuch(p)
	switch {
	case p.Req.Upkeep.By == conversation.ClientSummarises:
		say(x, elsewhere)
		return
	case tooMuch.Code != event.NoCode:
		say(x, tooMuch)
		return
	case len(x.in.Body) < p.Limits.Floor() && !p.Case.Manual:
		say(x, plan.Because(event.CodeFloor, "the body has %d bytes; nothing is decided below %d", len(x.in.Body), p.Limits.Floor()))
		return
	}
	p.Case.OverQuota = x.shaper.deps.Passing || p.Shelf.Full()
	total := p.Total()
	cutover := p.Limits.Conf.CutoverAt
	p.Case.OverBudget = cutover > 0 && budgetOf(x).total()+p.Scale.InModelTokens(total) >= cutover
	if !p.Case.OverQuota || total > p.Limits.ClearLine || p.Case.Manual || p.Case.OverBudget {
		ladder.OffloadArrivals(p)
		if say(x, elsewhere); elsewhere.Code == event.NoCode {
			say(x, ladder.DecideOlder(p))
		}
	}
	if x.out.Report.Code == event.NoCode {
		say(x, ladder.WhyNoMore(p, total))
	}
}

// record makes the decision last: first what was taken out, then the forms, then the decision itself. If an equal
// request was faster, its decision holds.
func (x *run) record() error {
	p := x.plan
	if err := keepArtifacts(x.plan); err != nil {
		return err
	}
	d := &decision.Decision{Forms: p.Forms, Outcomes: p.Result.Outcomes}
	if err := x.log.write(d); err != nil {
		return err
	}
	x.log.written = d
	r := &x.out.Report
	r.Decided, r.Changes, r.Broke, r.Stage = len(p.Sheet.NewForms) > 0, p.Changes(), p.Sheet.Broke, p.Result.Stage
	r.Thoughts, x.out.unthought = p.Sheet.Thoughts, p.Sheet.Unthought
	if p.Case.Rescue != nil {
		noteUnrecorded(x)
		x.out.Settle = func() (recorded bool) { return x.settle(d) }
		return nil
	}
	err := x.remember(d)
	noteUnrecorded(x)
	if x.log.recorded == nil || x.log.adopted {
		r.Decided, r.Changes, r.Broke, r.Thoughts = false, nil, false, 0
		x.out.unthought = nil
	}
	return err
}

// remember records the decision itself, and says so if an equal request was faster.
func (x *run) remember(d *decision.Decision) error {
	err := unlessTied(x, func() error { return x.log.remember(d) })
	if x.log.adopted {
		say(x, plan.Why{Code: event.CodeMeanwhile, Words: "an equal request was decided at the same time"})
	}
	return err
}

// settle records what a rescue has decided, once the provider has taken it. A form that was refused as well is never
// recorded: what stood before stands. It returns false if nobody knows whether others will find it.
func (x *run) settle(d *decision.Decision) (recorded bool) {
	x.aside(func() {
		if err := errors.Join(x.remember(d), rememberBond(x), forsake(x)); err != nil {
			x.out.Report.Err = err
			x.shaper.failed.Store(true)
		}
	})
	x.aside(x.conclude)
	if x.out.Report.Err == nil {
		x.aside(x.learn)
	}
	return !x.log.unsure
}
