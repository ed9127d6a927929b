package rewrite

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"

	"epitome/dialect/activity"
	"epitome/dialect/conversation"
	"epitome/dialect/jsonspan"
	"epitome/event"
	"epitome/inject"
	"epitome/rewrite/ladder"
	"epitome/rewrite/ledger"
	"epitome/tokenize"
)

// shaping is the work on one request. Its methods are in the order in which they are called.
type shaping struct {
	shaper    *Shaper
	in        Input
	out       Output
	last      *lastRequest          // of the conversation; its request is nil if there is none
	request   *conversation.Request // nil if the body is not a conversation
	lane      ledger.Lane           // in which decisions are looked up and recorded
	chain     []conversation.Link   // by length of a prefix in items; with the wish (findChain)
	hasWish   bool                  // the request asks for context files or memory
	state     *ladder.State         // how the request is sent
	replayed  []ledger.Edit         // the edits that find found, which were decided for an earlier request
	undone    []ledger.Edit         // the edits that the user has taken back since the request before
	discarded bool                  // the decision that was found does not fit the request or its window any more
	held      bool                  // the decision could not be recorded
	unknown   bool                  // the ledger failed: an earlier request may have been decided otherwise
}

// errClientLeft keeps a compaction from being recorded: its summary may lack what a model would have said.
var errClientLeft = errors.New("the client left while a summary was made")

var errUnknown = errors.New("the ledger did not say what was decided before")

// try runs a step, and returns a panic in it as an error.
func try(step func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	return step()
}

// read parses and counts the request, and makes its state: facts, policy, and a plan without edits. If the body is not
// a conversation, x.request stays nil.
func (x *shaping) read() error {
	in := &x.in
	x.lane = ledger.Lane{Scope: in.Scope, Upstream: in.Upstream, Dialect: in.Dialect.Name()}
	x.last = x.shaper.recent.find(x.shaper, x.lane, in.Body, in.Now)
	req, err := x.parse(x.last.request)
	if err == nil && x.last.request != nil && x.last.lane.Model != req.Model {
		x.last = &lastRequest{} // it was counted for another model
		req, err = x.parse(nil)
	}
	if err != nil {
		x.out.Report.Code, x.out.Report.Reason = event.CodeNotRead, event.Clip(err.Error())
		return nil
	}
	x.request, x.lane.Model = req, req.Model
	x.findChain()
	scale := x.scale()
	facts := ladder.NewFacts(req, scale, activity.Of(req, x.last.calls), x.shaper.deps.Shelf, in.Scope)
	x.state = &ladder.State{Plan: facts.Plan(ledger.Decision{}), Policy: x.policy(scale.Ratio)}
	x.out.state = x.state
	x.describeRequest()
	return nil
}

// policy returns the policy as far as the configuration and the request itself say it. ratio is that of the scale. find
// and extend add to it what other requests have shown.
func (x *shaping) policy(ratio float64) *ladder.Policy {
	d, in, limits := &x.shaper.deps, &x.in, x.in.Limits
	if d.CachedPrice != nil {
		if price, ok := d.CachedPrice(in.Upstream, x.request.Model); ok {
			limits = limits.AtPrice(price)
		}
	}
	window, usable := d.Window(in.Upstream, x.request.Model+in.Variant, x.request.MaxOutput)
	x.out.Report.Window, x.out.Report.Usable = window, usable
	p := &ladder.Policy{Asked: in.Compact, ReadsByTool: x.readsByTool(), SummaryMode: in.SummaryMode.OrDefault(),
		SummaryDetail: in.SummaryDetail}
	if d.Summarizer != nil && p.SummaryMode.Asks() {
		p.Words, p.Prepare = x.words, x.prepare
	}
	if r := in.Rescue; r != nil {
		p.Refused, p.Fits = true, int(float64(r.Most)/ratio)
		if r.Most > 0 { // limits are shares of both; a window has a quarter more, for the answer
			window, usable = min(window, r.Most+r.Most/4), min(usable, r.Most)
		}
	}
	p.Limits = limits.EffectiveAt(window, usable, ratio)
	return p
}

