package rewrite

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"regexp"
	"runtime/debug"
	"slices"

	"epitome/event"
	"epitome/rewrite/activity"
	"epitome/rewrite/conversation"
	"epitome/rewrite/jsonspan"
	"epitome/rewrite/ladder"
	"epitome/rewrite/ledger"
	"epitome/tokenize"
)

// shaping is the way of one request. Its steps are in the order in which they are taken.
type shaping struct {
	shaper  *Shaper
	in      Input
	out     Output
	known   *known // the last request of the conversation; an empty one if there is none
	request *conversation.Request
	lane    ledger.Lane
	chain   []conversation.Link
	asks    bool // for context files or memory
	answers int  // that have shown the ratio
	state   *ladder.State
	base    []ledger.Edit // those that were decided before
	broke   bool          // what was decided before does not fit any more
}

// errLeft says that nobody waits for the request any more. Nothing is decided then: the client may come again.
var errLeft = errors.New("the client left while a summary was made")

// try takes a step, and makes an error of a panic.
func try(step func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	return step()
}

// read parses the request and counts it.
func (x *shaping) read() error {
	d, in := &x.shaper.deps, &x.in
	x.lane = ledger.Lane{Scope: in.Scope, Upstream: in.Upstream, Dialect: in.Dialect.Name()}
	x.known = x.shaper.known.find(x.lane, in.Body, in.Now)
	req, err := x.parse(x.known.request)
	if err == nil && x.known.request != nil && x.known.lane.Model != req.Model {
		x.known = &known{} // its tokens are another model's
		req, err = x.parse(nil)
	}
	if err != nil {
		x.out.Report.Code, x.out.Report.Reason = event.CodeNotRead, event.Clip(err.Error())
		return nil
	}
	x.request, x.lane.Model = req, req.Model
	x.findChain()
	scale, err := x.scale()
	if err != nil {
		return err
	}
	fixed := req.Count(scale)
	limits := in.Limits
	if d.CachedPrice != nil {
		if price, ok := d.CachedPrice(in.Upstream, req.Model); ok {
			limits = limits.AtPrice(price)
		}
	}
	window, usable := d.Window(in.Upstream, req.Model, req.MaxOutput)
	x.out.Report.Window, x.out.Report.Usable = window, event.Narrow(usable)
	if r := in.Rescue; r != nil && r.Most > 0 {
		window, usable = min(window, r.Most+r.Most/4), min(usable, r.Most)
	}
	x.state = &ladder.State{
		Request: req, Scale: scale, Calls: activity.Of(req, x.known.calls), Fixed: fixed,
		Limits: limits.EffectiveAt(window, usable, scale.Ratio), Asked: in.Compact, Refused: in.Rescue != nil,
		ReadsByTool: x.readsByTool(), Artifacts: d.Shelf, Scope: in.Scope,
	}
	x.state.Prepare()
	x.out.state = x.state
	x.describeRequest()
	return nil
}

// parse reads the body, of which known is an earlier one. An equal one is not read again.
func (x *shaping) parse(known *conversation.Request) (*conversation.Request, error) {
	if known == nil || !bytes.Equal(known.Body, x.in.Body) {
		return x.in.Dialect.Read(x.in.Body, known)
	}
	same := *known
	same.Body, same.Reused = x.in.Body, len(same.Items)
	return &same, nil
}

// findChain sets the links of the request. A conversation that is to be given something from its first request on has
// another link there, so it shares nothing with one that begins alike. Later links tell them apart by what was
// answered.
func (x *shaping) findChain() {
	x.chain = x.request.Chain()
	inject := x.shaper.deps.Inject
	if inject == nil {
		return
	}
	if x.in.Project == "" {
		x.in.Project = inject.Project(x.request)
	}
	if wish := inject.Wish(x.in.Contexts, x.in.Project); wish != "" {
		x.chain, x.asks = x.chainOf(wish), true
	}
}

// chainOf returns the links of a conversation whose first request had a wish.
func (x *shaping) chainOf(wish string) []conversation.Link {
	chain, head := slices.Clone(x.request.Chain()), x.request.Head
	chain[head] = sha256.Sum256([]byte(string(chain[head][:]) + wish))
	return chain
}

// anyWish stands for every wish: what a first request was given is recorded under this one too, so that later requests
// of its conversation find it that ask for nothing, or cannot ask.
const anyWish = "any"

// prefix returns system prompt, tools, settings and the items before end: the beginning of what a provider caches.
func (x *shaping) prefix(end int) []jsonspan.Span {
	r := x.request
	spans := append([]jsonspan.Span{r.System, r.Tools}, r.Settings...)
	for i := range r.Items[:end] {
		spans = append(spans, r.Items[i].Span)
	}
	return spans
}

