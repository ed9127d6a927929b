package rewrite

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"epitome/dialect/activity"
	"epitome/dialect/conversation"
	"epitome/event"
	"epitome/rewrite/ladder"
	"epitome/rewrite/view"
	"epitome/summarize"
	"epitome/tokenize"
)

// Report says what was done to a request, or why nothing was. Its Shaping becomes part of the exchange's event.
type Report struct {
	event.Shaping
	Action    string          // the strongest step of all edits; none without edits; bypass after a failure (Err)
	MaxOutput int             // tokens of the model that the request asks for; 0 if it does not say
	Counted   int             // tokens of the vocabulary that are sent; 0 if no ratio can be learned from them
	Source    tokenize.Source // of the ratio
	Truncates bool            // the provider itself leaves out what does not fit, and refuses nothing for its size
	Stage     ladder.Stage    // the last one that a rescue took; StageNone if there is none
	Err       error           // what failed inside epitome, so that nothing new is done
	Faults    error           // of steps that failed and were left out, while the others were taken
}

// Change is an edit, for people to read. Tokens are the model's.
type Change struct {
	view.Edit
	Tool, Argument string // of the call whose result is edited
	Before, After  int    // tokens of what the edit changes
	New            bool   // decided for this request
}

// Changes returns the edits of messages that a request is sent with, in the order of these. The last ones of edits, as
// many as added says, were decided for the request. ratio is that of tokens of the model to those of the vocabulary.
func Changes(edits []view.Edit, added int, ratio float64) (list []Change) {
	for n, e := range edits {
		if e.Op != view.AppendSystem { // which edits the system prompt
			list = append(list, Change{
				Edit: e, New: n >= len(edits)-added,
				Before: int(float64(e.Tokens+e.Saved) * ratio), After: int(float64(e.Tokens) * ratio),
			})
		}
	}
	slices.SortStableFunc(list, func(a, b Change) int { return a.Messages[0] - b.Messages[0] })
	return list
}

// Changes returns those of the request, with their calls; none if the body was not read.
func (o *Output) Changes() (list []Change) {
	if o.known == nil {
		return nil
	}
	list = Changes(o.sent.Edits, o.sent.New, o.known.Scale.Ratio)
	for n := range list {
		c := &list[n]
		if c.Op != view.Drop { // which is about no single call
			call := o.known.CallOf[c.First]
			c.Tool, c.Argument = call.Tool, call.About
		}
	}
	return list
}

// Receipt says what of the conversation stands in the body; nothing if the body was not read.
func (o *Output) Receipt() []event.Standing {
	if o.known == nil {
		return nil
	}
	sent, err := conversation.Read(o.known.Request.Dialect, o.Body, nil)
	if err != nil {
		return nil
	}
	_, words := o.sent.Compacted()
	return summarize.Receipt(o.known.Request, sent, o.known.Calls, words)
}

// describe fills in the report, once the body is built and the decision is recorded. Of the request there are three
// views: as it came, with the edits that were found, and as it is sent.
func (x *shaping) describe() {
	k, p, v, r, req := x.known, &x.plan, &x.plan.View, &x.out.Report, x.request
	r.Model, r.Items, r.Leading = event.Clip(req.Model), req.MessagesIn(0, len(req.Items)), x.subject.Leading
	r.MaxOutput, r.Streams, r.Truncates, r.CacheLife = req.MaxOutput, req.Stream, req.Truncates, req.CacheLife()
	r.ClearLine, r.CompactLine = k.OfModel(k.Limits.ClearLine), k.OfModel(k.Limits.CompactLine)
	whole, size := k.View(nil), v.Tokens()
	r.TokensBefore, r.TokensAfter = whole.Tokens().Times(k.Scale.Ratio), size.Times(k.Scale.Ratio)
	r.Estimated = req.Estimated()
	isGuess := r.TokensBefore.Images > 0 || req.Unpriced || r.Estimated
	if !isGuess && req.ServerState.Empty() && !req.Truncates { // the provider counts just these texts
		r.Counted = size.Total()
	}
	r.TakenOut = k.OfModel(max(0, x.found.view.Total-v.Total)) // below 0 where earlier edits were taken back
	if !x.in.Replay && r.Code != event.CodeMeanwhile {         // an equal request has counted them
		r.ReadAgain, r.ReadAgainTokens = k.ReadAgain(&x.found.view, x.found.items)
	}
	r.Stage, r.Faults = p.Stage, p.Faults
	if r.Err == nil {
		r.Action = actionOf(v.Edits)
	}
	r.Reason = x.reason()
	x.describeConversation()
	x.describeEdits()
	x.describeHeld()
	if x.in.Replay && !x.serves {
		return
	}
	if p.Compaction != nil {
		x.describeCompaction()
	}
	r.Warnings = x.warnings()
}