// parse reads the body. Items at its start that last has too, byte for byte, are taken from last; last may be nil.
func (x *shaping) parse(last *conversation.Request) (*conversation.Request, error) {
	if last == nil || !bytes.Equal(last.Body, x.in.Body) {
		return x.in.Dialect.Read(x.in.Body, last)
	}
	same := *last // the client has sent the request again: nothing needs to be read
	same.Body, same.Reused = x.in.Body, len(same.Items)
	return &same, nil
}

// findChain sets the links of the request. With a wish for context files or memory, the link at its head differs: the
// first decision is not shared with a conversation that begins alike and has another wish or none. Links behind the
// head do not depend on wishes: by then the model's answers tell the conversations apart.
func (x *shaping) findChain() {
	x.chain = x.request.Chain()
	injector := x.shaper.deps.Inject
	if injector == nil {
		return
	}
	if x.in.Project == "" {
		x.in.Project = injector.Project(x.request)
	}
	if wish := injector.Wish(x.in.Contexts, x.in.Project) + x.in.Runtime; wish != "" {
		x.chain, x.hasWish = x.chainOf(wish), true
	}
}

// chainOf returns the links of a request with a wish: the link at the head, where a first request ends, covers it.
func (x *shaping) chainOf(wish string) []conversation.Link {
	chain, head := slices.Clone(x.request.Chain()), x.request.Head
	chain[head] = sha256.Sum256([]byte(string(chain[head][:]) + wish))
	return chain
}

// anyWish is a second wish under which the first decision of each conversation with a wish is recorded. It is for later
// requests that have no wish themselves, for example because the client names the contexts in its first request only, or
// another one, as on the next day.
const anyWish = "any"

// prefix returns what a provider caches of a request up to item end: system prompt, tools, settings, items before end.
func (x *shaping) prefix(end int) []jsonspan.Span {
	r := x.request
	spans := append([]jsonspan.Span{r.System, r.Tools}, r.Settings...)
	for i := range r.Items[:end] {
		spans = append(spans, r.Items[i].Span)
	}
	return spans
}

// recallTool matches the name of epitome's own tool recall, before which clients put that of the server
// (mcp__epitome__recall, epitome_recall), and in a declaration of tools the name of its MCP server.
var recallTool = regexp.MustCompile(`epitome[_.:/-]{1,3}recall\b|` +
	`"(?:name|server_label|mcp_server_name)"\s*:\s*"(?:mcp[_-]{1,2})?epitome_{0,2}"`)

// readsByTool reports whether stubs name epitome's own tool, not an address, as the way to read an artifact. If Address
// is "auto", they do if the tool is declared before the model's first answer: later requests begin in the same way.
func (x *shaping) readsByTool() bool {
	declares := func(s jsonspan.Span) bool {
		text := s.Of(x.request.Body)
		return bytes.Contains(text, []byte("epitome")) && recallTool.Match(text)
	}
	address := x.shaper.deps.Address
	return address == "tool" || address == "auto" && slices.ContainsFunc(x.prefix(x.request.Head), declares)
}

// CompactAnswer is what epitome's own tool compact answers. Behind a call of the tool, the next request is compacted.
const CompactAnswer = "epitome compacts this conversation before its next request: a summary takes the place of older " +
	"turns. A conversation that is too short for that stays as it is."

// compactTool matches the names of tools that may be epitome's own tool compact, and in the first group the name of its
// server. A client may give the server another name: then the answer tells the tool from others.
var compactTool = regexp.MustCompile(`(?:^|(epitome)?[_.:/-]{1,3})compact$`)

