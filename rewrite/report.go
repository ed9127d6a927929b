package rewrite

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"epitome/dialect/activity"
	"epitome/dialect/conversation"
	"epitome/event"
	"epitome/inject"
	"epitome/rewrite/ladder"
	"epitome/rewrite/view"
	"epitome/tokenize"
)

// Report says what was done to a request, or why nothing was. Its Shaping becomes part of the exchange's event.
type Report struct {
	event.Shaping
	Action    string          // the strongest step of all edits; none without edits; bypass after a failure (Err)
	MaxOutput int             // tokens of the model that the request asks for; 0 if it does not say
	Streams   bool            // the client wants the answer as a stream
	Counted   int             // tokens of the vocabulary that are sent; 0 if no ratio can be learned from them
	Source    tokenize.Source // of the ratio
	Truncates bool            // the provider itself leaves out what does not fit, and refuses nothing for its size
	Added     Added
	Stage     ladder.Stage // the last one that a rescue took; StageNone if there is none
	Err       error        // what failed inside epitome, so that nothing new is done
	Faults    error        // of steps that failed and were left out, while the others were taken
}

// Added says what is added to the system prompt: context files and memory (package inject).
type Added struct {
	Tokens int      // of the model
	Memory int      // those of Tokens that are memory
	Names  []string // of contexts
	Why    string   // why something that the request asks for is not added; empty if all is
}

// Change is an edit, for people to read. Tokens are the model's.
type Change struct {
	view.Edit
	Tool, Argument string // of the call whose result is edited
	Before, After  int    // tokens of what the edit changes
	New            bool   // decided for this request
}

// Changes returns the edits of the request, except of its system prompt, in the order of its messages.
func (o *Output) Changes() (list []Change) {
	k, v := o.known, &o.sent
	if k == nil {
		return nil
	}
	firstNew := len(v.Edits) - v.New
	for n, e := range v.Edits {
		if e.Op == view.AppendSystem {
			continue
		}
		c := Change{Edit: e, New: n >= firstNew, Before: k.OfModel(e.Tokens + e.Saved), After: k.OfModel(e.Tokens)}
		isOf := func(c activity.Call) bool { return c.Result == e.First && c.Item < e.First && e.Op != view.Drop }
		if i := slices.IndexFunc(k.Calls, isOf); i >= 0 {
			c.Tool, c.Argument = k.Calls[i].Tool, k.Calls[i].About // a Drop has none, as it takes out whole groups
		}
		list = append(list, c)
	}
	slices.SortStableFunc(list, func(a, b Change) int { return a.Messages[0] - b.Messages[0] })
	return list
}

// joinRefused makes r, the report of a rescue, that of the whole exchange. first is the report of the form that was
// refused first. Its decision is recorded, so a rescue starts from its edits and takes it for the request before.
// The counts of edits stay the rescue's: an item that both forms changed would count twice in a sum.
func (r *Report) joinRefused(first *Report, whole bool) {
	// A rescue takes the conversation for one that is known.
	r.Parent, r.Diverged = first.Parent, first.Diverged
	r.Title, r.Folder, r.Kept = first.Title, first.Folder, first.Kept
	// r has what its form shares with the refused form; with the request before both, it shares no more than that did.
	r.HeldBefore, r.HeldAfter = first.HeldBefore, min(first.HeldAfter, r.HeldAfter)
	r.Warnings = append(slices.Clone(first.Warnings), r.Warnings...)
	r.ReadAgain, r.ReadAgainTokens = first.ReadAgain, first.ReadAgainTokens
	if !whole { // else all edits were taken back, and nothing is out
		r.TakenOut += first.TakenOut // r has what it took out beyond that
	}
}

// describeRequest fills in the report as far as it can before anything is decided. v is the request as it came.
func (x *shaping) describeRequest(v *view.View) {
	k, r, req := x.known, &x.out.Report, x.request
	r.Model, r.Items = event.Clip(req.Model), req.MessagesIn(0, len(req.Items))
	r.CacheLife = req.CacheLife()
	r.ClearLine, r.CompactLine = k.OfModel(k.Limits.ClearLine), k.OfModel(k.Limits.CompactLine)
	r.TokensBefore, r.Estimated = v.Tokens().Times(k.Scale.Ratio), req.Estimated()
	r.TokensAfter = r.TokensBefore
	r.MaxOutput, r.Streams, r.Truncates = req.MaxOutput, req.Stream, req.Truncates
	r.Leading = x.subject.Leading
}

