package rewrite

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"epitome/dialect/activity"
	"epitome/dialect/conversation"
	"epitome/event"
	"epitome/inject"
	"epitome/rewrite/ladder"
	"epitome/rewrite/ledger"
	"epitome/summarize"
	"epitome/tokenize"
)

// shaping is the work on one request. Its methods are about in the order in which they are called.
type shaping struct {
	*Shaper
	in         Input
	out        Output
	last       *lastRequest          // of the conversation; its request is nil if there is none
	isRepeated bool                  // the client has sent the last request again
	request    *conversation.Request // nil if the body is not a conversation
	subject    ledger.Request        // the request as the ledger knows it
	state      *ladder.State         // how the request is sent
	found      int                   // items of the prefix whose decision find found
	replayed   ladder.Plan           // the plan with which state began: the edits that find found, and no others
	undone     []ledger.Edit         // the edits that the user has taken back since the request before
	discarded  bool                  // the decision that was found does not fit the request or its window any more
	isVital    bool                  // the request must become shorter, even if nothing can be recorded
	held       bool                  // the decision could not be recorded
	place      *place                // of the request, among in.Places
	unknown    bool                  // the ledger failed: an earlier request may have been decided otherwise
	earlier    []string              // texts of compactions by epitome, which stand in the place of its items
	serves     bool                  // the request asks for a compaction, which epitome makes
}

// errClientLeft keeps a compaction from being recorded: its summary may lack what a model would have said.
var errClientLeft = errors.New("the client left while a summary was made")

// read parses the body. x.request stays nil if the client leaves meanwhile. An error says that the body is not a
// conversation, or is refused.
func (x *shaping) read() error {
	in := &x.in
	x.out.Refused = x.expand()
	if x.out.Refused != nil {
		return x.out.Refused
	}
	x.subject = ledger.Request{Scope: in.Scope, Upstream: in.Upstream, Dialect: in.Dialect.API().Name}
	x.last = x.recent.find(x.Shaper, x.subject, in.Body, in.Now)
	if !x.place.enter(len(in.Body) - x.last.sharedWith(in.Body)) {
		return nil
	}
	req, err := x.parse(x.last.request)
	if err == nil && x.last.request != nil && x.last.subject.Model != req.Model {
		x.last.release()
		x.last = &lastRequest{} // it was counted for another model
		req, err = x.parse(nil)
	}
	if err == nil {
		req, x.out.Refused = x.meetCompaction(req)
	} else if in.Lacks && in.Compacts {
		x.out.Refused = errNotWhole
	}
	if err := cmp.Or(x.out.Refused, err); err != nil {
		return err
	}
	known := 0 // bytes; a rescue looks at all items
	if req.Reused > 0 && in.Rescue == nil {
		known = req.Items[req.Reused-1].Span.End
	}
	if x.place.enter(len(in.Body) - known) {
		x.request = req
	}
	return nil
}

// plan counts the request, and makes its state: facts, policy, and a plan without edits.
func (x *shaping) plan() {
	x.identify()
	scale := x.scale()
	x.request.Folder = inject.Folder(x.request)
	calls := activity.Of(x.request, x.last.calls)
	facts := ladder.NewFacts(x.request, scale, calls, x.deps.Shelf, x.in.Scope)
	x.state = &ladder.State{Plan: facts.Plan(ledger.Decision{}), Policy: x.policy(scale.Ratio)}
	x.replayed = *x.state.Plan
	x.out.state = x.state
	if x.serves && x.state.Total-x.state.Overhead() <= leastCarried { // all of it is carried, without a summary
		x.in.Compact, x.state.Asked = false, false
		x.in.Replay = true
	}
	x.describeRequest()
}

// policy returns the policy as far as the configuration and the request itself say it. ratio is that of the scale.
// Later steps add to it what other requests have shown.
func (x *shaping) policy(ratio float64) *ladder.Policy {
	d, in := &x.deps, &x.in
	window, usable := d.Window(in.Upstream, x.request.Model+in.Variant, x.request.MaxOutput)
	x.out.Report.Window, x.out.Report.Usable = window, usable
	p := &ladder.Policy{
		Asked: in.Compact, CompactTo: int(float64(in.CompactTo) / ratio),
		SummaryMode: in.SummaryMode.OrDefault(), SummaryDetail: in.SummaryDetail,
		ReadsByTool: d.Address == "tool" || d.Address == "auto" && activity.HasRecall(x.request),
	}
	if in.SummaryDetail == summarize.Truncate {
		p.SummaryMode = summarize.Window
	}
	if d.Summarizer != nil && p.SummaryMode.Asks() {
		p.Words, p.Prepare = x.words, x.prepare
	}
	if d.Summarizer != nil && in.Distill {
		p.Distill, p.Distillate = x.distill, x.distillate
	}
	if r := in.Rescue; r != nil {
		p.Refused, p.Fits = true, int(float64(r.Most)/ratio)
		if r.Most > 0 { // limits are shares of both; a window has a quarter more, for the answer
			window, usable = min(window, r.Most+r.Most/4), min(usable, r.Most)
		}
	}
	p.Limits = x.limits(window, usable).EffectiveAt(window, usable, ratio)
	return p
}

