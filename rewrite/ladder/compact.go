package ladder

import (
	"slices"

	"epitome/dialect/activity"
	"epitome/dialect/conversation"
	"epitome/event"
	"epitome/rewrite/view"
	"epitome/summarize"
)

// compact replaces old groups by a summary if something calls for it. If the request does not fit even then, or misses
// its Goal, a smaller summary replaces more groups, without a model's words if it must. Else compact may have the model's
// words for a summary made ahead of need. No model is asked for a crowded request.
func (k *Known) compact(p *Plan) {
	b := k.Budget(p)
	if b.Trigger == "" {
		k.prepareWords(p, b)
		return
	}
	p.Goal = k.goal(p.View.Total, b.Most)
	k.newCompaction(p, false).run()
	savesLittle := p.Reason == event.CodeSavesLittle && b.HasRoom()
	if savesLittle || p.View.Total > b.Most || k.missesGoal(p) {
		k.newCompaction(p, true).run()
	}
	_, words := p.View.Compacted()
	if k.missesGoal(p) && words.Text != "" {
		c := k.newCompaction(p, true)
		c.words = summarize.Says{}
		c.run()
	}
	k.compactHard(p, b)
	if p.Compaction != nil && p.Compaction.Kind == event.CompactionCompleted {
		p.Compaction.TokensAfter = k.OfModel(p.View.Total)
	}
}

// missesGoal reports whether the request is over its Goal. One that nobody named is no reason to make a good summary
// smaller, as long as little is left beside the Overhead.
func (k *Known) missesGoal(p *Plan) bool {
	v := &p.View
	return p.Goal > 0 && v.Total > p.Goal && (k.Demand.To > 0 || v.Total-v.Overhead() > leastRoom)
}

// compactHard takes out what else has to go for the request to fit: the middle of results, then groups with results
// that Limit.Keep keeps, and of a crowded request all groups, even the newest one with its calls.
func (k *Known) compactHard(p *Plan, b Budget) {
	if p.View.Total > b.Most {
		k.fitResults(p, b)
	}
	isKept := func(g conversation.Group) bool { return k.isKept(p, g) }
	if p.View.Total > b.Most && slices.ContainsFunc(k.Request.Groups(), isKept) {
		p.MayDrop = true
		k.newCompaction(p, true).run()
	}
	if b.IsCrowded && p.View.Total > b.Most {
		k.newCompaction(p, true).replace(k.prefixEnd, 0)
	}
}

// compaction is one in the making: the items from the head to a cut become a summary, the groups behind the cut stay.
type compaction struct {
	known  *Known
	plan   *Plan
	budget Budget
	parts  summarize.Budgets // sizes of the summary's parts; Spare is what is free even then, and may be filled
	size   int               // tokens that the summary takes, about
	tail   int               // tokens that may stay behind the cut
	turns  int               // the same for the turns of Limits.KeepTurns; a quarter of what fits is left free
	done   int               // end of the items that the compaction before has taken out; the head if there was none
	words  summarize.Says    // a model's words for the summary: those of the last summary, until there are newer ones
	orders map[int][]string  // the user's standing orders that were found, by item
	least  bool              // all that can go has to: the summary and the tail are small, and no model is asked
}

func (k *Known) newCompaction(p *Plan, least bool) *compaction {
	c := &compaction{known: k, plan: p, budget: k.Budget(p), orders: map[int][]string{}, least: least}
	c.done, c.words = p.View.Compacted()
	if k.Model.Words != nil && c.done > k.Request.Head { // maybe words that came too late for the last summary
		late, isReady, _ := k.Model.Words(c.done, c.words, false)
		if isReady {
			c.words = summarize.Says{Text: late.Text, Until: c.done}
		}
	}
	c.parts = c.summaryRoom()
	isNamed := k.Demand.To > 0 || k.Limits.KeepTurns > 0
	isScarce := least || c.budget.IsCrowded || c.budget.HasRoom() || isNamed // or little is to be saved
	// The cut is not known yet, so this is the size for the longest span.
	if isScarce {
		c.size = c.count(k.prefixEnd)
	} else {
		c.size = summarize.Size(c.span(k.prefixEnd))
	}
	c.divide()
	return c
}

// asks reports whether a model may be asked for the summary.
func (c *compaction) asks() bool {
	return !c.least && c.known.Model.Words != nil && !c.budget.IsCrowded
}

// span returns the part of the conversation that a summary replaces: the items from the end of the head to the cut.
func (c *compaction) span(cut int) summarize.Span {
	k := c.known
	return summarize.Span{
		Request: k.Request, Calls: k.Calls, From: k.Request.Head, To: cut, End: k.prefixEnd,
		Count: k.Scale.CountText, Budgets: c.parts, Found: c.orders,
	}
}

