package rewrite

import (
	"bytes"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"golang.org/x/sync/errgroup"

	"epitome/event"
	"epitome/rewrite/activity"
	"epitome/rewrite/conversation"
	"epitome/rewrite/ladder"
	"epitome/rewrite/ledger"
	"epitome/tokenize"
	"epitome/unit"
)

// shaping is the way of one request.
type shaping struct {
	shaper     *Shaper
	in         Input
	out        Output
	request    *conversation.Request
	known      *known // the request before it; nil if there is none
	bucket     uint64 // where that lies in the cache
	lane       ledger.Lane
	chain      []conversation.Link
	state      *ladder.State
	leading    uint64 // hash of system prompt, tools and settings
	answers    int    // that have shown the ratio
	window     int    // of the model, in its own tokens, and what of it a request may fill
	usable     int
	base       []ledger.Edit // those that were decided before
	broke      bool          // decided edits do not fit any more
	unrecorded bool          // nobody knows whether the decision was recorded
	adopted    bool          // another request decided the same prefix faster
	left       bool          // the client left while a summary was made
}

// errLeft says that nobody waits for the request any more. Nothing is decided then: the client may come again.
var errLeft = errors.New("the client left while a summary was made")

// try does one step. If it fails or panics, the request goes on as it came.
func (x *shaping) try(step func() error) {
	defer func() {
		if r := recover(); r != nil {
			x.fail(fmt.Errorf("panic: %v\n%s", r, debug.Stack()))
		}
	}()
	if err := step(); err != nil {
		x.fail(err)
	}
}

func (x *shaping) fail(err error) {
	x.out.Body, x.out.Changed = x.in.Body, false
	r := &x.out.Report
	r.Err, r.Action, r.Code = err, event.ActionBypass, event.CodeFailed
}

// read parses the request, counts it, and finds what was decided for it.
func (x *shaping) read() error {
	s := x.shaper
	x.lane = ledger.Lane{Scope: x.in.Scope, Upstream: x.in.Upstream, Dialect: x.in.Dialect.Name()}
	x.bucket = s.known.bucket(x.lane, x.in.Body)
	x.known = s.known.find(x.bucket, x.in.Body, x.in.Now)
	req, err := x.in.Dialect.Read(x.in.Body, x.known.knownRequest())
	if err == nil && x.known != nil && x.known.request.Model != req.Model {
		x.known = nil // its tokens are another model's
		req, err = x.in.Dialect.Read(x.in.Body, nil)
	}
	if err != nil {
		x.out.Report.Code, x.out.Report.Reason = event.CodeNotRead, event.Clip(err.Error())
		return nil
	}
	x.request, x.lane.Model = req, req.Model
	if i := s.deps.Inject; i != nil {
		if x.in.Project == "" {
			x.in.Project = i.Project(req)
		}
		x.lane.Wish = i.Wish(x.in.Contexts, x.in.Project)
	}
	scale, err := x.scale()
	if err != nil {
		return err
	}
	fixed, estimated := req.Count(scale)
	x.chain = req.Chain()
	window, room := s.deps.Window(x.in.Upstream, req.Model, req.MaxOutput)
	x.window, x.usable = window, room
	if r := x.in.Rescue; r != nil && r.Most > 0 {
		window, room = min(window, r.Most+r.Most/4), min(room, r.Most)
	}
	x.state = &ladder.State{
		Request: req, Scale: scale, Calls: activity.Of(req, x.known.knownCalls()), Fixed: fixed,
		Limits: x.limits().EffectiveAt(window, room, scale.Ratio), Asked: x.in.Compact, Refused: x.in.Rescue != nil,
		ReadsByTool: x.readsByTool(), Artifacts: artifacts{s.deps.Shelf, x.in.Scope},
	}
	x.describeRequest(estimated)
	return nil
}

func (k *known) knownRequest() *conversation.Request {
	if k == nil {
		return nil
	}
	return k.request
}

func (k *known) knownCalls() []activity.Call {
	if k == nil {
		return nil
	}
	return k.calls
}

// limits are those for the model of the request.
func (x *shaping) limits() *ladder.Limits {
	l := x.in.Limits.For(x.request.Model)
	if known := x.shaper.deps.CachedPrice; known != nil {
		if price, ok := known(x.in.Upstream, x.request.Model); ok {
			l = l.AtPrice(price)
		}
	}
	return l
}

