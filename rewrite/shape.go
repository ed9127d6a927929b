package rewrite

import (
	"errors"
	"fmt"
	"hash/maphash"
	"runtime/debug"
	"slices"

	"epitome/event"
	"epitome/tokenize"
)

// Means are what shaping needs of the rest of the program. None may be nil, unless it says so.
type Means struct {
	Ledger   Ledger
	Shelf    Shelf
	Counters *tokenize.Counters
	Models   tokenize.Models
	Memo     *tokenize.Memo
	// Window is how many tokens a model at an upstream holds, and how many of them a request that asks for maxOutput may fill.
	Window func(upstream, model string, maxOutput int) (window, usable int)
	// Ratio is how many tokens of a model at an upstream one token of the vocabulary is, and how many answers have shown it.
	// None have if that is 0: then the model's own ratio holds, as it does if Ratio is nil.
	Ratio func(upstream, model string) (ratio float64, answers int)
	// Summariser asks models for prose; nil if none is asked.
	Summariser Summariser
	// Tell hears what happens while a request is shaped; nil if nobody wants to.
	Tell Listener
	// Passing says that what the ledger and shelf keep does not outlive the process: little is decided then.
	Passing bool
}

// Shaper shapes requests. Its methods may be called from any goroutine.
type Shaper struct {
	means Means
	seen  *seen
}

// NewShaper makes a shaper.
func NewShaper(m Means) *Shaper { return &Shaper{means: m, seen: newSeen()} }