// agentAsks reports whether the model's newest answer has called epitome's own tool compact.
func (x *shaping) agentAsks() bool {
	newest := len(x.request.Items) - 1
	for newest > 0 && !x.request.Items[newest].StartsAnswer {
		newest--
	}
	for _, call := range slices.Backward(x.state.Calls) {
		if call.Item < newest {
			break
		}
		m := compactTool.FindStringSubmatch(call.Tool)
		if m == nil || call.State() != "ok" {
			continue
		}
		if m[1] != "" || strings.Contains(call.ResultText(x.request), CompactAnswer) {
			return true
		}
	}
	return false
}

// scale returns what the request is counted with.
func (x *shaping) scale() conversation.Scale {
	d := &x.shaper.deps
	model := tokenize.ModelOf(x.request.Model)
	scale := conversation.Scale{Model: model, Memo: d.Memo, Ratio: model.Ratio}
	source := tokenize.Source{Upstream: x.in.Upstream, Model: x.request.Model, Dialect: x.in.Dialect.Name()}
	if model.Exact {
		source.Start = fmt.Sprintf("%x", x.chain[x.request.Head])
	}
	x.out.Report.Source = source
	if d.Ratio == nil {
		return scale
	}
	if ratio, answers := d.Ratio(source); answers > 0 {
		scale.Ratio, x.out.Report.Ratio = ratio, ratio // the report has no Ratio as long as no answer has shown one
	}
	return scale
}

// decide finds the edits of the request, adds new ones, builds the body and records the decision before it is sent.
// The order keeps the promises: edits decided before come first and hold; the body is verified before its edits are
// recorded; and if an equal request has recorded a decision meanwhile, the body is built anew by that one.
func (x *shaping) decide() error {
	err := x.find()
	isVital := x.isVital()
	if err != nil && !isVital {
		return err
	}
	if x.in.Replay { // a count of tokens, or a compaction by the provider: it is about the form that is sent anyway
		return x.build()
	}
	if err := x.restoreArtifacts(); err != nil && !isVital {
		return err
	}
	d := &x.state.Decision
	// Decisions reach to End, behind the last answer or result: a user message behind it may be a passing reminder.
	isDecided := !d.OtherModel && d.Items > 0 && d.Items >= x.request.End()
	if isDecided && len(x.undone) > 0 && x.state.Total() > x.state.Limits.Usable {
		isDecided, x.state.Recorded, x.discarded = false, 0, true // restored, but whole it does not fit
	}
	if !isDecided && !x.in.Compact && x.in.Rescue == nil && x.agentAsks() {
		x.in.Compact, x.state.Asked, x.state.ByAgent = true, true, true
	}
	if isDecided && !x.in.Compact && x.in.Rescue == nil {
		x.out.Report.Code, x.out.Report.Reason = event.CodeAgain, "the request is one that was decided before"
		return x.build()
	}
	x.extend()
	if c := x.in.Client; c != nil && x.state.Compaction != nil && c.Err() != nil {
		return errClientLeft
	}
	if err := x.build(); err != nil {
		return err
	}
	beyondQuota := x.state.ArtifactsOff // then the ladder took out only what had to go (extend), so it must be kept
	err = x.keepArtifacts(beyondQuota)
	if err != nil && x.in.Rescue != nil {
		err = x.rescueUnkept()
	}
	if err != nil {
		return err
	}
	if x.in.Rescue != nil { // the provider may refuse this form as well
		x.out.Settle = x.settle
		return nil
	}
	err = x.record()
	if err != nil && isVital {
		x.hold()
		x.out.Report.Code, x.out.Report.Reason = event.CodeUnrecorded, event.CodeUnrecorded.Clause()
		return nil
	}
	return err
}

// isVital reports whether the request must become shorter even if that cannot be recorded: the provider has refused it,
// or it is over the line of compaction as it was decided before. Any other request waits for the ledger to answer.
func (x *shaping) isVital() bool {
	return x.in.Rescue != nil || !x.in.Replay && x.state.Total() > x.state.Limits.CompactLine
}