// limits returns the limits at the price of the model's cache, and with the size at which the client wants a compaction
// in the provider's place, if that is less than theirs.
func (x *shaping) limits(window, usable int) *ladder.Limits {
	const least = 1_000 // smaller numbers are shares
	limits := x.in.Limits
	if prices := x.deps.CachedPrice; prices != nil {
		if price, ok := prices(x.in.Upstream, x.request.Model); ok {
			limits = limits.AtPrice(price)
		}
	}
	at := x.request.Threshold
	if x.request.Strips && at >= least && at < limits.EffectiveAt(window, usable, 1).CompactLine {
		own := *limits
		own.CompactAt = ladder.Line(at)
		limits = &own
	}
	return limits
}

// parse reads the body. Items at its start that last has too, byte for byte, are taken from last; last may be nil.
func (x *shaping) parse(last *conversation.Request) (*conversation.Request, error) {
	if last == nil || !bytes.Equal(last.Body, x.in.Body) {
		return x.in.Dialect.Read(x.in.Body, last)
	}
	x.isRepeated = true // nothing needs to be read
	same := *last
	same.Body, same.Reused = x.in.Body, len(same.Items)
	return &same, nil
}

// scale returns what the request is counted with.
func (x *shaping) scale() conversation.Scale {
	model := tokenize.ModelOf(x.request.Model)
	scale := conversation.Scale{Model: model, Memo: x.deps.Memo, Ratio: model.Ratio}
	source := tokenize.Source{Upstream: x.in.Upstream, Model: x.request.Model, Dialect: x.in.Dialect.API().Name}
	if model.Exact {
		source.Start = fmt.Sprintf("%x", x.subject.Chain[x.request.Head])
	}
	x.out.Report.Source = source
	if x.deps.Ratio == nil {
		return scale
	}
	if ratio, answers := x.deps.Ratio(source); answers > 0 {
		scale.Ratio, x.out.Report.Ratio = ratio, ratio // the report has no Ratio as long as no answer has shown one
	}
	return scale
}

// decide finds the edits of the request, adds new ones, builds the body and records the decision before it is sent.
// The order keeps the promises: edits decided before come first and hold; the body is verified before its edits are
// recorded; and if an equal request has recorded a decision meanwhile, the body is built anew by that one.
func (x *shaping) decide() error {
	err := x.find()
	x.isVital = x.mustShrink()
	if err != nil && !x.isVital {
		return err
	}
	if err == nil {
		x.addSystem()
	}
	if x.out.Refused != nil {
		return x.out.Refused
	}
	if x.in.Replay { // a count of tokens, or a compaction by the provider: it is about the form that is sent anyway
		return x.build()
	}
	if err := x.restoreArtifacts(); err != nil && !x.isVital {
		return err
	}
	if x.isDecided() {
		x.explain(event.CodeAgain, "the request is one that was decided before")
		return x.build()
	}
	x.extend()
	if c := x.in.Client; c != nil && x.state.Compaction != nil && c.Err() != nil {
		return errClientLeft
	}
	if err := x.build(); err != nil {
		err = x.leaveOut(err)
		if err != nil {
			return err
		}
	}
	if err := x.keepNew(); err != nil {
		return err
	}
	if x.in.Rescue != nil { // the provider may refuse this form as well
		x.out.Settle = x.settle
		return nil
	}
	err = x.record()
	if err != nil && x.isVital {
		x.hold()
		x.explain(event.CodeUnrecorded, event.CodeUnrecorded.Clause())
		return nil
	}
	return err
}

// mustShrink reports whether the request must become shorter even if that cannot be recorded: the provider has refused
// it, the client will drop what it asks to have compacted, or it is over the line of compaction as it was decided
// before. Any other request waits for the ledger to answer.
func (x *shaping) mustShrink() bool {
	return x.in.Rescue != nil || x.serves || !x.in.Replay && x.state.Total > x.state.Limits.CompactLine
}