// describeConversation says of which conversation the request is. One that continues a prefix in another way than an
// earlier one did is of a new conversation: the report has the old one as Parent, and as Diverged the first message
// that differs.
func (x *shaping) describeConversation() {
	r, d, req := &x.out.Report, &x.decision, x.request
	r.Conversation, r.Parent, r.Decision = d.Conversation, d.Parent, d.Key
	if x.out.Settle != nil { // it is recorded under this key once the provider has accepted the request
		r.Decision = x.subject.Key(x.decided())
	}
	first := x.found.items // the first item that the conversation did not have before
	if first == 0 || r.Parent != "" {
		first, r.Title, r.Folder = 0, req.Title(), cmp.Or(x.in.Project, req.Folder)
	}
	r.Kept = req.KeepLines(first, len(req.Items))
	if r.Parent != "" {
		r.Diverged = req.MessagesIn(0, x.found.items) + 1 // the message behind the prefix, from 1 on
	}
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
			r.Added, r.Memory = k.OfModel(e.Tokens), k.OfModel(e.Added.Memory)
			r.Contexts = event.Clip(strings.Join(e.Added.Contexts, ", "))
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

// reason returns the report's Code in words, with numbers where the sentence of the code has none: how much no
// compaction can take out, and why one that the client asked for leaves more than it named, or is not made.
func (x *shaping) reason() string {
	k, p, v, r := x.known, &x.plan, &x.plan.View, &x.out.Report
	has := v.Tokens().Times(k.Scale.Ratio).Total()
	switch r.Code {
	case event.CodeOverhead:
		return fmt.Sprintf("system prompt, tools and first message alone take %.0fk of %.0fk tokens; "+
			"compaction cannot help", float64(k.OfModel(v.Overhead()))/1000, float64(r.Window)/1000)
	case event.NoCode, event.CodeNothingOlder, event.CodeSavesLittle, event.CodeNotDue, event.CodeFreesLittle:
		switch {
		case x.in.Replay || x.in.Rescue != nil: // nobody has asked for it now
		case p.Goal > 0 && v.Total > p.Goal:
			cut, _ := v.Compacted()
			return fmt.Sprintf("the aim was %d tokens, and %d are left: system prompt, tools, the first message, the "+
				"newest group and all else that stays take %d, the summary the rest",
				cmp.Or(x.in.CompactTo, k.OfModel(p.Goal)), has, k.OfModel(k.StaysBeside(p, cut)))
		case k.Demand.To > 0 && v.New == 0:
			return fmt.Sprintf("the request has %d tokens, and %d were asked for", has, x.in.CompactTo)
		}
	}
	return r.Code.Clause()
}

// describeCompaction fills in how a compaction ended, how much stands after one that was made, and which files it is
// about.
func (x *shaping) describeCompaction() {
	k, r := x.known, &x.out.Report
	c := &r.Compaction
	*c = *x.plan.Compaction
	c.Why = event.Clip(c.Why)
	if c.Kind != event.CompactionCompleted {
		return
	}
	end, _ := x.plan.View.Compacted()
	c.TurnsBefore = k.AnswersBefore[len(x.request.Items)]
	c.TurnsKept = c.TurnsBefore - k.AnswersBefore[end]
	c.MessagesBefore, c.SummaryTokens = r.Items, r.TokensAfter.Summary
	if sent, err := conversation.Read(x.in.Dialect, x.out.Body, nil); err == nil { // it was verified when it was built
		c.MessagesAfter = sent.MessagesIn(0, len(sent.Items))
	}
	c.Receipt = x.out.Receipt()
	for i := range c.Receipt {
		c.Receipt[i].Missing = nil // events have no texts
	}
	c.FilesRead, c.FilesWritten = x.filesOf(activity.Read, end), x.filesOf(activity.Write, end)
}

// filesOf returns the newest files of the calls of one kind before an item, each once, the newest last.
func (x *shaping) filesOf(kind activity.Kind, end int) (files []string) {
	const most = 1_000 // tokens, about
	span := summarize.Span{Calls: x.known.Calls, To: end}
	for name := range strings.Lines(span.Files(kind, most, nil)) {
		files = append(files, event.Clip(strings.TrimSpace(name)))
	}
	return files
}

// warnings returns what the user is to be told of the request. Of one that is sent again, its size was told before.
func (x *shaping) warnings() (list []event.Warning) {
	const many = conversation.MaxItems * 4 / 5 // items: soon the conversation is too long to be read
	k, p, r, last := x.known, &x.plan, &x.out.Report, &x.last.report
	before, after := r.TokensBefore.Total(), r.TokensAfter.Total()
	warn := func(is bool, w event.Warning) {
		if is {
			list = append(list, w)
		}
	}
	due := x.waits()
	warn(due != "", event.Warning{Reason: event.ReasonWaits, Tokens: k.Before.Tokens + k.OfModel(x.found.view.Total),
		Why: cmp.Or(p.Reason, event.CodeNothingOlder).Clause(), Due: due})
	warn(p.Reason == event.CodeOverhead && !k.Before.Warned,
		event.Warning{Reason: event.ReasonOverhead, Tokens: k.OfModel(p.View.Overhead())})
	if r.Code != event.CodeAgain {
		warn(r.isOverfull() && !last.isOverfull(), event.Warning{Reason: event.ReasonThreshold, Tokens: before})
		warn(r.isNear() && !last.isNear(),
			event.Warning{Reason: event.ReasonNear, Tokens: after, Percent: 100 * after / max(r.Window, 1)})
		// Only the request that reaches the budget is warned of. record has added its tokens to those spent before; a
		// rescue is recorded later, and the refused form before it was warned of.
		spent, warnAt := x.decision.Tokens, k.Limits.WarnAt
		warn(x.in.Rescue == nil && warnAt > 0 && spent >= warnAt && spent-after < warnAt,
			event.Warning{Reason: event.ReasonBudget, Tokens: spent})
	}
	usersOut := 0
	for _, e := range p.View.Added() {
		if e.Reason == event.CodeUser {
			usersOut++
		}
	}
	warn(p.NearlyFull > 0, event.Warning{Reason: event.ReasonMessages, Tokens: before, Messages: p.NearlyFull})
	warn(len(x.request.Items) >= many && x.found.items < many,
		event.Warning{Reason: event.ReasonItems, Tokens: before, Messages: r.Items})
	warn(p.Unkept > 0, event.Warning{Reason: event.ReasonKeep, Tokens: before, Messages: p.Unkept})
	warn(usersOut > 0, event.Warning{Reason: event.ReasonUsers, Tokens: before, Messages: usersOut})
	return list
}

// waits returns what calls for a compaction that cannot be made, if the user is to be told: each time that the agent
// asks for one, and once in a cycle if the user's budget or compact_turns does.
func (x *shaping) waits() (due string) {
	k, p := x.known, &x.plan
	b := k.Budget(p)
	isMade := p.Compaction != nil && p.Compaction.Kind == event.CompactionCompleted
	isTold := p.Reason == event.NoCode || k.Before.Waits
	isUndecided := x.in.Replay || p.Reason == event.CodeClientSummarises || p.Reason == event.CodeManyNew
	if !b.HasRoom() || isMade || isUndecided || isTold && b.Trigger != event.ReasonAgent {
		return ""
	}
	return b.Trigger
}

// fail says that nothing new is done, as something failed.
func (r *Report) fail(err error) {
	r.Action, r.Code, r.Err = event.ActionBypass, event.CodeFailed, err
}

func (r *Report) isOverfull() bool { return r.TokensAfter.Total() > r.Usable }

func (r *Report) isNear() bool { return event.IsNear(r.TokensAfter.Total(), r.Usable) }