// describeConversation says of which conversation the request is. One that continues a prefix in another way than an
// earlier one did is of a new conversation: the report has the old one as Parent, and as Diverged the first message
// that differs.
func (x *shaping) describeConversation() {
	r, d := &x.out.Report, x.known.Before
	r.Conversation, r.Parent = d.Conversation, d.Parent
	first := x.found.items // the first item that the conversation did not have before
	if x.found.items == 0 || r.Parent != "" {
		first, r.Title, r.Folder = 0, x.request.Title(), cmp.Or(x.in.Project, inject.Folder(x.request))
	}
	r.Kept = x.request.KeepLines(first, len(x.request.Items))
	if r.Parent != "" {
		r.Diverged = x.request.MessagesIn(0, x.found.items) + 1 // the message behind the prefix, from 1 on
	}
}

// describe fills in the report once the body is built: what was decided, and how large the request is as it is sent.
func (x *shaping) describe() {
	k, p, v, r, req := x.known, &x.plan, &x.plan.View, &x.out.Report, x.request
	size := v.Tokens()
	r.TokensAfter = size.Times(k.Scale.Ratio)
	isGuess := r.TokensBefore.Images > 0 || req.Unpriced || r.Estimated
	if !isGuess && req.ServerState.Empty() && !req.Truncates { // the provider counts just these texts
		r.Counted = size.Total()
	}
	r.TakenOut = k.OfModel(max(0, x.replayed.Total-v.Total)) // below 0 where earlier edits were taken back
	if !x.in.Replay && r.Code != event.CodeMeanwhile {       // an equal request has counted them
		r.ReadAgain, r.ReadAgainTokens = k.ReadAgain(&x.replayed, x.found.items)
	}
	r.Stage, r.Faults = p.Stage, p.Faults
	r.Decision = k.Before.Key
	if x.out.Settle != nil { // it is recorded under this key once the provider has accepted the request
		r.Decision = x.subject.Key(x.decided())
	}
	if r.Action != event.ActionBypass {
		r.Action = actionOf(v.Edits)
	}
	x.describeEdits()
	x.describeHeld()
}

// steps are no step and all others, the strongest last.
var steps = []view.Step{
	event.ActionNone, view.StepAdd, view.StepOffload, view.StepFilter, view.StepClear, view.StepCompact,
}

// actionOf returns the strongest step of all edits. A filter has no action of its own.
func actionOf(edits []view.Edit) string {
	strongest := 0
	for k := range edits {
		strongest = max(strongest, slices.Index(steps, edits[k].Step))
	}
	if steps[strongest] == view.StepFilter {
		return string(view.StepClear)
	}
	return string(steps[strongest])
}

// describeEdits fills in what the new edits change, and what is added to the system prompt.
func (x *shaping) describeEdits() {
	k, v, r := x.known, &x.plan.View, &x.out.Report
	r.Decided = v.New > 0 || len(x.found.undone) > 0
	if len(x.found.undone) > 0 {
		r.Causes = r.Causes.With(event.CodeRestored)
	}
	for _, e := range v.Added() {
		r.Causes = r.Causes.With(e.Reason)
		switch {
		case e.Op == view.DropThinking, e.Reason == event.CodeThinking: // the code of a Drop of thinking alone
			r.Thoughts += len(x.request.Items[e.First].Thinking)
		case e.Step == view.StepOffload:
			r.Offloaded++
		case e.Step == view.StepCompact:
			r.Compacted += e.Count
		case e.Op != view.AppendSystem && e.Op != view.AddResult: // which take out nothing
			r.Cleared += e.Count
		}
	}
	for _, e := range v.Edits {
		if e.Op == view.AppendSystem {
			r.Added.Tokens = k.OfModel(e.Tokens)
			r.Added.Memory, r.Added.Names = k.OfModel(e.Added.Memory), e.Added.Contexts
		}
	}
}