// isDecided reports whether the whole request was decided before, and nobody asks for more now. A call of the agent's
// may ask for a compaction, too.
func (x *shaping) isDecided() bool {
	s := x.state
	d := &s.Decision
	// Decisions reach to End, behind the last answer or result: a user message behind it may be a passing reminder.
	isKnown := !d.OtherModel && d.Items > 0 && d.Items >= x.request.End()
	if isKnown && len(x.undone) > 0 && s.Total > s.Limits.Usable { // restored, but whole it does not fit
		isKnown, x.discarded = false, true
		s.Recorded = 0
	}
	isAsked := x.in.Compact || x.in.Rescue != nil
	if !isKnown && !isAsked && activity.AsksToCompact(x.request, s.Calls) {
		x.in.Compact, s.Asked, s.ByAgent = true, true, true
	}
	asksAgain := x.serves && hasJustCompacted(d) // for the same compaction
	return isKnown && (!isAsked || asksAgain)
}

// explain says why nothing new is done, or not all of it.
func (x *shaping) explain(code event.Code, reason string) {
	x.out.Report.Code, x.out.Report.Reason = code, reason
}

// find looks up the decision of the deepest recorded prefix, and has the plan begin with it. If the ledger fails, it is
// the decision of the last request, provided that this one continues it: fallBack sends its edits.
func (x *shaping) find() error {
	s := x.state
	d, err := x.subject.New(), errSpent
	if !x.place.isSpent() {
		d, err = x.deps.Ledger.Find(x.subject, x.last.decision)
	}
	if err != nil {
		err = fmt.Errorf("nothing is decided while it is not known what was: %w", err)
	}
	last := x.last.decision
	mayGoOn := err != nil || x.subject.MayGoOn(last, d) // without an answer, d says nothing
	if last.Items > d.Items && x.continues(x.last) && mayGoOn {
		d = last.InPlaceOf(d) // it was sent, but the ledger lacks it or does not answer
	}
	if last.Key == d.Key && last.Touched.After(d.Touched) {
		d.Touched = last.Touched // by a request that recorded nothing
	}
	x.unknown = err != nil
	x.found = d.Items
	if d.Undone {
		x.undone = d.Undo()
		d.Undone, d.Restored, d.Prepared = false, d.Items, 0
	}
	if !x.fits(d) { // all is decided anew, as for a new conversation
		d = ledger.Decision{Conversation: d.Conversation, Began: d.Began}
		x.discarded = true
	}
	s.Plan = s.Facts.Plan(d)
	x.replayed = *s.Plan
	if x.in.Rescue == nil || !x.in.Rescue.NoThinking { // else all thinking goes, and nothing is bound any more
		s.Binds = x.binds()
	}
	s.CacheCold = x.isCold(d)
	return err
}

// continues reports whether the request begins with all items that the decision of l is about.
func (x *shaping) continues(l *lastRequest) bool {
	n := l.decision.Items
	return l.request != nil && x.subject.IsFor(l.subject) && n < len(x.subject.Chain) &&
		l.subject.Chain[n] == x.subject.Chain[n]
}

// fits reports whether the request keeps the rules of its API with the edits of d. The items behind d may break them: a
// result may answer a call that d drops, and after a drop at the end of d's prefix an item follows another one than in
// the client's list. If neither is so, edits that the last request was sent with fit; others are built and verified.
func (x *shaping) fits(d ledger.Decision) bool {
	beginsWithResult := d.Items < len(x.request.Items) && x.request.Items[d.Items].Role == conversation.Tool
	endsInDrop := slices.ContainsFunc(d.Edits, func(e ledger.Edit) bool {
		return e.Op == ledger.Drop && e.End() == d.Items
	})
	isLast := slices.EqualFunc(d.Edits, x.last.decision.Edits, func(a, b ledger.Edit) bool {
		return a.Name == b.Name && a.Name != ""
	})
	if len(d.Edits) == 0 || isLast && !beginsWithResult && !endsInDrop {
		return true
	}
	body, err := bodyWith(x.request, d.Edits, len(x.request.Items), nil)
	return err == nil && verify(x.request, body) == nil
}

// binds reports whether the request has thinking that its model accepts only behind an unchanged prefix. Such models
// are named in the configuration, or a refusal has shown it.
func (x *shaping) binds() bool {
	thinks := func(it conversation.Item) bool { return len(it.Thinking) > 0 }
	return slices.ContainsFunc(x.request.Items, thinks) &&
		(x.in.Limits.BindsThinking(x.request.Model) || x.deps.Ledger.Binds(x.in.Upstream, x.request.Model))
}