// find looks up the decision of the deepest recorded prefix, and has the plan begin with it. If the ledger fails, it is
// the decision of the last request, provided that this one continues it: fallBack sends its edits.
func (x *shaping) find() error {
	s := x.state
	d, err := x.shaper.deps.Ledger.Find(x.lane, x.chain, x.request.Ends(), x.last.decision.Edits)
	if err == nil && d.Items == 0 && x.request.End() > x.request.Head {
		d, err = x.shaper.deps.Ledger.Find(x.lane, x.chainOf(anyWish), []int{x.request.Head}, nil) // of the first
	}
	if err != nil {
		err = fmt.Errorf("nothing is decided while it is not known what was: %w", err)
	}
	if x.last.decision.Items > d.Items && x.continuesLast() {
		d = x.last.decision // it was sent, but the ledger lacks it or does not answer
	}
	d, failed := x.nameConversation(d)
	if err == nil {
		err = failed
	}
	x.unknown = err != nil
	if d.Undone {
		x.undone = d.Undo()
		d.Undone, d.Restored, d.Ahead = false, d.Items, 0
	}
	if !x.fits(d) { // all is decided anew, as for a new conversation
		d, x.discarded = ledger.Decision{Conversation: d.Conversation}, true
	}
	s.Plan, x.replayed = s.Facts.Plan(d), d.Edits
	if x.in.Rescue == nil || !x.in.Rescue.NoThinking { // else all thinking goes, and nothing is bound any more
		s.Binds = x.binds()
	}
	s.CacheCold = x.isCold(d)
	isFirst := d.Items == 0 && x.request.End() == x.request.Head // the model has not answered yet
	if err == nil && x.hasWish && isFirst && !x.in.Replay {
		x.addSystem()
	}
	return err
}

// continuesLast reports whether the request begins with all items that the decision of the last request is about.
func (x *shaping) continuesLast() bool {
	l, n := x.last, x.last.decision.Items
	return l.request != nil && l.lane == x.lane && n < len(x.chain) && l.chain[n] == x.chain[n]
}

// nameConversation returns d with the ID of the request's conversation. A request that continues d in another way than
// an earlier one did is of a new conversation: the report has the old one as Parent, and the first message that differs
// as Diverged. Later requests report both too, until a decision that covers this message is recorded with the new ID.
// After an error it is not known whether the request continues d like an earlier one, and it stays in the conversation.
func (x *shaping) nameConversation(d ledger.Decision) (ledger.Decision, error) {
	id, parent, err := x.shaper.deps.Ledger.Name(x.lane, x.chain, x.request.Head, d)
	r := &x.out.Report
	r.Conversation, r.Parent, d.Conversation = id, parent, id
	first := d.Items // the first item that the conversation did not have before
	if d.Items == 0 || parent != "" {
		first, r.Title, r.Folder = 0, x.request.Title(), cmp.Or(x.in.Project, inject.Folder(x.request))
	}
	r.Kept = x.request.KeepLines(first, len(x.request.Items))
	if parent != "" {
		r.Diverged = x.request.MessagesIn(0, d.Items) + 1 // the message behind d's prefix, from 1 on
	}
	return d, err
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
	body, err := bodyWith(x.request, d.Edits, len(x.request.Items))
	return err == nil && verify(x.request, body) == nil
}

// binds reports whether the request has thinking that its model accepts only behind an unchanged prefix. Such models
// are named in the configuration, or a refusal has shown it.
func (x *shaping) binds() bool {
	thinks := func(it conversation.Item) bool { return len(it.Thinking) > 0 }
	return slices.ContainsFunc(x.request.Items, thinks) &&
		(x.in.Limits.BindsThinking(x.request.Model) || x.shaper.deps.Ledger.Binds(x.in.Upstream, x.request.Model))
}