// scale is what the request is counted with. A rescue counts as the refused form was counted.
func (x *shaping) scale() (conversation.Scale, error) {
	d := &x.shaper.deps
	model := d.Models.Of(x.request.Model)
	counter, err := d.Counters.For(model.Vocabulary)
	if err != nil {
		return conversation.Scale{}, err
	}
	scale := conversation.Scale{Model: model, Counter: counter, Memo: d.Memo, Ratio: model.Ratio}
	switch r := x.in.Rescue; {
	case r != nil && r.Ratio > 0:
		scale.Ratio, x.answers = r.Ratio, r.Answers
	case r == nil && d.Ratio != nil && !model.Exact:
		source := tokenize.Source{Upstream: x.in.Upstream, Model: x.request.Model, Dialect: x.in.Dialect.Name()}
		if ratio, n := d.Ratio(source); n > 0 {
			scale.Ratio, x.answers = ratio, n
		}
	}
	return scale, nil
}

// artifacts are those of one scope.
type artifacts struct {
	shelf Shelf
	scope string
}

func (a artifacts) Name(content []byte) string { return a.shelf.Name(a.scope, content) }
func (a artifacts) Address(name string) string { return a.shelf.Address(name) }

// decide finds the edits of the request, and records them before anything is sent. The order is the promise: edits that
// were decided before hold; only then is anything new decided; what may not be sent is found out by building it, before
// it is recorded; and what somebody else recorded meanwhile is what is built at the end.
func (x *shaping) decide() error {
	if err := x.find(); err != nil {
		return err
	}
	s := x.state
	if x.in.Replay {
		return x.build(false)
	}
	if err := x.restoreArtifacts(); err != nil {
		return err
	}
	if x.isDecided() {
		x.out.Report.Code, x.out.Report.Reason = event.CodeAgain, "the request is one that was decided before"
		return x.build(false)
	}
	x.extend()
	if x.left {
		return errLeft
	}
	if rescue := x.in.Rescue; rescue == nil || !rescue.Whole {
		ladder.DropThinking(s, rescue != nil && rescue.NoThinking)
	}
	if err := x.build(len(s.Added) > 0 || x.broke || x.answersEarlier()); err != nil {
		return err
	}
	return x.record()
}

// answersEarlier reports whether something new answers a call of an earlier request, which may not be sent any more.
func (x *shaping) answersEarlier() bool {
	known := x.state.Known
	for i, caller := range x.request.Callers() {
		if i >= known && caller >= 0 && caller < known {
			return true
		}
	}
	return false
}

// find looks up the deepest decision for the request, and makes its edits those of the state.
func (x *shaping) find() error {
	s, l := x.state, x.shaper.deps.Ledger
	if x.goesOn() {
		x.lane.Wish = x.known.lane.Wish
	}
	d, err := l.Find(x.lane, x.chain, x.request.Ends(), x.request.Head)
	if err != nil {
		if x.goesOn() {
			s.Decision, s.Edits = x.known.decision, x.known.decision.Edits
			s.Known = len(x.request.Items) // nothing is decided while it is not known what was
		}
		s.Prepare()
		x.base = s.Edits
		return errors.Join(fmt.Errorf("nothing is decided while it is not known what was: %w", err), x.build(false))
	}
	if d.Items > 0 {
		x.lane.Wish = d.Wish // a conversation goes on with what its first request was given
	}
	if x.goesOn() && x.known.decision.Items > d.Items {
		d = x.known.decision // it was sent, and could not be recorded
	}
	if d.OtherModel {
		d.Edits = x.recount(d.Edits)
	}
	s.Decision, s.Edits, s.Known = d, d.Edits, d.Items
	if d.OtherModel {
		s.Known = 0
	}
	if x.in.Rescue == nil || !x.in.Rescue.NoThinking {
		s.Binds = x.binds()
	}
	s.CacheCold = x.isCold(d)
	if d.Items == 0 && x.lane.Wish != "" && x.request.End() == x.request.Head && !x.in.Replay {
		s.Edits = x.addSystem()
	}
	s.Prepare()
	if x.endsInDrop(d) {
		if body, err := Build(x.request, s.Edits); err != nil || verify(x.request, body) != nil {
			s.Edits, s.Known, x.broke = nil, 0, true // nobody can go on from there
			s.Decision = ledger.Decision{Conversation: d.Conversation, Turn: d.Turn}
			s.Prepare()
		}
	}
	x.base = s.Edits
	return x.nameConversation(d)
}

