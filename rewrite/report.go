package rewrite

import (
	"cmp"
	"crypto/sha256"
	"hash/maphash"
	"math"
	"slices"

	"epitome/event"
	"epitome/rewrite/activity"
	"epitome/rewrite/conversation"
	"epitome/rewrite/ladder"
	"epitome/rewrite/ledger"
)

// Report says what was done to a request, or why nothing was. What it shares with events is part of one as it is.
type Report struct {
	event.Shaping
	Action     string // the highest step of the ladder by which anything is edited, none, or bypass: then Err says why
	Project    string
	MaxOutput  int  // tokens that the request asks for; 0 if it does not say
	Streams    bool // the answer is wanted as a stream
	Answers    int  // that have shown the ratio; 0: it is the model's own
	Counted    int  // tokens of the vocabulary that are sent; 0 if a provider's count tells no ratio
	Repeated   int  // edits that were decided earlier
	Stage      ladder.Stage
	Truncates  bool // the provider leaves out what does not fit, and refuses nothing for its size
	Unsure     bool // thinking may be bound to something that was sent otherwise
	Changes    []Change
	Added      Added
	Conclusion *event.Compaction // how a compaction ended
	Err        error             // what failed inside epitome
}

// Added says what stands in a request beside what its client sent.
type Added struct {
	Tokens int      // of the model
	Memory int      // those of them that are memory
	Names  []string // of contexts
	Why    string   // what is missing though it was asked for
}

// Change is an edit, for people. Items are counted from 0, tokens are the model's.
type Change struct {
	Item, Last     int // messages
	Step           ledger.Step
	Tool, Argument string
	Code           event.Code
	Before, After  int
	Text           string
	Artifacts      []string
	Thinking       bool // reasoning is taken out
	New            bool // decided for this request
}

// Changes returns all edits of the request, for people.
func (o *Output) Changes() []Change {
	if o.state == nil {
		return nil
	}
	list := changesOf(o.state, o.state.Edits)
	for k := range list {
		list[k].New = slices.ContainsFunc(o.Report.Changes, func(c Change) bool {
			return c.Item == list[k].Item && c.Last == list[k].Last && c.Text == list[k].Text && c.Code == list[k].Code
		})
	}
	return list
}

func changesOf(s *ladder.State, edits []ledger.Edit) []Change {
	calls := map[int]*activity.Call{}
	for k := range s.Calls {
		calls[s.Calls[k].Result] = &s.Calls[k]
	}
	var list []Change
	for _, e := range edits {
		if e.Op == ledger.AppendSystem {
			continue
		}
		c := Change{Step: e.Step, Code: e.Why, Text: e.Text, Artifacts: e.Artifacts, New: true,
			Thinking: e.Why == event.CodeThinking}
		c.Item, c.Last = e.Message, e.Last
		c.Before, c.After = int(float64(e.Tokens+e.Saved)*s.Scale.Ratio), int(float64(e.Tokens)*s.Scale.Ratio)
		if call := calls[e.First]; call != nil && e.Op != ledger.Drop {
			c.Tool, c.Argument = call.Tool, call.About
		}
		list = append(list, c)
	}
	slices.SortStableFunc(list, func(a, b Change) int { return a.Item - b.Item })
	return list
}

// JoinRefused makes r, which is about a rescue, the report on the whole exchange, of which the first form was refused.
// whole says that the rescue has taken all edits away.
func (r *Report) JoinRefused(first *Report, whole bool) {
	r.Compared, r.Parent, r.Diverged = first.Compared, first.Parent, first.Diverged
	r.HeldBefore, r.HeldAfter = first.HeldBefore, min(first.HeldAfter, r.HeldAfter)
	if !whole {
		r.TakenOut += first.TakenOut
	}
}