// findCut returns the first item of the earliest answer from which on the request has at most tail tokens; if even
// the last answer has more, its first item. Limits.KeepTurns answers stay in any case if they fit. It is -1 if no
// answer follows the items that the last compaction took out.
func (c *compaction) findCut() int {
	k, v := c.known, &c.plan.View
	first := c.done + 1 // a cut before takes out nothing new
	if c.plan.Goal > 0 && c.least {
		first = c.done
	}
	cut, tail, turns := -1, 0, 0
	for _, g := range slices.Backward(k.Request.Groups()) {
		if !k.isKept(c.plan, g) { // sizeAfter counts it, as it stays anyway
			tail += v.Sent(g.First, g.End)
		}
		if g.First >= k.prefixEnd { // always stays
			continue
		}
		hasTurns := turns >= k.Limits.KeepTurns || tail > c.turns
		if g.First < first || cut >= 0 && tail > c.tail && hasTurns {
			break
		}
		// An answer can follow the summary, which is sent as the user's words.
		if v.Sends(g.First, g.End) && k.Request.Items[g.First].StartsAnswer {
			cut = g.First
			turns++
		}
	}
	return cut
}

// run makes the compaction if it saves enough.
func (c *compaction) run() {
	k, p := c.known, c.plan
	cut := c.findCut()
	if cut < 0 {
		p.Reason = event.CodeNothingOlder
		return
	}
	// By an estimate: if asked for, the summary is made and measured.
	if !k.Demand.Asked && p.View.Total-c.sizeAfter(cut) <= c.budget.Least {
		p.Reason = event.CodeSavesLittle
		return
	}
	if p.Compaction == nil { // else this is a later attempt for the request, with the report of the first
		p.Compaction = &event.Compaction{
			Kind: event.CompactionFailed, Reason: c.budget.Trigger, Mode: string(k.Model.Mode),
			TokensBefore: k.OfModel(p.View.Total),
		}
	}
	if k.Limits.KeepTurns > 0 { // they may have taken the room that is to be filled
		c.parts.Spare = min(c.parts.Spare, max(0, c.budget.Target-c.sizeAfter(cut)))
	}
	if c.asks() {
		cut = c.findWords(cut)
	}
	if !c.replace(cut, c.budget.Least) {
		p.Reason = event.CodeSavesLittle
		if p.Compaction.Kind == event.CompactionFailed { // else the summary of the first attempt is sent
			p.Compaction.Why = p.Reason.Clause()
		}
		return
	}
	p.Reason, p.Compaction.Kind = event.NoCode, event.CompactionCompleted
	if c.words.Text == "" && k.Model.Words != nil {
		p.Compaction.Mode = string(summarize.Intent) // as a model's words were wanted, and there are none
	}
}

// findWords sets c.words to a model's words about the items before a cut, and returns the cut that they are for: the
// cut for which words were prepared, if that makes the request small enough, else the given one. A model may be asked
// then.
func (c *compaction) findWords(cut int) int {
	prepared := c.plan.Prepared
	after := c.sizeAfter(prepared)
	isSmall := after <= c.budget.Prepare && (c.plan.Goal == 0 || after <= c.plan.Goal)
	if prepared > c.done && prepared < c.known.prefixEnd && isSmall {
		cut = prepared // the words may still be in the making: Words waits for them
	}
	report := c.plan.Compaction
	words, isReady, err := c.known.Model.Words(cut, c.words, true)
	report.Prepared, report.Cost = isReady, words.Cost
	if err != nil {
		report.Why = err.Error()
		return cut
	}
	c.words = summarize.Says{Text: words.Text, Until: cut}
	return cut
}

// prepareWords has a model's words for the next summary made in the background once the request is over the line for
// that, so that no client has to wait for them.
func (k *Known) prepareWords(p *Plan, b Budget) {
	if p.View.Total <= b.Prepare {
		p.Prepared = 0
		return
	}
	done, _ := p.View.Compacted()
	isAsked := p.Prepared > done
	if k.Model.Words == nil || isAsked || b.IsCrowded {
		return
	}
	c := k.newCompaction(p, false)
	cut := c.findCut()
	isWorth := cut >= 0 && float64(c.sizeAfter(cut)) < (1-minGain)*float64(p.View.Total)
	if isWorth && k.Model.Prepare(cut, c.words) {
		p.Prepared = cut
	}
}