// isCold reports whether the provider has nothing of the conversation in its cache any more: the conversation goes to
// another model or upstream now, or pauses for longer than the cache keeps it.
func (x *shaping) isCold(d ledger.Decision) bool {
	life := x.state.Limits.CacheLife.D()
	now := x.in.Now.Round(0) // the wall clock, like d.Sent from the store
	if life > 0 {
		life = max(life, x.request.CacheLife())
	}
	isTimed := life > 0 && d.Items > 0 && !d.Sent.IsZero() && !now.IsZero()
	return d.OtherModel || isTimed && now.Sub(d.Sent) > life
}

// maxNew bounds the new items of a request for which the ladder decides anything, except in a rescue: the time that a
// request takes is bounded. Agents never send so many new items at once.
const maxNew = 30_000

// extend has the ladder add edits of what is new or too much. If it may not, the report has the reason.
func (x *shaping) extend() {
	s := x.state
	// If any is true, only what has to go is taken out.
	s.ArtifactsOff = x.deps.Passing || x.deps.Shelf.Full() || x.unknown || s.Decision.Refused
	if x.in.Rescue != nil {
		x.rescue(x.in.Rescue)
		return
	}
	switch {
	case x.request.Upkeep == conversation.ClientSummarizes:
		s.Reason = event.CodeClientSummarises
	case len(x.request.Items)-s.Recorded > maxNew:
		s.Reason = event.CodeNotRead
	default:
		spent := s.Decision.Tokens + s.OfModel(s.Total) // since the last compaction
		cutover := s.Limits.CutoverAt
		s.OverBudget = cutover > 0 && spent >= cutover
		s.Decide()
		x.describeWait(spent)
	}
	x.explain(s.Reason, s.Reason.Clause())
	if s.Reason == event.CodeOverhead {
		x.describeOverhead()
	}
	x.describeGoal()
	s.DropThinking(false) // only thinking that the new edits make invalid, as none was refused
}

// rescue changes the edits as the refusal asks for: none at all, a shorter request, or one without thinking.
func (x *shaping) rescue(how *Rescue) {
	s := x.state
	if how.Whole {
		x.takeBack()
		return
	}
	if how.Pair {
		s.Pair()
	}
	if how.Pictures > 0 {
		s.RescuePictures(how.Pictures)
	}
	if how.Most > 0 { // else only thinking or pictures were refused, not the size
		s.Rescue(how.From)
	}
	s.DropThinking(how.NoThinking)
}

// keepNew keeps what the new edits take out. Where it cannot be kept, a rescue is decided once more: without artifacts,
// as the texts then say.
func (x *shaping) keepNew() error {
	urgent := x.state.ArtifactsOff // then the ladder took out only what had to go (extend), so it must be kept
	err := x.keepArtifacts(urgent)
	if err == nil || x.in.Rescue == nil {
		return err
	}
	replayed := x.replayed
	x.state.Plan, x.state.NothingKept = &replayed, true
	x.extend()
	x.explain(event.CodeUnkept, event.CodeUnkept.Clause())
	return x.build()
}

// leaveOut builds the body, which failed with err, without the new edits of the steps that are at fault. It returns err
// if no other new edits are left.
func (x *shaping) leaveOut(err error) error {
	s := x.state
	added, content := s.Added, s.Content
	s.Plan = s.With(x.replayed.Edits)
	s.Content = content
	for _, step := range steps {
		isOther := func(e ledger.Edit) bool { return e.Step != step }
		edits := slices.DeleteFunc(slices.Clone(added), isOther)
		before := *s.Plan
		s.Add(step, event.NoCode, edits...)
		fault := x.build()
		if len(edits) == 0 || fault == nil {
			continue
		}
		*s.Plan = before
		s.Faults = errors.Join(s.Faults, fmt.Errorf("the step %s is left out: %w", step, fault))
		if c := s.Compaction; c != nil && step == ledger.StepCompact {
			c.Kind, c.Why, c.TokensAfter = event.CompactionFailed, fault.Error(), 0
		}
	}
	if len(s.Added) == 0 {
		return err
	}
	return x.build()
}

// build makes the body with the state's edits. New ones are verified; others were, by fits or by an equal request.
func (x *shaping) build() error {
	body, err := bodyWith(x.request, x.state.Edits, len(x.request.Items), x.in.Memory)
	if err == nil && len(x.state.Added) > 0 {
		err = verify(x.request, body)
	}
	if err == nil {
		x.out.Body, x.out.Changed = body, len(x.earlier) > 0 || !bytes.Equal(body, x.in.Body)
	}
	return err
}