// describeHeld fills in Broke, and how many tokens at its beginning the request shares with the one before it:
// HeldBefore in the form of the client, HeldAfter in the form that is sent. A provider can have about as many in its
// cache.
func (x *shaping) describeHeld() {
	k, v, r := x.known, &x.plan.View, &x.out.Report
	items := x.request.Items
	changed := len(items) // the first item that is sent otherwise than in the request before
	for _, e := range slices.Concat(v.Added(), x.found.undone) {
		if e.Op == view.Drop && e.Text != "" && e.First > 0 {
			e.First-- // a summary may be appended to the user's item before it
		}
		changed = min(changed, e.First)
	}
	held := min(k.Recorded, len(items)) // end of the items that both requests have
	for held > 0 && held < len(items) && !items[held].StartsAnswer {
		held++ // the user's words behind the recorded prefix, up to the answer: they were in that request too
	}
	r.Broke = x.found.discarded || len(x.found.undone) > 0 || changed < held
	if held == 0 || k.Before.Leading != r.Leading {
		return // the provider has nothing in its cache for another system prompt, tools or settings
	}
	r.HeldBefore = max(0, r.TokensBefore.Total()-k.OfModel(k.Size(held, len(items))))
	r.HeldAfter = max(0, r.TokensAfter.Total()-k.OfModel(v.Sent(min(held, changed), len(items))))
}

// describeWait says why no compaction can be made that the agent asks for, or, once in a cycle, that the user's budget
// or compact_turns calls for.
func (x *shaping) describeWait() {
	k, p, r := x.known, &x.plan, &x.out.Report
	b := k.Budget(p)
	if !b.HasRoom() {
		return
	}
	due, spent := b.Trigger, k.Before.Tokens+k.OfModel(x.replayed.Total)
	isMade := p.Compaction != nil && p.Compaction.Kind == event.CompactionCompleted
	isKnown := p.Reason == event.NoCode || k.Before.Waits
	if isMade || isKnown && due != event.ReasonAgent {
		return
	}
	why := cmp.Or(p.Reason, event.CodeNothingOlder)
	r.warn(event.Warning{Reason: event.ReasonWaits, Tokens: spent, Why: why.Clause(), Due: due})
}

// describeOverhead says how many tokens no compaction can take out, and warns of them once in a conversation.
func (x *shaping) describeOverhead() {
	k, v, r := x.known, &x.plan.View, &x.out.Report
	overhead := k.OfModel(v.Overhead())
	r.Reason = fmt.Sprintf("system prompt, tools and first message alone take %.0fk of %.0fk tokens; "+
		"compaction cannot help", float64(overhead)/1000, float64(r.Window)/1000)
	if !k.Before.Warned {
		r.warn(event.Warning{Reason: event.ReasonOverhead, Tokens: overhead})
	}
}

// describeGoal says why a compaction that the client asked for leaves more than it named, or is not made, unless
// another reason says that.
func (x *shaping) describeGoal() {
	k, p, v, r := x.known, &x.plan, &x.plan.View, &x.out.Report
	mayMiss := []event.Code{
		event.NoCode, event.CodeNothingOlder, event.CodeSavesLittle, event.CodeNotDue, event.CodeFreesLittle,
	}
	if !slices.Contains(mayMiss, p.Reason) {
		return
	}
	has := v.Tokens().Times(k.Scale.Ratio).Total()
	switch {
	case p.Goal > 0 && v.Total > p.Goal:
		r.Reason = fmt.Sprintf("the aim was %d tokens, and %d are left: system prompt, tools, the first message, the "+
			"newest group and all else that stays take %d, the summary the rest",
			cmp.Or(x.in.CompactTo, k.OfModel(p.Goal)), has, k.OfModel(k.Stays(p)))
	case k.Demand.To > 0 && v.New == 0:
		r.Reason = fmt.Sprintf("the request has %d tokens, and %d were asked for", has, x.in.CompactTo)
	}
}