// describeRequest fills in what is known of a request before anything is decided.
func (x *shaping) describeRequest(estimated bool) {
	s, r, req := x.state, &x.out.Report, x.request
	x.out.state = s
	s.Prepare()
	size := s.Tokens()
	r.Model, r.Window, r.Usable = event.Clip(req.Model), x.window, event.Narrow(x.usable)
	r.Items = event.Narrow(req.MessagesIn(0, len(req.Items)))
	r.ClearLine, r.CompactLine = x.narrow(s.Limits.ClearLine), x.narrow(s.Limits.CompactLine)
	r.TokensBefore = event.Tokens(size.Times(s.Scale.Ratio))
	r.TokensAfter, r.Estimated = r.TokensBefore, estimated
	r.MaxOutput, r.Streams, r.Truncates, r.Project = req.MaxOutput, req.Stream, req.Truncates, x.in.Project
	r.Answers, r.Counted = x.answers, x.comparable(size.Total())
	if r.Answers > 0 {
		r.Ratio = s.Scale.Ratio
	}
	x.leading, r.Leading = x.hashLeading()
}

// narrow is a number of the vocabulary's tokens in the model's.
func (x *shaping) narrow(tokens int) int32 {
	return event.Narrow(int(float64(tokens) * x.state.Scale.Ratio))
}

// comparable is what a provider's count of a request of this size may be held against; 0 if that would say nothing.
func (x *shaping) comparable(tokens int) int {
	req := x.request
	hasMedia := slices.ContainsFunc(req.Items, func(it conversation.Item) bool { return it.Size.Media > 0 })
	if x.state.Scale.Model.Exact || hasMedia || req.Unpriced || req.Truncates || !req.ServerState.Empty() ||
		x.out.Report.Estimated {
		return 0
	}
	return tokens
}

// hashLeading hashes what stands before the items where a provider caches, and names it as events do: equal wherever
// the shelf's secret is, so that nobody can try out which prompt it is.
func (x *shaping) hashLeading() (sum uint64, name string) {
	req := x.request
	var h maphash.Hash
	h.SetSeed(x.shaper.known.seed)
	strong := sha256.New()
	add := func(part []byte) {
		_, _ = h.Write(part)
		_ = h.WriteByte(0)
	}
	parts := [][]byte{req.System.Of(req.Body), req.Tools.Of(req.Body)}
	for i := range req.Items[:req.Lead] {
		parts = append(parts, req.Items[i].Of(req.Body))
	}
	for _, v := range req.Settings {
		parts = append(parts, v.Of(req.Body))
	}
	for _, part := range parts {
		add(part)
	}
	sum = h.Sum64()
	if x.known != nil && x.known.leading == sum {
		return sum, x.known.name
	}
	for _, part := range parts {
		one := sha256.Sum256(part)
		_, _ = strong.Write(one[:])
	}
	const letters = 16 // enough to tell one from another
	name = x.shaper.deps.Shelf.Name(x.in.Scope, strong.Sum(nil))
	return sum, name[:min(len(name), letters)]
}

// describeDecision fills in what was newly decided.
func (x *shaping) describeDecision() {
	s, r := x.state, &x.out.Report
	r.Decided, r.Stage, r.Causes = len(s.Added) > 0, s.Stage, s.Causes
	r.Compared, r.Conclusion = x.narrow(s.Compared), s.Compaction
	r.Offloaded, r.Cleared, r.Compacted, r.Thoughts, r.TakenOut, r.Broke = 0, 0, 0, 0, 0, x.broke
	for k := range s.Added {
		e := &s.Added[k]
		r.Broke = r.Broke || firstChanged(e) < s.Known && e.Op != ledger.AppendSystem
		switch {
		case e.Op == ledger.DropThinking, e.Why == event.CodeThinking:
			n := len(x.request.Items[e.First].Thinking)
			r.Thoughts = uint16(min(int(r.Thoughts)+n, math.MaxUint16)) //nolint:gosec // bounded
		case e.Step == ledger.StepOffload:
			r.Offloaded++
		case e.Step == ledger.StepCompact:
			r.Compacted += max(e.Count, 1)
		case e.Op != ledger.AppendSystem:
			r.Cleared += max(e.Count, 1)
		}
	}
	saved := func(edits []ledger.Edit) (n int) {
		for k := range edits {
			n += edits[k].Saved
		}
		return n
	}
	r.TakenOut = int(float64(max(0, saved(s.Edits)-saved(x.base))) * s.Scale.Ratio)
	r.Changes = changesOf(s, s.Added)
}

