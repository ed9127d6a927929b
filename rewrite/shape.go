// Package rewrite puts a conversation into the form in which it is sent.
//
// Shaper.Shape is the way of a request: read it, find what was decided for its prefix, let the ladder decide about the
// rest, record that, build the body, check it. It promises that a body is never decoded and encoded again: what is not
// edited stays as it is, to the byte. It promises that what was sent of a prefix is sent again as long as the prefix
// keeps coming, and that an edited body breaks no rule of structure that its original kept.
//
// Results depend on the request, the limits and the ledger alone. A Shaper remembers conversations, to save time and for
// nothing else. The package does no I/O of its own and reads no clock.
package rewrite

import (
	"errors"
	"fmt"
	"hash/maphash"
	"runtime/debug"

	"epitome/event"
	"epitome/rewrite/compact"
	"epitome/rewrite/conversation"
	"epitome/rewrite/decision"
	"epitome/rewrite/history"
	"epitome/rewrite/ladder"
	"epitome/rewrite/limits"
	"epitome/rewrite/plan"
	"epitome/rewrite/span"
	"epitome/tokenize"
)

// Deps are what shaping needs of the rest of the program. None may be nil, unless it says so.
type Deps struct {
	Ledger   decision.Ledger
	Shelf    decision.Shelf
	Counters *tokenize.Counters
	Models   tokenize.Models
	Memo     *tokenize.Memo
	// Window is how many tokens a model at an upstream holds, and how many of them a request that asks for maxOutput may fill.
	Window func(upstream, model string, maxOutput int) (window, usable int)
	// Ratio is how many tokens of a model at an upstream one token of the vocabulary is, and how many answers have shown it.
	// None have if that is 0: then the model's own ratio holds, as it does if Ratio is nil.
	Ratio func(upstream, model string) (ratio float64, answers int)
	// Summariser asks models for prose; nil if none is asked.
	Summariser plan.Summariser
	// Tell hears what happens while a request is shaped; nil if nobody wants to.
	Tell plan.Listener
	// Passing says that what the ledger and shelf keep does not outlive the process: little is decided then.
	Passing bool
}

// Shaper shapes requests. Its methods may be called from any goroutine.
type Shaper struct {
	deps Deps
	seen *seen
}

// NewShaper makes a shaper.
func NewShaper(m Deps) *Shaper { return &Shaper{deps: m, seen: newSeen()} }

// Shape says what to send in a request's place. It never fails: what goes wrong stands in the report, and the request goes
// on in the form that was decided last, or else as it came.
func (s *Shaper) Shape(a Input) Output {
	x := &run{shaper: s, in: a, out: Output{Body: a.Body, dialect: a.Dialect}}
	x.out.Report.Action = ActionNone
	x.guarded(x.read)
	if x.req == nil || x.out.Report.Err != nil {
		return x.out
	}
	x.guarded(x.decide)
	switch err := x.out.Report.Err; {
	case errors.Is(err, compact.ErrDeserted): // nothing is decided, as nothing will be sent
		x.out.Report.Action = ActionNone
		return x.out
	case x.in.Rescue != nil: // nothing is decided before it is known whether that helps
		return x.out
	case err != nil:
		x.fallBack()
	}
	x.aside(x.conclude)
	if x.out.Report.Err == nil {
		x.aside(x.learn)
	}
	return x.out
}

// fallBack sends what was recorded last, with all that is new left whole. That this was left whole is recorded, if it can
// be: so it stays.
func (x *run) fallBack() {
	r := &x.out.Report
	err := r.Err
	if x.recorded == nil && !x.formLost {
		r.Err = nil
		x.guarded(x.leaveWhole)
		err = errors.Join(err, r.Err)
	}
	r.Err, x.plan.Forms = nil, x.baseForms()
	x.guarded(x.build)
	r.Err, r.Action = errors.Join(err, r.Err), ActionBypass
}

// leaveWhole records what was recorded last, with all that is new left whole.
func (x *run) leaveWhole() error {
	x.plan.Forms = x.baseForms()
	d := &decision.Decision{Forms: x.plan.Forms, Outcomes: x.plan.Base.Outcomes}
	// A compaction that came to nothing may come to nothing again.
	if n := x.plan.Ask.Notice; n.Kind == event.CompactionStarted || n.Kind == event.CompactionCompleted {
		total := x.plan.Total()
		d.Outcomes = d.Outcomes.With(decision.Outcomes{{Before: total, After: total}}, x.plan.Limits.Conf.Thrash)
	}
	if err := x.route.Write(x.shaper.deps.Ledger, d, x.plan.Base); err != nil {
		return err
	}
	return x.remember(d)
}

