package rewrite

import (
	"cmp"
	"crypto/sha256"
	"math"
	"slices"

	"epitome/event"
	"epitome/rewrite/activity"
	"epitome/rewrite/ladder"
	"epitome/rewrite/ledger"
)

// Report says what was done to a request, or why nothing was. What it shares with events is part of one as it is.
type Report struct {
	event.Shaping
	Action    string // the highest step of the ladder by which anything is edited, none, or bypass: then Err says why
	Project   string
	MaxOutput int  // tokens that the request asks for; 0 if it does not say
	Streams   bool // the answer is wanted as a stream
	Answers   int  // that have shown the ratio; 0: it is the model's own
	Counted   int  // tokens of the vocabulary that are sent; 0 if a provider's count tells no ratio
	Repeated  int  // edits that were decided earlier
	Stage     ladder.Stage
	Truncates bool // the provider leaves out what does not fit, and refuses nothing for its size
	Added     Added
	Err       error // what failed inside epitome
}

// Added says what stands in a request beside what its client sent.
type Added struct {
	Tokens int      // of the model
	Memory int      // those of them that are memory
	Names  []string // of contexts
	Why    string   // what is missing though it was asked for
}

// Change is an edit, for people. Tokens are the model's.
type Change struct {
	ledger.Edit
	Tool, Argument string // of the call whose result is edited
	Before, After  int
	New            bool // decided for this request
}