// recallTool matches the name of the tool that reads artifacts, or of its server, where tools are declared, and where a
// client lists those that it declares later: at the beginning of a line of JSON text. A sentence that speaks of it is
// no list. Clients name a tool after its server too (mcp__epitome__recall, epitome_recall).
var recallTool = regexp.MustCompile(`"(?:mcp[_-]{1,2})?epitome(?:[_-]{1,3}|[.:/])recall"|` +
	`"(?:name|server_label|mcp_server_name)"\s*:\s*"(?:mcp[_-]{1,2})?epitome_{0,2}"|` +
	`(?:^"|[^\\]"|\\n)(?:- )?mcp[_-]{1,2}(?:epitome[_-]{1,3}recall(?:["\\:,<]|$)|epitome_{0,2}(?:["\\:<]|$))`)

// readsByTool reports whether the model is told to read artifacts with epitome's own tool: always, or where that stands
// before the model's first words, which stays the same.
func (x *shaping) readsByTool() bool {
	declares := func(s jsonspan.Span) bool {
		text := s.Of(x.request.Body)
		return bytes.Contains(text, []byte("epitome")) && recallTool.Match(text)
	}
	address := x.shaper.deps.Address
	return address == "tool" || address == "auto" && slices.ContainsFunc(x.prefix(x.request.Head), declares)
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
	ratio := 0.0
	switch r := x.in.Rescue; {
	case r != nil:
		ratio, x.answers = r.Ratio, r.Answers
	case d.Ratio != nil && !model.Exact:
		source := tokenize.Source{Upstream: x.in.Upstream, Model: x.request.Model, Dialect: x.in.Dialect.Name()}
		ratio, x.answers = d.Ratio(source)
	}
	if x.answers > 0 {
		scale.Ratio = ratio
	}
	return scale, nil
}

// decide finds the edits of the request, and records them before anything is sent. The order is the promise: edits that
// were decided before hold; only then is anything new decided; what may not be sent is found out by building it, before
// it is recorded; and what somebody else recorded meanwhile is what is built at the end.
func (x *shaping) decide() error {
	if err := x.find(); err != nil {
		return err
	}
	if x.in.Replay {
		return x.build()
	}
	if err := x.restoreArtifacts(); err != nil {
		return err
	}
	d := &x.state.Decision
	if !d.OtherModel && d.Items > 0 && d.Items >= x.request.End() && !x.in.Compact && x.in.Rescue == nil {
		x.out.Report.Code, x.out.Report.Reason = event.CodeAgain, "the request is one that was decided before"
		return x.build()
	}
	x.extend()
	if c := x.in.Client; c != nil && x.state.Compaction != nil && c.Context().Err() != nil {
		return errLeft
	}
	if err := x.build(); err != nil {
		return err
	}
	if err := x.keepArtifacts(x.state.ArtifactsOff); err != nil {
		return err
	}
	if x.in.Rescue != nil {
		x.out.Settle = x.settle
		return nil
	}
	return x.record()
}

// find looks up the deepest decision for the request, and makes its edits those of the state.
func (x *shaping) find() error {
	s := x.state
	d, err := x.shaper.deps.Ledger.Find(x.lane, x.chain, x.request.Ends())
	if err == nil && d.Items == 0 && !x.asks && x.request.End() > x.request.Head {
		d, err = x.shaper.deps.Ledger.Find(x.lane, x.chainOf(anyWish), []int{x.request.Head})
	}
	if err != nil {
		err = fmt.Errorf("nothing is decided while it is not known what was: %w", err)
	}
	if x.known.decision.Items > d.Items && x.goesOn() {
		d = x.known.decision // it was sent, and could not be recorded
	}
	if err == nil {
		d, err = x.nameConversation(d)
	}
	if !x.fits(d) { // nobody can go on from there
		d, x.broke = ledger.Decision{Conversation: d.Conversation}, true
	}
	s.Decision, s.Edits, s.Recorded, x.base = d, d.Edits, d.Items, d.Edits
	if d.OtherModel {
		s.Recorded = 0
	}
	if x.in.Rescue == nil || !x.in.Rescue.NoThinking {
		s.Binds = x.binds()
	}
	s.CacheCold = x.isCold(d)
	if len(s.Edits) > 0 {
		s.Prepare()
	}
	if err == nil && x.asks && d.Items == 0 && x.request.End() == x.request.Head && !x.in.Replay {
		x.addSystem()
	}
	return err
}

// goesOn reports whether the request goes on behind all that the known one was decided for.
func (x *shaping) goesOn() bool {
	k, n := x.known, x.known.decision.Items
	return k.request != nil && k.lane == x.lane && n < len(x.chain) && k.chain[n] == x.chain[n]
}

// nameConversation finds out which conversation the request belongs to.
func (x *shaping) nameConversation(d ledger.Decision) (ledger.Decision, error) {
	id, parent, err := x.shaper.deps.Ledger.Name(x.lane, x.chain, x.request.Head, d)
	if err != nil {
		return d, err
	}
	r := &x.out.Report
	r.Conversation, r.Parent, d.Conversation = id, parent, id
	if parent != "" {
		r.Diverged = event.Narrow(x.request.MessagesIn(0, d.Items) + 1)
	}
	return d, nil
}