// goesOn reports whether the request goes on behind all that the known one was decided for.
func (x *shaping) goesOn() bool {
	k := x.known
	if k == nil {
		return false
	}
	lane, n := k.lane, k.decision.Items
	if n > x.request.Head {
		lane.Wish = x.lane.Wish // whatever is asked for now
	}
	return lane == x.lane && n < len(x.chain) && k.request.Chain()[n] == x.chain[n]
}

// endsInDrop reports whether the items at the end of a decision's prefix are left out: what is new then stands behind
// something else than its client thinks.
func (x *shaping) endsInDrop(d ledger.Decision) bool {
	return d.Items < len(x.request.Items) && slices.ContainsFunc(d.Edits, func(e ledger.Edit) bool {
		return e.Op == ledger.Drop && e.End() == d.Items
	})
}

// recount counts edits that were decided for another model.
func (x *shaping) recount(edits []ledger.Edit) []ledger.Edit {
	s, list := x.state, slices.Clone(edits)
	for k := range list {
		e := &list[k]
		came := e.Tokens + e.Saved
		e.Tokens = s.Scale.CountText(e.Text)
		switch {
		case e.Op == ledger.Drop:
			came = 0
			for i := e.First; i < e.End(); i++ {
				came += s.Size(i)
			}
		case e.Op == ledger.DropThinking:
			came = x.request.CountThinking(s.Scale, &x.request.Items[e.First])
		case e.Op == ledger.ReplaceText:
			came = x.request.CountPart(s.Scale, e.First, &x.request.Items[e.First].Parts[e.Part])
		case e.Op == ledger.Clear:
			came = max(0, s.Size(e.First)-tokenize.PerMessage-tokenize.PerResult-1)
		}
		e.Saved = came - e.Tokens
	}
	return list
}

// addSystem returns the edit that adds to the system prompt of a new conversation, if it has room for it.
func (x *shaping) addSystem() []ledger.Edit {
	const share = 4 // of usable it may take one part of so many, and no more than the request leaves
	added := &x.out.Report.Added
	a, err := x.shaper.deps.Inject.For(x.in.Scope, x.in.Contexts, x.in.Project, x.state.ReadsByTool)
	if err != nil {
		added.Why = err.Error()
	}
	if a.Text == "" {
		return nil
	}
	tokens := x.state.Scale.CountText(a.Text)
	if usable := x.state.Limits.Usable; tokens > min(usable/share, usable-x.state.Total()) {
		added.Why = "nothing is added to the system prompt: it takes too much of the window"
		return nil
	}
	if _, ok := x.in.Dialect.AppendSystem(x.request, a.Text); !ok {
		return nil
	}
	e := ledger.Edit{
		Op: ledger.AppendSystem, Text: a.Text, Tokens: tokens, Step: ledger.StepAdd, Artifacts: a.Artifacts,
		Contexts: a.Contexts, Memory: x.state.Scale.CountText(a.Text[len(a.Text)-a.Memory:]),
	}
	x.state.Added = append(x.state.Added, e)
	return []ledger.Edit{e}
}

// binds reports whether the model accepts thinking only behind an unchanged prefix: by its name, or because a refusal
// has shown it. Where there is no thinking that does not matter.
func (x *shaping) binds() bool {
	thinks := func(it conversation.Item) bool { return len(it.Thinking) > 0 }
	return slices.ContainsFunc(x.request.Items, thinks) &&
		(x.in.Limits.BindsThinking(x.request.Model) || x.shaper.deps.Ledger.Binds(x.in.Upstream, x.request.Model))
}

// isCold reports whether the provider has forgotten the conversation: it has paused for too long, or goes to another
// model.
func (x *shaping) isCold(d ledger.Decision) bool {
	life := x.state.Limits.Conf.CacheLife.D()
	switch {
	case d.Items == 0:
		return false
	case d.OtherModel:
		return true
	}
	return life > 0 && !x.in.Now.IsZero() && !d.Sent.IsZero() && x.in.Now.Round(0).Sub(d.Sent) > life
}

// nameConversation finds out which conversation the request belongs to.
func (x *shaping) nameConversation(d ledger.Decision) error {
	id, parent, err := x.shaper.deps.Ledger.Name(x.lane, x.chain, x.request.Head, d)
	if err != nil {
		return err
	}
	x.state.Decision.Conversation = id
	r := &x.out.Report
	r.Conversation, r.Parent = id, parent
	if parent != "" {
		r.Diverged = event.Narrow(x.request.MessagesIn(0, d.Items) + 1)
		x.state.Decision.Turn = 0
	}
	return nil
}