// replace puts the summary in the place of the items from the head to the cut, except groups that stay in place. It
// returns false if this saves least tokens or fewer, or hardly any, and nothing changes then.
func (c *compaction) replace(cut, least int) bool {
	k, p := c.known, c.plan
	edits := k.drops(p, k.Request.Head, cut)
	if len(edits) == 0 {
		return false
	}
	span, summary := c.span(cut), &edits[0] // the other edits only take out
	span.Left = k.messagesIn(edits)
	span.From, span.To = summary.First, edits[len(edits)-1].End() // as in the transcript: pinned groups may be beside
	for i := range k.Request.Items {
		isBeside := i < k.Request.Head || i >= cut
		if isBeside && p.View.Forms[i].IsWhole() {
			span.Sent = append(span.Sent, k.Request.TextOf(&k.Request.Items[i]))
		}
	}
	k.setText(summary, c.text(span, cut, k.TranscriptAt(summary.Artifacts)))
	summary.Words = c.words
	_, p.Unkept = span.Kept()
	next := k.with(p.View, view.StepCompact, c.budget.Reason, edits...)
	if p.View.Total-next.Total <= max(least, leastSaving) { // less may be nothing, as the provider counts
		return false
	}
	p.View = next
	return true
}

// drops returns edits that take out items [first, end), in whole groups, except groups that stay in place: an edit for
// each run of groups between these. All share the artifacts of one transcript. The caller has to set a text on the
// first. Groups behind end go with them that are gone already and whose note stands before end, as it is replaced.
func (k *Known) drops(p *Plan, first, end int) (edits []view.Edit) {
	items := k.Request.Items
	roleBehind := conversation.Unknown // of the next item that stays
	if end < len(items) {
		roleBehind = items[end].Role
	}
	for _, g := range slices.Backward(k.Request.Groups()) {
		if g.First < first || g.End > end && !isNotedIn(&p.View, g.First, first, end) {
			continue
		}
		mayStand := roleBehind != conversation.User || !k.Request.Dialect.API().SystemAsks
		if k.isPinned(g) || k.isKept(p, g) || k.staysInPlace(p, g) && mayStand {
			roleBehind = items[g.First].Role
			continue
		}
		if n := len(edits); n > 0 && edits[n-1].First == g.End {
			edits[n-1].First = g.First
			edits[n-1].Count += g.End - g.First
			continue
		}
		edits = append(edits, view.Edit{First: g.First, Count: g.End - g.First, Op: view.Drop})
	}
	if len(edits) == 0 {
		return nil
	}
	slices.Reverse(edits)
	artifacts := k.KeepItems(edits[0].First, edits[len(edits)-1].End()) // KeepAgain finds this range in the edits
	for n := range edits {
		e := &edits[n]
		e.Artifacts, e.Saved = artifacts, k.Size(e.First, e.End())
	}
	return edits
}

// isNotedIn reports whether item i is taken out by an edit without a text, as the text of one within items [first, end)
// stands for both.
func isNotedIn(v *view.View, i, first, end int) bool {
	if !v.Forms[i].Gone {
		return false
	}
	isOf := func(e view.Edit) bool { return e.Op == view.Drop && e.First <= i && i < e.End() }
	of := v.Edits[slices.IndexFunc(v.Edits, isOf)]
	return slices.ContainsFunc(v.Edits, func(e view.Edit) bool {
		isShared := len(of.Artifacts) > 0 && slices.Contains(e.Artifacts, of.Artifacts[0])
		return e.Op == view.Drop && first <= e.First && e.First < end && isShared && of.Text == ""
	})
}

// staysInPlace reports whether a group stays in place, whatever goes around it: it is pinned or kept, or is a message of
// the system, whose instructions still hold, that is not gone yet.
func (k *Known) staysInPlace(p *Plan, g conversation.Group) bool {
	isSystem := k.Request.Items[g.First].Role == conversation.System && !p.View.Forms[g.First].Gone
	return isSystem || k.isPinned(g) || k.isKept(p, g)
}

// isKept reports whether a group that is not gone yet has a result of a tool with Limit.Keep, and may stay.
func (k *Known) isKept(p *Plan, g conversation.Group) bool {
	if p.MayDrop || p.View.Forms[g.First].Gone {
		return false
	}
	return slices.ContainsFunc(k.CallOf[g.First:g.End], func(c *activity.Call) bool {
		return k.Limits.toolLimit(c.Tool).Keep
	})
}

// StaysBeside returns the tokens that stay beside a summary of the items before a cut: the Overhead, what no compaction
// takes out, and what is behind the cut.
func (k *Known) StaysBeside(p *Plan, cut int) int {
	n := p.View.Total
	for _, g := range k.Request.Groups() {
		if g.End <= cut && !k.staysInPlace(p, g) {
			n -= p.View.Sent(g.First, g.End)
		}
	}
	return n
}