// fits reports whether the request can be sent with the edits of a decision. It cannot if something new answers a call
// that is left out, or stands behind something else than its client thinks. What the request before was sent with is
// built only where that may be.
func (x *shaping) fits(d ledger.Decision) bool {
	answersEarlier := d.Items < len(x.request.Items) && x.request.Items[d.Items].Role == conversation.Tool
	endsInDrop := slices.ContainsFunc(d.Edits, func(e ledger.Edit) bool {
		return e.Op == ledger.Drop && e.End() == d.Items
	})
	if len(d.Edits) == 0 || d.List == x.known.decision.List && !answersEarlier && !endsInDrop {
		return true
	}
	body, err := bodyWith(x.request, d.Edits, len(x.request.Items))
	return err == nil && verify(x.request, body) == nil
}

// binds reports whether the model accepts thinking only behind an unchanged prefix: by its name, or because a refusal
// has shown it. Where there is no thinking that does not matter.
func (x *shaping) binds() bool {
	for i := range x.request.Items {
		if len(x.request.Items[i].Thinking) > 0 {
			return x.in.Limits.BindsThinking(x.request.Model) || x.shaper.deps.Ledger.Binds(x.in.Upstream, x.request.Model)
		}
	}
	return false
}

// isCold reports whether the provider has forgotten the conversation: it has paused for too long, or goes to another
// model.
func (x *shaping) isCold(d ledger.Decision) bool {
	life := x.state.Limits.Conf.CacheLife.D()
	if d.Items == 0 || d.OtherModel {
		return d.OtherModel
	}
	return life > 0 && !x.in.Now.IsZero() && !d.Sent.IsZero() && x.in.Now.Round(0).Sub(d.Sent) > life
}

// addSystem adds to the system prompt of a new conversation what it asks for, if there is room.
func (x *shaping) addSystem() {
	const share = 4 // of usable it may take one part of so many, and no more than the request leaves
	s, added := x.state, &x.out.Report.Added
	a, err := x.shaper.deps.Inject.For(x.in.Scope, x.in.Contexts, x.in.Project, s.ReadsByTool)
	if err != nil {
		added.Why = err.Error()
	}
	if _, ok := x.in.Dialect.AppendSystem(x.request, a.Text); a.Text == "" || !ok {
		return
	}
	tokens := s.Scale.CountText(a.Text)
	if tokens > min(s.Limits.Usable/share, s.Limits.Usable-s.Total()) {
		added.Why = "nothing is added to the system prompt: it takes too much of the window"
		return
	}
	s.Add(event.NoCause, ledger.Edit{
		Op: ledger.AppendSystem, Text: a.Text, Tokens: tokens, Step: ledger.StepAdd, Artifacts: a.Artifacts,
		Contexts: a.Contexts, Memory: s.Scale.CountText(a.Text[len(a.Text)-a.Memory:]),
	})
}

// maxNew bounds the new items of a conversation for which anything is decided, but to save it from a refusal. Agents
// never send so many at once.
const maxNew = 30_000

// extend has the ladder add edits.
func (x *shaping) extend() {
	s, r := x.state, &x.out.Report
	s.ArtifactsOff = x.shaper.deps.Passing || x.shaper.deps.Shelf.Full()
	s.Style = x.in.Style.WithDefaults()
	s.Prose, s.Note = x.prose(), x.noteOf
	if rescue := x.in.Rescue; rescue != nil {
		x.rescue(rescue)
		return
	}
	switch {
	case x.request.Upkeep == conversation.ClientSummarizes:
		s.Reason = event.CodeClientSummarises
	case len(x.request.Items)-s.Recorded > maxNew:
		s.Reason = event.CodeNotRead
	case len(x.in.Body) < s.Limits.Floor && !x.in.Compact:
		s.Reason = event.CodeFloor
	default:
		total, cutover := s.OfModel(s.Total()), s.Limits.Conf.CutoverAt
		s.OverBudget = cutover > 0 && s.Decision.Tokens+total >= cutover
		ladder.Climb(s)
	}
	r.Code, r.Reason = s.Reason, s.Reason.Clause()
	ladder.DropThinking(s, false)
}

// rescue has the ladder make the request shorter than the form that was refused.
func (x *shaping) rescue(how *Rescue) {
	s := x.state
	if how.Whole {
		s.Edits, s.Decision.Edits, s.Decision.List = nil, nil, ""
		s.Prepare()
		return
	}
	if !how.NoThinking || how.Most > 0 {
		ladder.Rescue(s, how.From)
	}
	ladder.DropThinking(s, how.NoThinking)
}

// build makes the body. New edits are verified.
func (x *shaping) build() error {
	body, err := bodyWith(x.request, x.state.Edits, len(x.request.Items))
	if err == nil && len(x.state.Added) > 0 {
		err = verify(x.request, body)
	}
	if err != nil {
		return err
	}
	x.out.Body, x.out.Changed = body, !bytes.Equal(body, x.in.Body)
	return nil
}
