package rewrite

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"

	"epitome/dialect/activity"
	"epitome/dialect/conversation"
	"epitome/inject"
	"epitome/rewrite/ladder"
	"epitome/rewrite/ledger"
	"epitome/rewrite/view"
	"epitome/store"
	"epitome/summarize"
	"epitome/tokenize"
)

// read parses the body. An error says that it is not a conversation, or is refused.
func (x *shaping) read() error {
	in := &x.in
	x.out.Refused = x.expand()
	if x.out.Refused != nil {
		return x.out.Refused
	}
	x.subject = ledger.Request{Scope: in.Scope, Upstream: in.Upstream, Dialect: in.Dialect.API().Name}
	last, shared := x.recent.find(x.Shaper, x.subject, in.Body, in.Now)
	x.last = last
	if !x.place.enter(len(in.Body) - shared) {
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
		x.identify()
	}
	return nil
}

// parse reads the body. Items at its start that last has too, byte for byte, are taken from last; last may be nil. All
// are Reused only if the bodies are equal.
func (x *shaping) parse(last *conversation.Request) (*conversation.Request, error) {
	if last == nil || !bytes.Equal(last.Body, x.in.Body) {
		return conversation.Read(x.in.Dialect, x.in.Body, last)
	}
	same := *last // the client has sent it again
	same.Body, same.Reused = x.in.Body, len(same.Items)
	return &same, nil
}

// identify sets what the ledger needs to know of the request. Two conversations that begin alike share no decision if
// they ask for other context files or memory.
func (x *shaping) identify() {
	r, of := x.request, &x.subject
	of.Model, of.Leading = r.Model, x.leading()
	if r.Reused < r.Head || of.Leading != x.last.subject.Leading { // else the request before has found it
		r.Folder = inject.Folder(r)
	} else {
		r.Folder = x.last.request.Folder
	}
	of.Chain, of.Head, of.End, of.Ends = r.Chain(), r.Head, r.End(), r.Ends()
	day := ""
	if injector := x.deps.Inject; injector != nil {
		if x.in.Project == "" {
			x.in.Project = r.Folder
		}
		of.Additions, day = injector.Wish(x.in.Contexts, x.in.Project)
		if x.in.Runtime != "" {
			place, _, _ := strings.Cut(x.in.Runtime, "\n- .gitignore") // which may change
			of.Machine = ledger.Hash(place)
			of.Additions += "\x00" + of.Machine
			day = x.in.Now.Format(time.DateOnly)
		}
	}
	if of.End == r.Head {
		of.Opening = ledger.Hash(of.Leading, day)
	}
}

// leading returns a hash of what a provider caches before the messages: system prompt, tools, settings. If it changes,
// the cache is lost. The shelf's secret is in it, so nobody who sees the hash can find the prompt by trying.
func (x *shaping) leading() string {
	const letters = 16 // of the name: enough to tell one from another
	h := sha256.New()
	for _, span := range x.request.Before(x.request.Lead) {
		_, _ = h.Write(conversation.WithoutBilling(span.Of(x.request.Body)))
		_, _ = h.Write([]byte{'\n'})
	}
	name := x.deps.Shelf.Name(x.in.Scope, h.Sum(nil))
	return name[:min(len(name), letters)]
}

// found is the decision that the request goes on from.
type found struct {
	err       error       // the ledger failed: an earlier request may have been decided otherwise
	items     int         // of the prefix that the decision is about
	view      view.View   // how the request is sent with its edits, and no others
	undone    []view.Edit // the edits that the user has taken back since the request before
	discarded bool        // the decision does not fit the request or its window any more
	isDecided bool        // the whole request was decided before, and nobody asks for more now
}