// isDecided reports whether the request was decided before, as it is.
func (x *shaping) isDecided() bool {
	d := &x.state.Decision
	return !x.broke && !d.OtherModel && d.Items > 0 && d.Items >= x.request.End() && !x.in.Compact && x.in.Rescue == nil
}

// atOnce is how many artifacts are asked for or put at once: a shelf may lie beyond a network.
const atOnce = 16

// restoreArtifacts sees to it that what decided edits speak of is on the shelf, from time to time; what is not is taken
// from the request again.
func (x *shaping) restoreArtifacts() error {
	d := x.state.Decision
	if d.Items == 0 || x.in.Now.IsZero() || !x.shaper.deps.Ledger.Touch(d, x.in.Now) {
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
		if !slices.ContainsFunc(s.Edits, isNamed) {
			continue // an edit that another one has covered
		}
		work.Go(func() error { return x.shaper.deps.Shelf.Put(name, content, late || s.ArtifactsOff) })
	}
	if err := work.Wait(); err != nil {
		return fmt.Errorf("cannot keep what was taken out: %w", err)
	}
	clear(s.Content)
	return nil
}

// maxNew bounds the new items of a conversation for which anything is decided, but to save it from a refusal. Agents
// never send so many at once.
const maxNew = 30_000

// extend has the ladder add edits.
func (x *shaping) extend() {
	s, r := x.state, &x.out.Report
	s.ArtifactsOff = x.shaper.deps.Passing || x.shaper.deps.Shelf.Full()
	s.Style = x.in.Style.At(int(float64(s.Limits.Window) * s.Scale.Ratio))
	s.Prose, s.Note = x.prose(s.Style), x.noteOf
	if rescue := x.in.Rescue; rescue != nil {
		switch {
		case rescue.Whole:
			s.Edits, s.Added = nil, nil
			s.Reason = ladder.Reason{Code: event.CodeBroken, Text: "the structure of what was sent was refused: it goes on as it came"}
		case !rescue.NoThinking || rescue.Most > 0:
			s.Style = x.in.Style.At(rescue.Most + unit.MostTokens)
			ladder.Rescue(s, rescue.From)
		}
		return
	}
	switch {
	case x.request.Upkeep == conversation.ClientSummarizes:
		s.Reason = ladder.Reason{Code: event.CodeClientSummarises,
			Text: "the client asks for its own summary: decisions are repeated, and none is made"}
	case len(x.request.Items)-s.Known > maxNew:
		s.Reason = ladder.Reason{Code: event.CodeNotRead, Text: fmt.Sprintf("more than %d items are new", maxNew)}
	case len(x.in.Body) < s.Limits.Floor && !x.in.Compact:
		s.Reason = ladder.Reason{Code: event.CodeFloor,
			Text: fmt.Sprintf("the body has %d bytes; nothing is decided below %d", len(x.in.Body), s.Limits.Floor)}
	default:
		total, cutover := int(float64(s.Total())*s.Scale.Ratio), s.Limits.Conf.CutoverAt
		s.OverBudget = cutover > 0 && s.Decision.Tokens+total >= cutover
		ladder.Climb(s)
	}
	r.Code, r.Reason = s.Reason.Code, s.Reason.Text
}

// build makes the body. New edits are verified, and those that this process has not verified yet.
func (x *shaping) build(isNew bool) error {
	s := x.state
	x.out.Body, x.out.Changed = x.in.Body, false
	if len(s.Edits) == 0 {
		return nil
	}
	body, err := Build(x.request, s.Edits)
	if err != nil {
		return err
	}
	wasVerified := x.known != nil && x.known.verified == s.Decision.List && len(s.Added) == 0
	if isNew || !wasVerified {
		if err := verify(x.request, body); err != nil {
			return err
		}
	}
	x.out.Body, x.out.Changed = body, !bytes.Equal(body, x.in.Body)
	return nil
}

// record makes the decision last: artifacts first, then the decision. If an equal request was faster, its decision holds.
func (x *shaping) record() error {
	if err := x.keepArtifacts(false); err != nil {
		return err
	}
	x.describeDecision()
	if x.in.Rescue != nil {
		x.out.Settle = x.settle
		return nil
	}
	if x.in.Compact || x.broke { // another decision may stand for this prefix, which is not to hold
		return x.write(x.shaper.deps.Ledger.Replace)
	}
	return x.write(x.shaper.deps.Ledger.Record)
}