// Changes returns the edits of the request, but for what is added to its system prompt, in the order of its messages.
func (o *Output) Changes() (list []Change) {
	s := o.state
	if s == nil {
		return nil
	}
	for k, e := range s.Edits {
		if e.Op == ledger.AppendSystem {
			continue
		}
		c := Change{Edit: e, New: k >= len(s.Edits)-len(s.Added)}
		c.Before, c.After = s.OfModel(e.Tokens+e.Saved), s.OfModel(e.Tokens)
		isOf := func(call activity.Call) bool { return call.Result == e.First && e.Op != ledger.Drop }
		if i := slices.IndexFunc(s.Calls, isOf); i >= 0 {
			c.Tool, c.Argument = s.Calls[i].Tool, s.Calls[i].About
		}
		list = append(list, c)
	}
	slices.SortStableFunc(list, func(a, b Change) int { return a.Message - b.Message })
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
func (x *shaping) describeRequest() {
	s, r, req := x.state, &x.out.Report, x.request
	r.Model, r.Items = event.Clip(req.Model), event.Narrow(req.MessagesIn(0, len(req.Items)))
	r.ClearLine, r.CompactLine = event.Narrow(s.OfModel(s.Limits.ClearLine)), event.Narrow(s.OfModel(s.Limits.CompactLine))
	r.TokensBefore, r.Estimated = s.Tokens().Times(s.Scale.Ratio), req.Estimated()
	r.TokensAfter = r.TokensBefore
	r.MaxOutput, r.Streams, r.Truncates, r.Project = req.MaxOutput, req.Stream, req.Truncates, x.in.Project
	if r.Answers = x.answers; r.Answers > 0 {
		r.Ratio = s.Scale.Ratio
	}
	r.Leading = x.leading()
}

// leading names what stands before the items where a provider caches. Names are equal wherever the shelf's secret is,
// so nobody can try out which prompt it is.
func (x *shaping) leading() string {
	const letters = 16 // enough to tell one from another
	h := sha256.New()
	for _, span := range x.prefix(x.request.Lead) {
		_, _ = h.Write(span.Of(x.request.Body))
		_, _ = h.Write([]byte{'\n'})
	}
	name := x.shaper.deps.Shelf.Name(x.in.Scope, h.Sum(nil))
	return name[:min(len(name), letters)]
}

// describe fills in what was decided, and the form in which the request is sent.
func (x *shaping) describe() {
	s, r, req := x.state, &x.out.Report, x.request
	size := s.Tokens()
	r.TokensAfter = size.Times(s.Scale.Ratio)
	isCounted := r.TokensBefore.Images == 0 && !req.Unpriced && req.ServerState.Empty() && !r.Estimated
	if isCounted && !s.Scale.Model.Exact && !req.Truncates {
		r.Counted = size.Total()
	}
	r.Decided, r.Stage, r.Causes = len(s.Added) > 0, s.Stage, s.Causes
	r.Compared, r.Repeated, r.Broke = event.Narrow(s.OfModel(s.Compared)), len(s.Edits)-len(s.Added), x.broke
	for k := range s.Added {
		x.describeEdit(&s.Added[k])
	}
	action, saved := event.ActionNone, 0
	order := []string{event.ActionNone, string(ledger.StepAdd), string(ledger.StepOffload), string(ledger.StepClear),
		string(ledger.StepCompact)}
	for k := range s.Edits {
		e := &s.Edits[k]
		saved += e.Saved
		step := string(e.Step)
		if e.Step == ledger.StepFilter {
			step = string(ledger.StepClear)
		}
		if slices.Index(order, step) > slices.Index(order, action) {
			action = step
		}
		if e.Op == ledger.AppendSystem {
			r.Added.Tokens, r.Added.Memory, r.Added.Names = s.OfModel(e.Tokens), s.OfModel(e.Memory), e.Contexts
		}
	}
	for k := range x.base {
		saved -= x.base[k].Saved
	}
	r.TakenOut = s.OfModel(max(0, saved))
	if r.Action != event.ActionBypass {
		r.Action = action
	}
	switch {
	case slices.Index(order, action) <= 1: // all messages go as they came
	case x.out.Settle != nil: // it is not recorded yet
		r.Decision = x.lane.DecisionKey(x.chain[req.End()])
	default:
		r.Decision = s.Decision.Key
	}
	x.describeHeld()
}

// describeEdit counts a new edit.
func (x *shaping) describeEdit(e *ledger.Edit) {
	r := &x.out.Report
	r.Broke = r.Broke || firstChanged(e) < x.state.Recorded && e.Op != ledger.AppendSystem
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

// firstChanged is the first item that an edit changes: a summary may join the words of the user before it.
func firstChanged(e *ledger.Edit) int {
	if e.Op == ledger.Drop && e.Text != "" {
		return e.First - 1
	}
	return e.First
}

// describeHeld fills in how much stood in the same place in the request before, as it came and as it was sent: about
// what a provider can have cached.
func (x *shaping) describeHeld() {
	s, r, items := x.state, &x.out.Report, x.request.Items
	held := min(s.Recorded, len(items))
	if held == 0 || x.known.request != nil && x.known.decision.Leading != r.Leading {
		return
	}
	for held < len(items) && !items[held].StartsAnswer { // the user's words behind it were in that request too
		held++
	}
	same := held
	for k := range s.Added {
		if r.Broke {
			same = min(same, firstChanged(&s.Added[k]))
		}
	}
	before, after := 0, 0
	for i := held; i < len(items); i++ {
		before += s.Size(i)
	}
	for i := same; i < len(items); i++ {
		after += s.Sent(i)
	}
	r.HeldBefore = event.Narrow(max(0, r.TokensBefore.Total()-s.OfModel(before)))
	r.HeldAfter = event.Narrow(max(0, r.TokensAfter.Total()-s.OfModel(after)))
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
		to.RecordCompaction(end)
	}
	sent, warnAt := r.TokensAfter.Total(), s.Limits.Conf.WarnAt
	warn := func(w event.Warning) {
		w.Conversation, w.Upstream, w.Model = r.Conversation, x.lane.Upstream, r.Model
		w.Window, w.Usable, w.Tokens, w.Sent = r.Window, int(r.Usable), cmp.Or(w.Tokens, r.TokensBefore.Total()), sent
		to.RecordWarning(w)
	}
	if sent > int(r.Usable) && !x.known.over && r.Code != event.CodeAgain {
		warn(event.Warning{Reason: event.ReasonThreshold})
	}
	if spent := s.Decision.Tokens; warnAt > 0 && spent >= warnAt && spent-sent < warnAt {
		warn(event.Warning{Reason: event.ReasonBudget, Tokens: spent})
	}
	left := slices.DeleteFunc(slices.Clone(s.Added), func(e ledger.Edit) bool { return e.Why != event.CodeUser })
	if len(left) > 0 {
		warn(event.Warning{Reason: event.ReasonUsers, Messages: len(left)})
	}
}