// firstChanged is the first item that an edit changes: a summary may join the words of the user before it.
func firstChanged(e *ledger.Edit) int {
	if e.Op == ledger.Drop && e.Text != "" {
		return e.First - 1
	}
	return e.First
}

// finish completes the report, tells of compactions, and remembers the conversation.
func (x *shaping) finish() {
	if x.left {
		return
	}
	x.try(func() error { x.describeForm(); return nil })
	if x.in.Replay || x.in.Rescue != nil {
		return
	}
	x.try(func() error {
		x.tell()
		if x.out.Report.Err == nil {
			x.prepareNotes()
		}
		x.remember()
		return nil
	})
}

// describeForm fills in the form in which the request is sent.
func (x *shaping) describeForm() {
	s, r := x.state, &x.out.Report
	size := s.Tokens()
	r.TokensAfter, r.Counted = event.Tokens(size.Times(s.Scale.Ratio)), x.comparable(size.Total())
	r.Repeated, r.Decision, r.Unsure = len(s.Edits)-len(s.Added), x.decisionKey(), x.mayMisplaceThinking()
	if r.Action != event.ActionBypass {
		r.Action = cmp.Or(highestStep(s.Edits), event.ActionNone)
	}
	for k := range s.Edits {
		if s.Edits[k].Op == ledger.AppendSystem {
			e := &s.Edits[k]
			r.Added.Tokens, r.Added.Memory = int(float64(e.Tokens)*s.Scale.Ratio), int(float64(e.Memory)*s.Scale.Ratio)
			r.Added.Names = e.Contexts
		}
	}
	x.describeHeld()
}

// decisionKey is the key under which the edits can be read; empty if all messages go as they came.
func (x *shaping) decisionKey() string {
	isForm := func(e ledger.Edit) bool { return e.Op != ledger.AppendSystem }
	switch {
	case !slices.ContainsFunc(x.state.Edits, isForm):
		return ""
	case x.out.Settle != nil: // it is not recorded yet
		return x.lane.DecisionKey(x.chain[x.request.End()])
	}
	return x.state.Decision.Key
}

// highestStep is the step that names what was done to a request; empty if nothing was.
func highestStep(edits []ledger.Edit) string {
	order := []ledger.Step{ledger.StepAdd, ledger.StepOffload, ledger.StepFilter, ledger.StepClear, ledger.StepCompact}
	highest := -1
	for k := range edits {
		highest = max(highest, slices.Index(order, edits[k].Step))
	}
	if highest < 0 {
		return ""
	}
	if order[highest] == ledger.StepFilter {
		return string(ledger.StepClear)
	}
	return string(order[highest])
}

// describeHeld fills in how much stood in the same place in the request before, as it came and as it was sent: about
// what a provider can have cached.
func (x *shaping) describeHeld() {
	s, r := x.state, &x.out.Report
	held := s.Decision.Items
	if s.Decision.OtherModel || held == 0 || x.known != nil && x.known.leading != x.leading || s.Known == 0 {
		return
	}
	held = min(s.Known, len(x.request.Items))
	for i := held; i < len(x.request.Items); i++ { // the user's words behind it were in that request too
		if x.request.Items[i].StartsAnswer {
			held = i
			break
		}
	}
	same := held
	if r.Broke || x.adopted || r.Err != nil {
		for k := range s.Added {
			same = min(same, firstChanged(&s.Added[k]))
		}
	}
	before, after := 0, 0
	for i := held; i < len(x.request.Items); i++ {
		before += s.Size(i)
	}
	for i := same; i < len(x.request.Items); i++ {
		after += s.Sent(i)
	}
	r.HeldBefore = event.Narrow(max(0, r.TokensBefore.Total()-int(float64(before)*s.Scale.Ratio)))
	r.HeldAfter = event.Narrow(max(0, r.TokensAfter.Total()-int(float64(after)*s.Scale.Ratio)))
}