// write records the decision under the prefix that it covers, and under the whole request if it changes what stands
// behind that.
func (x *shaping) write(put func(ledger.Lane, conversation.Link, ledger.Decision, []ledger.Edit) (ledger.Decision, error)) error {
	s, end := x.state, x.request.End()
	if end <= x.request.Lead {
		return nil
	}
	d := s.Decision
	if x.in.Rescue != nil && x.in.Rescue.Whole || x.broke || d.OtherModel {
		d.List, d.Edits = "", nil
	}
	added := s.Added
	if d.List == "" {
		added = s.Edits
	}
	d.Items, d.Turn, d.Sent = end, d.Turn+1, x.in.Now.Round(0)
	d.Tokens, d.Ratio, d.Leading = s.Spent(d.Tokens), s.Scale.Ratio, x.out.Report.Leading
	within := func(e ledger.Edit) bool { return e.End() > end }
	behind := slices.ContainsFunc(added, within)
	all := added
	if behind {
		added = slices.DeleteFunc(slices.Clone(added), within)
	}
	standing, err := put(x.lane, x.chain[end], d, added)
	if err != nil {
		return err
	}
	if !sameEdits(standing.Edits, ledger.Add(d.Edits, added...)) {
		x.adopt(standing)
		return x.build(true)
	}
	if behind {
		whole := d
		whole.Items = len(x.request.Items)
		if _, err := put(x.lane, x.chain[whole.Items], whole, all); err != nil {
			return err
		}
		standing.Edits = s.Edits
	}
	s.Decision = standing
	return nil
}

func sameEdits(a, b []ledger.Edit) bool {
	return slices.EqualFunc(a, b, func(a, b ledger.Edit) bool {
		return a.First == b.First && a.Count == b.Count && a.Op == b.Op && a.Part == b.Part && a.Text == b.Text
	})
}

// adopt takes the decision of an equal request that was faster.
func (x *shaping) adopt(d ledger.Decision) {
	s := x.state
	s.Decision, s.Edits, s.Added, x.adopted = d, d.Edits, nil, true
	s.Prepare()
	x.out.Report.Code, x.out.Report.Reason = event.CodeMeanwhile, "an equal request was decided at the same time"
	x.describeDecision()
}

// settle records what a rescue has decided, once the provider has taken it. A form that was refused as well is never
// recorded: what stood before stands.
func (x *shaping) settle() (recorded bool) {
	x.try(func() error {
		body, changed := x.out.Body, x.out.Changed
		err := x.write(x.shaper.deps.Ledger.Replace)
		if x.in.Rescue.NoThinking {
			err = errors.Join(err, x.shaper.deps.Ledger.LearnBinds(x.in.Upstream, x.request.Model))
		}
		x.out.Body, x.out.Changed = body, changed
		return err
	})
	if x.out.Report.Err != nil {
		x.shaper.failed.Store(true)
		return false
	}
	x.tell()
	x.remember()
	return true
}

// fallBack sends the request as it was decided last, with all that is new left whole. That it was left whole is
// recorded, if it can be: so it stays.
func (x *shaping) fallBack() {
	err := x.out.Report.Err
	s := x.state
	if errors.Is(err, errLeft) {
		x.out.Report.Action, x.out.Report.Code = event.ActionNone, event.NoCode
		return
	}
	x.shaper.failed.Store(true)
	s.Edits, s.Added, s.Compaction, s.Stage = x.base, nil, failedCompaction(s.Compaction, err), ladder.StageNone
	s.Prepare()
	x.out.Report.Err = nil
	x.try(func() error {
		if x.out.Report.Conversation == "" { // the ledger does not answer
			return nil
		}
		return x.write(x.shaper.deps.Ledger.Record)
	})
	x.unrecorded = x.out.Report.Err != nil || x.out.Report.Conversation == ""
	err = errors.Join(err, x.out.Report.Err)
	r := &x.out.Report
	r.Err = nil
	if x.try(func() error { return x.build(true) }); r.Err != nil { // it goes as it came
		s.Edits = nil
		s.Prepare()
	}
	r.Err = errors.Join(err, r.Err)
	r.Action, r.Code = event.ActionBypass, event.CodeFailed
	if errors.Is(r.Err, conversation.ErrBroken) && !x.unrecorded { // nothing has failed here
		r.Action, r.Code, r.Reason, r.Err = event.ActionNone, event.CodeFailed, r.Err.Error(), nil
	}
}