// run is the way of one request.
type run struct {
	shaper *Shaper
	in     Input
	out    Output
	req    *conversation.Request
	hist   *history.History
	route  decision.Route
	plan   *plan.Plan
	name   decision.Ref // of the conversation
	past   *past        // what was known before; nil if nothing was

	highest          decision.Rung      // of all forms
	standingDecision *decision.Decision // by which what is known of the conversation was sent; nil if it was not, or another one stands now
	standingVersions map[int]uint64     // versions of the decisions for this request that are to be replaced, by how many items they rule
	recorded         *decision.Decision // what stands for this request
	formLost         bool               // a decided form cannot be used any more
	decidedBefore    bool               // the request is one that was decided before
	adopted          bool               // another request's decision was adopted, of which the history knows nothing
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

// aside does what the body does not depend on any more. If it panics, that is reported, and the body is what was decided.
func (x *run) aside(step func()) {
	defer func() {
		if r := recover(); r != nil {
			x.out.Report.Err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	step()
}

func (x *run) fail(err error) {
	x.asItCame()
	x.out.Report.Err, x.out.Report.Action = err, ActionBypass
}

// asItCame takes back what was built.
func (x *run) asItCame() {
	r := &x.out.Report
	x.out.Body, x.out.forms, x.highest = x.in.Body, nil, 0
	r.Action, r.After, r.Repeated = ActionNone, r.Before, 0
	if x.plan != nil {
		r.Counted = x.plan.Comparable(x.plan.Size)
	}
}

// read finds out what was asked.
func (x *run) read() error {
	req, err := x.in.Dialect.Read(x.in.Body, x.recall)
	if err != nil {
		x.out.Report.Reason = err.Error()
		return nil
	}
	model := x.shaper.deps.Models.Of(req.Model)
	counter, err := x.shaper.deps.Counters.For(model.Vocabulary)
	if err != nil {
		return err
	}
	x.req = req
	x.route = decision.Route{Scope: x.in.Scope, Upstream: x.in.Upstream, Model: req.Model}
	believed, room := x.shaper.deps.Window(x.in.Upstream, req.Model, req.MaxOutput)
	window, usable := x.in.Rescue.Within(believed, room)
	scale := conversation.Scale{Model: model, Counter: counter, Memo: x.shaper.deps.Memo}
	ratio, answers := x.ratio(model)
	x.plan = &plan.Plan{
		Limits: x.in.Limits.EffectiveAt(window, usable, ratio), Scale: scale, Scope: x.in.Scope, Shelf: x.shaper.deps.Shelf, Req: req,
		Ratio: ratio, Base: &decision.Decision{}, ArtifactNames: map[string]bool{}, NewForms: map[int]bool{},
	}
	x.hist = x.knownHistory()
	x.plan.Ask = x.inquiry(window)
	x.plan.Ask.Window, x.plan.Ask.Usable = believed, usable
	x.hist.Extend(req, scale)
	x.plan.Hist, x.plan.End = x.hist, req.Decidable()
	size := req.CountFixed(scale).Plus(x.hist.Size)
	x.plan.Size = size
	x.out.Report = Report{
		Action: ActionNone, Model: req.Model, Window: believed, Usable: usable, MaxOutput: req.MaxOutput, Items: len(req.Items),
		Before: size.Times(ratio), After: size.Times(ratio), Ratio: ratio, Answers: answers, Counted: x.plan.Comparable(size),
	}
	return nil
}

// ratio is how many tokens of the model one token of the vocabulary is. A rescue counts as the refused form was counted.
func (x *run) ratio(model tokenize.Model) (ratio float64, answers int) {
	switch {
	case x.in.Rescue != nil && x.in.Rescue.Ratio > 0:
		return x.in.Rescue.Ratio, x.in.Rescue.Answers
	case x.shaper.deps.Ratio == nil || model.Exact:
		return model.Ratio, 0
	}
	if ratio, answers = x.shaper.deps.Ratio(x.in.Upstream, x.req.Model); answers == 0 {
		ratio = model.Ratio
	}
	return ratio, answers
}

// decide finds the form of each item, and records it before anything is sent.
func (x *run) decide() error {
	p := x.plan
	x.noteStanding()
	x.standingDecision = x.lastDecision()
	p.Base = x.route.Deepest(x.shaper.deps.Ledger, x.hist.Chain, x.standingDecision)
	if p.Base != x.standingDecision { // what is sent whole may be other items
		x.hist.ForgetLines()
	}
	p.Forms, p.Ask.Outcomes, p.CacheExpired = x.baseForms(), p.Base.Outcomes, x.cacheExpired()
	for _, f := range p.Forms {
		p.Marks(f)
	}
	if err := errors.Join(x.restoreArtifacts(), x.nameConversation()); err != nil {
		return err
	}
	p.Ask.Conversation = x.out.Report.Conversation
	if p.Base.Version != 0 && p.Base.Depth() == x.hist.Len() && !p.Ask.MayOverwrite() {
		x.recorded, x.decidedBefore = p.Base, true
		x.out.Report.Reason = "the request is one that was decided before"
		return x.build()
	}
	x.extend()
	if p.Ask.Deserted {
		p.Tell(compact.FailureOf(p.Ask.Notice, compact.ErrDeserted.Error()))
		return compact.ErrDeserted
	}
	if err := x.build(); err != nil { // what may not be sent is not recorded either
		return err
	}
	if err := x.record(); err != nil || !x.adopted {
		return err
	}
	return x.build()
}

// inquiry is how prose may be had for this request, at a window of so many tokens.
func (x *run) inquiry(window int) *plan.Asker {
	q := &plan.Asker{
		Summariser: x.shaper.deps.Summariser, Style: x.in.Style.At(window), Client: x.in.Client, Lane: x.route, Tell: x.shaper.deps.Tell,
		Manual: x.in.Compact, Rescue: x.in.Rescue,
	}
	if x.in.Rescue != nil { // nobody is asked, but what was made for the larger window will do
		q.Style = x.in.Style.At(x.in.Rescue.Most + limits.MostTokens)
	}
	if x.past != nil {
		q.HeadMoved, q.Prepared, q.PreparedCut = x.past.leading != maphash.Bytes(x.shaper.seen.seed, x.req.LeadingBlock()), x.past.prepared, x.past.cut
	}
	return q
}

// cacheExpired reports whether the provider has forgotten what was sent of the conversation: after a long pause, or as it went to another model.
func (x *run) cacheExpired() bool {
	if base := x.plan.Base; base.Version == 0 && base.Depth() > 0 {
		return true
	}
	life := x.in.Limits.CacheLife.D()
	if x.past == nil || life == 0 || x.in.Now.IsZero() || x.past.asked.IsZero() {
		return false
	}
	return x.in.Now.Round(0).Sub(x.past.asked) > life // by the clock on the wall, which goes on while a machine sleeps
}

// baseForms are the forms that were decided before, and all that is new whole.
func (x *run) baseForms() []*decision.Form {
	forms := make([]*decision.Form, x.hist.Len())
	copy(forms, x.plan.Base.Forms)
	if x.plan.Base.Version == 0 {
		plan.RecountForms(x.plan, forms)
	}
	return forms
}

// extend makes the new part of the decision.
func (x *run) extend() {
	p := x.plan
	if p.Ask.Rescue != nil {
		p.OverQuota = x.shaper.deps.Passing || p.Shelf.Full()
		x.out.Report.Reason = ladder.RescuePlan(p)
		return
	}
	if len(x.in.Body) < p.Limits.Floor() && !p.Ask.Manual {
		x.out.Report.Reason = "the body is below the floor"
		return
	}
	p.OverQuota = x.shaper.deps.Passing || p.Shelf.Full()
	total := p.Total()
	p.Ask.Budget = p.Limits.Conf.CutoverAt > 0 && x.sentSinceCompaction()+p.InModelTokens(total) >= p.Limits.Conf.CutoverAt
	if !p.OverQuota || total > p.Limits.ClearLine || p.Ask.Manual || p.Ask.Budget {
		ladder.OffloadArrivals(p)
		x.out.Report.Reason = ladder.DecideOlder(p)
	}
	if len(p.ChangesMade) == 0 && x.out.Report.Reason == "" {
		x.out.Report.Reason = ladder.WhyNothing(p, total)
	}
}

// build makes the body and checks it.
func (x *run) build() error {
	p := x.plan
	x.asItCame()
	after := p.Size
	var edits []span.Edit
	for i, f := range p.Forms {
		if f == nil {
			continue
		}
		list, err := f.Edits(x.req, i)
		if err != nil {
			return err
		}
		edits = append(edits, list...)
		x.account(&after, i, f)
	}
	x.out.Report.After, x.out.Report.Counted = after.Times(p.Ratio), p.Comparable(after)
	if len(edits) == 0 {
		return nil
	}
	body, err := span.Splice(x.in.Body, edits)
	if err != nil {
		return err
	}
	// What this process checked in this very form before needs no other look.
	if len(p.ChangesMade) > 0 || x.standingDecision != p.Base || x.adopted {
		if err := x.check(body); err != nil {
			return err
		}
	}
	x.out.Body, x.out.forms, x.out.ratio = body, p.Forms, p.Ratio
	return nil
}

func (x *run) check(body []byte) error {
	rewritten, err := x.in.Dialect.Read(body, nil)
	if err != nil {
		return fmt.Errorf("cannot read the rewritten conversation: %w", err)
	}
	return conversation.Worse(x.req, rewritten)
}

// account puts an item's form into the report, and what it saves into the size.
func (x *run) account(after *conversation.Size, i int, f *decision.Form) {
	media := 0
	if f.ReplacesContent() {
		media = x.hist.Media[i]
	}
	after.Add(x.req.Items[x.req.Head+i].Role, f.Now-x.hist.Sizes[i]+media, -media)
	r := &x.out.Report
	if i < x.plan.Base.Depth() && !x.plan.NewForms[i] {
		r.Repeated++
	}
	if f.Rung > x.highest {
		x.highest, r.Action = f.Rung, f.Rung.String()
	}
}