// mayMisplaceThinking reports whether thinking may stand behind something else than when the model thought it, by an
// edit of this request or of an earlier one.
func (x *shaping) mayMisplaceThinking() bool {
	s, last := x.state, -1
	for i := range x.request.Items {
		if len(x.request.Items[i].Thinking) > 0 {
			last = i
		}
	}
	if last < 0 {
		return false
	}
	return x.shaper.failed.Load() || last >= s.Known || s.Decision.OtherModel ||
		slices.ContainsFunc(s.Edits, func(e ledger.Edit) bool { return e.First < last })
}

// tell tells whoever listens how a compaction ended, and warns of what goes beyond its limits.
func (x *shaping) tell() {
	to, s, r := x.shaper.deps.Tell, x.state, &x.out.Report
	if to == nil {
		return
	}
	if n := s.Compaction; n != nil {
		end := *n
		end.Conversation, end.Upstream, end.Model = r.Conversation, x.lane.Upstream, r.Model
		end.Window, end.Usable, end.Why = r.Window, int(r.Usable), event.Clip(end.Why)
		begin := end
		begin.Kind, begin.MessagesAfter, begin.TokensAfter = event.CompactionStarted, 0, 0
		to.RecordCompaction(begin)
		to.RecordCompaction(end)
	}
	sent, warnAt := r.TokensAfter.Total(), s.Limits.Conf.WarnAt
	warn := func(w event.Warning) {
		w.Conversation, w.Upstream, w.Model = r.Conversation, x.lane.Upstream, r.Model
		w.Window, w.Usable, w.Tokens, w.Sent = r.Window, int(r.Usable), cmp.Or(w.Tokens, r.TokensBefore.Total()), sent
		to.RecordWarning(w)
	}
	if wasOver := x.known != nil && x.known.over; sent > int(r.Usable) && !wasOver && r.Code != event.CodeAgain {
		warn(event.Warning{Reason: event.ReasonThreshold})
	}
	if spent := s.Decision.Tokens; warnAt > 0 && spent >= warnAt && spent-sent < warnAt {
		warn(event.Warning{Reason: event.ReasonBudget, Tokens: spent})
	}
	left := 0
	for k := range s.Added {
		if s.Added[k].Why == event.CodeUser {
			left++
		}
	}
	if left > 0 {
		warn(event.Warning{Reason: event.ReasonUsers, Messages: left})
	}
}

// failedCompaction is how a compaction ended of which nothing came.
func failedCompaction(c *event.Compaction, err error) *event.Compaction {
	if c == nil {
		return nil
	}
	failed := *c
	failed.Kind, failed.Why, failed.TokensAfter, failed.MessagesAfter = event.CompactionFailed, err.Error(), 0, 0
	return &failed
}

// remember keeps the request for the next one of its conversation.
func (x *shaping) remember() {
	s := x.state
	if !x.request.ServerState.Empty() {
		return
	}
	d := s.Decision
	d.Edits = s.Edits
	if x.unrecorded {
		d.Items, d.List, d.Sent = x.request.End(), "", x.in.Now.Round(0)
	}
	k := &known{lane: x.lane, request: x.request, calls: s.Calls, decision: d, verified: d.List, leading: x.leading,
		name: x.out.Report.Leading, used: x.in.Now, over: x.out.Report.TokensAfter.Total() > int(x.out.Report.Usable)}
	var before *known
	if x.goesOn() {
		before = x.known
	}
	x.shaper.known.put(x.bucket, k, before)
}