// Shape says what to send in a request's place. It never fails: what goes wrong stands in the report, and the request goes
// on in the form that was decided last, or else as it came.
func (s *Shaper) Shape(a Asked) Shaped {
	x := &shaping{Shaper: s, Asked: a, out: Shaped{Body: a.Body, dialect: a.Dialect}}
	x.out.Report.Action = ActionNone
	x.guarded(x.read)
	if x.req == nil || x.out.Report.Err != nil {
		return x.out
	}
	x.guarded(x.decide)
	switch err := x.out.Report.Err; {
	case errors.Is(err, errDeserted): // nothing is decided, as nothing will be sent
		x.out.Report.Action = ActionNone
		return x.out
	case x.Rescue != nil: // nothing is decided before it is known whether that helps
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
func (x *shaping) fallBack() {
	r := &x.out.Report
	err := r.Err
	if x.recorded == nil && !x.lost {
		r.Err = nil
		x.guarded(x.leaveWhole)
		err = errors.Join(err, r.Err)
	}
	r.Err, x.plan.forms = nil, x.baseForms()
	x.guarded(x.build)
	r.Err, r.Action = errors.Join(err, r.Err), ActionBypass
}

// leaveWhole records what was recorded last, with all that is new left whole.
func (x *shaping) leaveWhole() error {
	x.plan.forms = x.baseForms()
	d := &decision{forms: x.plan.forms, outcomes: x.plan.base.outcomes}
	// A compaction that came to nothing may come to nothing again.
	if n := x.plan.notice; n.Kind == event.CompactionStarted || n.Kind == event.CompactionCompleted {
		total := x.plan.total()
		d.outcomes = d.outcomes.with(outcomes{{total, total}}, x.plan.Thrash)
	}
	if err := x.lane.write(x.means.Ledger, d, x.plan.base); err != nil {
		return err
	}
	return x.remember(d)
}

// shaping is the way of one request.
type shaping struct {
	*Shaper
	Asked
	out  Shaped
	req  *Request
	hist *history
	lane lane
	plan *plan
	name ref   // of the conversation
	past *past // what was known before; nil if nothing was

	highest  rung           // of all forms
	stood    *decision      // by which what is known of the conversation was sent; nil if it was not, or another one stands now
	stoodAt  map[int]uint64 // versions of the decisions for this request that are to be replaced, by how many items they rule
	recorded *decision      // what stands for this request
	lost     bool           // a decided form cannot be used any more
	again    bool           // the request is one that was decided before
	foreign  bool           // another request's decision was adopted, of which the history knows nothing
}

// guarded does one step. If it fails or panics, the body is as it came.
func (x *shaping) guarded(step func() error) {
	defer func() {
		if r := recover(); r != nil {
			x.failed(fmt.Errorf("panic: %v\n%s", r, debug.Stack()))
		}
	}()
	if err := step(); err != nil {
		x.failed(err)
	}
}

// aside does what the body does not depend on any more. If it panics, that is reported, and the body is what was decided.
func (x *shaping) aside(step func()) {
	defer func() {
		if r := recover(); r != nil {
			x.out.Report.Err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	step()
}

func (x *shaping) failed(err error) {
	x.asItCame()
	x.out.Report.Err, x.out.Report.Action = err, ActionBypass
}

// asItCame takes back what was built.
func (x *shaping) asItCame() {
	r := &x.out.Report
	x.out.Body, x.out.forms, x.highest = x.Body, nil, 0
	r.Action, r.After, r.Repeated = ActionNone, r.Before, 0
	if x.plan != nil {
		r.Counted = x.plan.comparable(x.plan.size)
	}
}

// read finds out what was asked.
func (x *shaping) read() error {
	req, err := x.Dialect.Read(x.Body, x.recall)
	if err != nil {
		x.out.Report.Reason = err.Error()
		return nil
	}
	model := x.means.Models.Of(req.Model)
	counter, err := x.means.Counters.For(model.Vocabulary)
	if err != nil {
		return err
	}
	x.req = req
	x.lane = lane{x.Scope, x.Upstream, req.Model}
	believed, room := x.means.Window(x.Upstream, req.Model, req.MaxOutput)
	window, usable := x.Rescue.within(believed, room)
	scale := Scale{model, counter, x.means.Memo}
	ratio, answers := x.ratio(model)
	x.plan = &plan{
		ladder: x.Limits.at(window, usable, ratio), scale: scale, scope: x.Scope, shelf: x.means.Shelf, req: req,
		ratio: ratio, base: &decision{}, artifactNames: map[string]bool{}, fresh: map[int]bool{},
	}
	x.hist = x.known()
	x.plan.inquiry = x.inquiry(window)
	x.plan.holds, x.plan.takes = believed, usable
	x.hist.extend(req, scale)
	x.plan.hist, x.plan.stable = x.hist, req.stable()
	size := req.countFixed(scale).with(x.hist.size)
	x.plan.size = size
	x.out.Report = Report{
		Action: ActionNone, Model: req.Model, Window: believed, Usable: usable, MaxOutput: req.MaxOutput, Items: len(req.Items),
		Before: size.times(ratio), After: size.times(ratio), Ratio: ratio, Answers: answers, Counted: x.plan.comparable(size),
	}
	return nil
}

// ratio is how many tokens of the model one token of the vocabulary is. A rescue counts as the refused form was counted.
func (x *shaping) ratio(model tokenize.Model) (ratio float64, answers int) {
	switch {
	case x.Rescue != nil && x.Rescue.Ratio > 0:
		return x.Rescue.Ratio, x.Rescue.Answers
	case x.means.Ratio == nil || model.Exact:
		return model.Ratio, 0
	}
	if ratio, answers = x.means.Ratio(x.Upstream, x.req.Model); answers == 0 {
		ratio = model.Ratio
	}
	return ratio, answers
}

// comparable is what a provider's count of a request of this size may be held against; 0 if that would say nothing.
func (p *plan) comparable(s Size) int {
	if p.scale.Model.Exact || s.Images > 0 || p.req.Opaque {
		return 0
	}
	return s.Total()
}

// decide finds the form of each item, and records it before anything is sent.
func (x *shaping) decide() error {
	p := x.plan
	x.replacing()
	x.stood = x.standing()
	p.base = x.lane.deepest(x.means.Ledger, x.hist.chain, x.stood)
	if p.base != x.stood { // what is sent whole may be other items
		x.hist.forgetLines()
	}
	p.forms, p.outcomes, p.cold = x.baseForms(), p.base.outcomes, x.cold()
	for _, f := range p.forms {
		p.marks(f)
	}
	if err := errors.Join(x.replaced(), x.converse()); err != nil {
		return err
	}
	p.conversation = x.out.Report.Conversation
	if p.base.version != 0 && p.base.depth() == x.hist.len() && !p.replaces() {
		x.recorded, x.again = p.base, true
		x.out.Report.Reason = "the request is one that was decided before"
		return x.build()
	}
	x.extend()
	if p.left {
		p.say(failureOf(p.notice, errDeserted.Error()))
		return errDeserted
	}
	if err := x.build(); err != nil { // what may not be sent is not recorded either
		return err
	}
	if err := x.record(); err != nil || !x.foreign {
		return err
	}
	return x.build()
}

// inquiry is how prose may be had for this request, at a window of so many tokens.
func (x *shaping) inquiry(window int) *inquiry {
	q := &inquiry{
		Summariser: x.means.Summariser, style: x.Style.At(window), client: x.Client, lane: x.lane, tell: x.means.Tell,
		manual: x.Compact, rescue: x.Rescue,
	}
	if x.Rescue != nil { // nobody is asked, but what was made for the larger window will do
		q.style = x.Style.At(x.Rescue.Most + mostTokens)
	}
	if x.past != nil {
		q.moved, q.prepared, q.hint = x.past.leading != maphash.Bytes(x.seen.seed, x.req.leading()), x.past.prepared, x.past.cut
	}
	return q
}

// cold reports whether the provider has forgotten what was sent of the conversation: after a long pause, or as it went to another model.
func (x *shaping) cold() bool {
	if base := x.plan.base; base.version == 0 && base.depth() > 0 {
		return true
	}
	life := x.Limits.CacheLife.D()
	if x.past == nil || life == 0 || x.Now.IsZero() || x.past.asked.IsZero() {
		return false
	}
	return x.Now.Round(0).Sub(x.past.asked) > life // by the clock on the wall, which goes on while a machine sleeps
}

// baseForms are the forms that were decided before, and all that is new whole.
func (x *shaping) baseForms() []*form {
	forms := make([]*form, x.hist.len())
	copy(forms, x.plan.base.forms)
	if x.plan.base.version == 0 {
		x.plan.recount(forms)
	}
	return forms
}

// extend makes the new part of the decision.
func (x *shaping) extend() {
	p := x.plan
	if p.rescue != nil {
		p.late = x.means.Passing || p.shelf.Full()
		x.out.Report.Reason = p.climb()
		return
	}
	if len(x.Body) < p.floor() && !p.manual {
		x.out.Report.Reason = "the body is below the floor"
		return
	}
	p.late = x.means.Passing || p.shelf.Full()
	total := p.total()
	p.budget = p.CutoverAt > 0 && x.spent()+p.models(total) >= p.CutoverAt
	if !p.late || total > p.clearLine || p.manual || p.budget {
		p.arrivals()
		x.out.Report.Reason = p.older()
	}
	if len(p.made) == 0 && x.out.Report.Reason == "" {
		x.out.Report.Reason = p.whyNothing(total)
	}
}

// older is what is done with items that had been sent before. A prefix that was decided on is not decided on again because of
// what stands behind it.
func (p *plan) older() (reason string) {
	if !p.decidable() {
		return ""
	}
	p.rules()
	p.clearing(p.total())
	return p.compacting()
}

// compacting is rung 3, and the last resort before a request is sent that cannot fit.
func (p *plan) compacting() (reason string) {
	switch {
	case p.stable == 0 && p.manual:
		return noOlder
	case p.stable == 0:
		return ""
	case p.reason() == "":
		p.prepare()
		return ""
	case p.manual || p.outcomes.pays(p.total(), p.Thrash):
		reason = p.compact()
	default:
		reason = "the last compactions saved too little: there is none until the conversation has grown"
	}
	if p.left {
		return ""
	}
	if p.total() > p.usable && p.compactHard() == "" {
		reason = ""
	}
	if p.total() > p.usable {
		p.fit()
	}
	return reason
}

// total is how many tokens the request takes in the forms that are planned.
func (p *plan) total() int {
	n := p.size.Total()
	for i, f := range p.forms {
		if f != nil {
			n += f.Now - p.hist.sizes[i]
		}
	}
	return n
}

// whyNothing says in one sentence why there is no new form.
func (p *plan) whyNothing(total int) string {
	switch {
	case p.late && total <= p.clearLine:
		return "nothing can be kept beyond this process, or the quota is used up; so all stays whole up to the line"
	case total <= p.clearLine:
		return "no new result is over its limit, and clearing old ones does not pay yet"
	case p.size.System+p.size.Tools > p.usable:
		return "system prompt and tools alone fill the window"
	}
	return "the request is over the line, but what may be cleared would free too little"
}

// build makes the body and checks it.
func (x *shaping) build() error {
	p := x.plan
	x.asItCame()
	after := p.size
	var edits []Edit
	for i, f := range p.forms {
		if f == nil {
			continue
		}
		list, err := f.edits(x.req, i)
		if err != nil {
			return err
		}
		edits = append(edits, list...)
		x.account(&after, i, f)
	}
	x.out.Report.After, x.out.Report.Counted = after.times(p.ratio), p.comparable(after)
	if len(edits) == 0 {
		return nil
	}
	body, err := Splice(x.Body, edits)
	if err != nil {
		return err
	}
	// What this process checked in this very form before needs no other look.
	if len(p.made) > 0 || x.stood != p.base || x.foreign {
		if err := x.check(body); err != nil {
			return err
		}
	}
	x.out.Body, x.out.forms, x.out.ratio = body, p.forms, p.ratio
	return nil
}

func (x *shaping) check(body []byte) error {
	rewritten, err := x.Dialect.Read(body, nil)
	if err != nil {
		return fmt.Errorf("cannot read the rewritten conversation: %w", err)
	}
	return Worse(x.req, rewritten)
}

// Restore makes the original body again, of the body as it is sent and what get finds on the shelf.
func (s Shaped) Restore(get func(artifact string) ([]byte, error)) ([]byte, error) {
	r, err := s.dialect.Read(s.Body, nil)
	if err != nil {
		return s.Body, nil //nolint:nilerr // nothing that cannot be read was changed
	}
	var edits []Edit
	at := r.Head - 1 // the item of the sent body
	for _, f := range s.forms {
		if f == nil || !f.Gone {
			at++
		}
		if f == nil || f.Gone {
			continue
		}
		if f.Fold > 0 {
			content, err := get(f.Kept)
			if err != nil {
				return nil, fmt.Errorf("cannot find what message %d stands for: %w", at, err)
			}
			place := r.Items[at].Span
			if f.With == "" {
				place.End = place.Start
				at--
			}
			edits = append(edits, Edit{place, append(slices.Clip(content), f.Gap...)})
			continue
		}
		spans := f.spans(r, &r.Items[at])
		for n, q := range f.Patches {
			if q.Place == behind {
				edits = append(edits, r.without(&r.Items[at], q.Text))
				continue
			}
			content, err := get(q.Artifact)
			if err != nil {
				return nil, fmt.Errorf("cannot find what message %d was: %w", at, err)
			}
			edits = append(edits, Edit{spans[n], q.original(content)})
		}
	}
	return Splice(s.Body, edits)
}

// account puts an item's form into the report, and what it saves into the size.
func (x *shaping) account(after *Size, i int, f *form) {
	media := 0
	if f.replaces() {
		media = x.hist.media[i]
	}
	after.add(x.req.Items[x.req.Head+i].Role, f.Now-x.hist.sizes[i]+media, -media)
	r := &x.out.Report
	if i < x.plan.base.depth() && !x.plan.fresh[i] {
		r.Repeated++
	}
	if f.Rung > x.highest {
		x.highest, r.Action = f.Rung, f.Rung.String()
	}
}