// isCold reports whether the provider has nothing of the conversation in its cache any more: the conversation goes to
// another model or upstream now, or pauses for longer than the cache keeps it.
func (x *shaping) isCold(d ledger.Decision) bool {
	life, now := x.state.Limits.Conf.CacheLife.D(), x.in.Now.Round(0) // the wall clock, like d.Sent from the store
	isTimed := life > 0 && d.Items > 0 && !d.Sent.IsZero() && !now.IsZero()
	return d.OtherModel || isTimed && now.Sub(d.Sent) > life
}

// addSystem adds the context files and the memory that a new conversation asks for to its system prompt.
func (x *shaping) addSystem() {
	const share = 4 // the text may take a quarter of the usable tokens, and no more than the request leaves free
	s, added := x.state, &x.out.Report.Added
	a, err := x.shaper.deps.Inject.For(x.in.Scope, x.in.Contexts, x.in.Project, s.ReadsByTool)
	if err != nil {
		added.Why = err.Error()
	}
	if x.in.Runtime != "" {
		a.Text = strings.TrimSpace(x.in.Runtime + "\n\n" + a.Text)
		a.Contexts = append(a.Contexts, "runtime")
	}
	if _, ok := x.in.Dialect.AppendSystem(x.request, a.Text); a.Text == "" || !ok { // !ok: it has no place there
		return
	}
	tokens := s.Scale.CountText(a.Text)
	if tokens > min(s.Limits.Usable/share, s.Limits.Usable-s.Total()) {
		added.Why = "nothing is added to the system prompt: it takes too much of the window"
		return
	}
	s.Add(ledger.Edit{
		Op: ledger.AppendSystem, Text: a.Text, Tokens: tokens, Step: ledger.StepAdd, Artifacts: a.Artifacts,
		Contexts: a.Contexts, Memory: s.Scale.CountText(a.Text[len(a.Text)-a.Memory:]),
	})
}

// maxNew bounds the new items of a request for which the ladder decides anything, except in a rescue: the time that a
// request takes is bounded. Agents never send so many new items at once.
const maxNew = 30_000

// extend has the ladder add edits of what is new or too much. If it may not, the report has the reason.
func (x *shaping) extend() {
	s, r := x.state, &x.out.Report
	// If any is true, only what has to go is taken out.
	s.ArtifactsOff = x.shaper.deps.Passing || x.shaper.deps.Shelf.Full() || x.unknown || s.Decision.Refused
	if rescue := x.in.Rescue; rescue != nil {
		x.rescue(rescue)
		return
	}
	switch {
	case x.request.Upkeep == conversation.ClientSummarizes:
		s.Reason = event.CodeClientSummarises
	case len(x.request.Items)-s.Recorded > maxNew:
		s.Reason = event.CodeNotRead
	default:
		spent, cutover := s.Decision.Tokens+s.OfModel(s.Total()), s.Limits.Conf.CutoverAt // since the last compaction
		s.OverBudget = cutover > 0 && spent >= cutover
		s.Climb()
		x.describeWait(spent)
	}
	r.Code, r.Reason = s.Reason, s.Reason.Clause()
	if s.Reason == event.CodeOverhead {
		x.describeOverhead()
	}
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

// rescueUnkept decides a rescue once more where nothing can be stored: without artifacts, as the texts then say.
func (x *shaping) rescueUnkept() error {
	s := x.state
	s.Plan = s.With(x.replayed)
	s.NothingKept, s.Compaction, s.Stage = true, nil, ladder.StageNone
	x.extend()
	x.out.Report.Code, x.out.Report.Reason = event.CodeUnkept, event.CodeUnkept.Clause()
	return x.build()
}

// build makes the body with the state's edits. New ones are verified; others were, by fits or by an equal request.
func (x *shaping) build() error {
	body, err := bodyWith(x.request, x.state.Edits, len(x.request.Items))
	if err == nil && len(x.state.Added) > 0 {
		err = verify(x.request, body)
	}
	if err == nil {
		x.out.Body, x.out.Changed = body, !bytes.Equal(body, x.in.Body)
	}
	return err
}