// know counts the request, and gathers all that the steps of the ladder are told of it. The plan begins with the edits
// that were decided before.
func (x *shaping) know() {
	r := x.request
	scale := x.scale()
	x.known = &ladder.Known{
		Request: r, Scale: scale, Calls: activity.Of(r, x.last.calls), Limits: x.limits(scale.Ratio), Model: x.model(),
		Artifacts: ladder.Artifacts{Namer: x.deps.Shelf, Scope: x.in.Scope, Content: map[string][]byte{}},
	}
	x.known.Artifacts.ByTool = x.deps.Address == "tool" || x.deps.Address == "auto" && activity.HasRecall(r)
	x.known.Index()
	if x.serves {
		whole := x.known.View(nil)
		if whole.Total-whole.Overhead() <= leastCarried { // all of it is carried, without a summary
			x.in.Compact, x.in.Replay = false, true
		}
	}
	x.known.Before = x.subject.New()
	x.found.err = store.Try(x.find)
	x.takeAsk()
	x.known.Artifacts.Scarce = x.deps.Passing || x.deps.Shelf.Full() || x.found.err != nil || x.known.Before.Refused
	x.plan = x.known.Begin()
	x.found.view = x.plan.View
	x.known.Demand = x.demand(scale.Ratio)
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

// limits returns the limits at the window of the model and the price of its cache, and with the size at which the client
// wants a compaction in the provider's place, if that is less than theirs. ratio is that of the scale.
func (x *shaping) limits(ratio float64) ladder.Effective {
	const least = 1_000 // smaller numbers are shares
	in, r := &x.in, x.request
	window, usable := x.deps.Window(in.Upstream, r.Model+in.Variant, r.MaxOutput)
	x.out.Report.Window, x.out.Report.Usable = window, usable
	if in.Rescue != nil && in.Rescue.Most > 0 { // limits are shares of both; a window has a quarter more, for the answer
		most := in.Rescue.Most
		window, usable = min(window, most+most/4), min(usable, most)
	}
	limits := *in.Limits // as requests for other models use them too
	if x.deps.CachedPrice != nil {
		if price, ok := x.deps.CachedPrice(in.Upstream, r.Model); ok {
			limits.CachedPrice = price
		}
	}
	at := r.Threshold
	if r.Strips && at >= least && at < limits.EffectiveAt(window, usable, 1).CompactLine {
		limits.CompactAt = ladder.Line(at)
	}
	return limits.EffectiveAt(window, usable, ratio)
}

// model returns how summaries are written.
func (x *shaping) model() ladder.Model {
	asks := x.deps.Summarizer != nil
	m := ladder.Model{Mode: x.in.Summary.Mode.OrDefault(), Detail: x.in.Summary.Detail}
	if m.Detail == summarize.Truncate {
		m.Mode = summarize.Window
	}
	if asks && m.Mode.Asks() {
		m.Words, m.Prepare = x.words, x.prepare
	}
	if asks && x.in.Summary.Distill {
		m.Distill, m.Distillate = x.distill, x.distillate
	}
	return m
}

// find looks up the decision of the deepest recorded prefix. If the ledger fails, it is the decision of the last request,
// provided that this one continues it: fallBack sends its edits.
func (x *shaping) find() error {
	d, err := x.known.Before, errSpent
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
	x.found.items = d.Items
	if d.Undone {
		x.found.undone = d.Undo()
		d.Undone, d.Restored, d.Prepared = false, d.Items, 0
	}
	if !x.fits(d) { // all is decided anew, as for a new conversation
		d = ledger.Decision{Conversation: d.Conversation, Origin: ledger.Origin{Began: d.Began}}
		x.found.discarded = true
	}
	if x.continues(x.last) { // no decision has the answer to the last request yet
		d.Life = time.Duration(x.last.life.Load())
	}
	k := x.known
	k.Before, k.Recorded, k.CacheCold = d, d.Items, x.isCold(d)
	if d.OtherModel { // its edits are taken over, but this model was sent nothing yet
		k.Recorded = 0
	}
	if x.in.Rescue == nil || !x.in.Rescue.NoThinking { // else all thinking goes, and nothing is bound any more
		k.Binds = x.binds()
	}
	return err
}

// continues reports whether the request begins with all items that the decision of l is about.
func (x *shaping) continues(l *lastRequest) bool {
	n := l.decision.Items
	return l.request != nil && x.subject.IsFor(l.subject) && n < len(x.subject.Chain) &&
		l.subject.Chain[n] == x.subject.Chain[n]
}

// fits reports whether the request keeps the rules of its API with the edits of d. The items behind d may break them: a
// result may answer a call that d takes out, and after a block at the end of d's prefix an item follows another one than
// in the client's list. If neither is so, edits that the last request was sent with fit; others are built and verified.
func (x *shaping) fits(d ledger.Decision) bool {
	beginsWithResult := d.Items < len(x.request.Items) && x.request.Items[d.Items].Role == conversation.Tool
	endsInDrop := slices.ContainsFunc(d.Edits, func(e view.Edit) bool {
		return e.Op == view.Drop && e.End() == d.Items
	})
	isLast := slices.EqualFunc(d.Edits, x.last.decision.Edits, func(a, b view.Edit) bool {
		return a.Name == b.Name && a.Name != ""
	})
	if len(d.Edits) == 0 || isLast && !beginsWithResult && !endsInDrop {
		return true
	}
	v := x.known.View(d.Edits)
	body, err := v.Render(nil)
	return err == nil && v.Verify(body) == nil
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
	life := x.known.Limits.Caches().LifeOf(x.request.Model, x.request.CacheLife(), d.Life)
	now := x.in.Now.Round(0) // the wall clock, like d.Sent from the store
	isTimed := life > 0 && d.Items > 0 && !d.Sent.IsZero() && !now.IsZero()
	return d.OtherModel || isTimed && now.Sub(d.Sent) > life
}

// demand returns who wants the request to be shorter. It notices whether the whole request was decided before: then
// nobody does, unless the client asks for a compaction, or the provider has refused it. ratio is that of the scale.
func (x *shaping) demand(ratio float64) ladder.Demand {
	k, d := x.known, &x.known.Before
	demand := ladder.Demand{Asked: x.in.Compact, To: int(float64(x.in.CompactTo) / ratio)}
	if r := x.in.Rescue; r != nil {
		demand.Refused, demand.Fits = true, int(float64(r.Most)/ratio)
	}
	// Decisions reach to End, behind the last answer or result: a user message behind it may be a passing reminder.
	isKnown := !d.OtherModel && d.Items > 0 && d.Items >= x.request.End()
	if isKnown && len(x.found.undone) > 0 && x.plan.View.Total > k.Limits.Usable { // restored, but whole it does not fit
		isKnown, x.found.discarded = false, true
		k.Recorded = 0
	}
	isAsked := demand.Asked || demand.Refused
	if !isKnown && !isAsked && activity.AsksToCompact(x.request, k.Calls) {
		demand.Asked, demand.ByAgent = true, true
	}
	hasCompacted := slices.ContainsFunc(d.Edits[max(0, len(d.Edits)-d.Added):], func(e view.Edit) bool {
		return e.Step == view.StepCompact
	})
	asksAgain := x.serves && hasCompacted // for the same compaction
	x.found.isDecided = isKnown && (!isAsked || asksAgain)
	spent, cutover := d.Tokens+k.OfModel(x.plan.View.Total), k.Limits.CutoverAt // since the last compaction
	demand.Spent = cutover > 0 && spent >= cutover
	return demand
}