// describeCompaction fills in how a compaction ended, how much stands after one that was made, and which files it is
// about.
func (x *shaping) describeCompaction() {
	k, p, c := x.known, &x.plan, &x.out.Report.Compaction
	*c = *p.Compaction
	c.Why = event.Clip(c.Why)
	if c.Kind != event.CompactionCompleted {
		return
	}
	end, tokens := x.request.Head, 0
	for _, e := range p.View.Added() {
		if e.Step == view.StepCompact {
			end = max(end, e.End())
			tokens += e.Tokens
		}
	}
	c.MessagesBefore, c.SummaryTokens = x.out.Report.Items, k.OfModel(tokens)
	for i := range x.request.Items {
		if !x.request.Items[i].StartsAnswer {
			continue
		}
		c.TurnsBefore++
		if i >= end {
			c.TurnsKept++
		}
	}
	if sent, err := x.in.Dialect.Read(x.out.Body, nil); err == nil { // it was verified when it was built
		c.MessagesAfter = sent.MessagesIn(0, len(sent.Items))
	}
	c.FilesRead, c.FilesWritten = x.filesOf(activity.Read, end), x.filesOf(activity.Write, end)
}

// filesOf returns the newest files of the calls of one kind before an item, each once, the newest last.
func (x *shaping) filesOf(kind activity.Kind, end int) (files []string) {
	const most = 30
	for _, call := range slices.Backward(x.known.Calls) {
		if call.Kind != kind || call.Item >= end || call.State() != "ok" {
			continue
		}
		for _, file := range call.Files {
			name := strings.Clone(event.Clip(file)) // it is a part of the body, which would stay in memory with it
			if len(files) < most && !slices.Contains(files, name) {
				files = append(files, name)
			}
		}
	}
	slices.Reverse(files)
	return files
}

// describeOutcome fills in how a compaction ended, and what to warn of.
func (x *shaping) describeOutcome() {
	p, r := &x.plan, &x.out.Report
	if p.Compaction != nil {
		x.describeCompaction()
	}
	if r.Code != event.CodeAgain { // a request that is sent again was warned of already
		x.warnOfSize()
	}
	before := r.TokensBefore.Total()
	if p.NearlyFull > 0 {
		r.warn(event.Warning{Reason: event.ReasonMessages, Tokens: before, Messages: p.NearlyFull})
	}
	const many = conversation.MaxItems * 4 / 5 // items: soon the conversation is too long to be read
	if len(x.request.Items) >= many && x.found.items < many {
		r.warn(event.Warning{Reason: event.ReasonItems, Tokens: before, Messages: r.Items})
	}
	if p.Unkept > 0 {
		r.warn(event.Warning{Reason: event.ReasonKeep, Tokens: before, Messages: p.Unkept})
	}
	usersOut := 0
	for _, e := range p.View.Added() {
		if e.Reason == event.CodeUser {
			usersOut++
		}
	}
	if usersOut > 0 {
		r.warn(event.Warning{Reason: event.ReasonUsers, Tokens: before, Messages: usersOut})
	}
}

// warnOfSize warns of a request that is near the end of its window or larger, once until a request fits again, and of a
// conversation that has reached its budget (warn_at).
func (x *shaping) warnOfSize() {
	r, last := &x.out.Report, &x.last.report
	sent := r.TokensAfter.Total()
	if r.isOverfull() && !last.isOverfull() {
		r.warn(event.Warning{Reason: event.ReasonThreshold, Tokens: r.TokensBefore.Total()})
	}
	if r.isNear() && !last.isNear() {
		r.warn(event.Warning{Reason: event.ReasonNear, Tokens: sent, Percent: 100 * sent / max(r.Window, 1)})
	}
	// Only the request that reaches the budget is warned of. record has added its tokens to those spent before; a
	// rescue is recorded later, and the refused form before it was warned of.
	spent, warnAt := x.known.Before.Tokens, x.known.Limits.WarnAt
	if x.in.Rescue == nil && warnAt > 0 && spent >= warnAt && spent-sent < warnAt {
		r.warn(event.Warning{Reason: event.ReasonBudget, Tokens: spent})
	}
}

func (r *Report) warn(w event.Warning) { r.Warnings = append(r.Warnings, w) }

func (r *Report) isOverfull() bool { return r.TokensAfter.Total() > r.Usable }

func (r *Report) isNear() bool { return event.IsNear(r.TokensAfter.Total(), r.Usable) }
