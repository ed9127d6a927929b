// Package compact is rung 3: old turns become one summary, and the newest groups stay.
//
// It promises that the cut falls between groups, that users' messages are told word for word or moved whole into the
// transcript, and that a compaction that saves too little leaves the plan as it was. A model is asked for prose through
// plan.Summariser; without an answer the summary is made by code.
package compact

import (
	"slices"

	"epitome/event"
	"epitome/prose"
	"epitome/rewrite/conversation"
	"epitome/rewrite/decision"
	"epitome/rewrite/history"
	"epitome/rewrite/plan"
	"epitome/rewrite/recap"
)

// compaction is rung 3: the span from the opening to a cut becomes one text, and a tail of whole groups stays as it is.
type compaction struct {
	P           *plan.Plan
	room        recap.Budgets
	from, to    int        // items behind the head
	compactedTo int        // end of what was left out by earlier ones
	callers     []int      // of each item, the item whose call it answers; -1 if it answers none
	outdated    []bool     // of each item, whether a later one says it anew
	fixed       int        // tokens of what stays whatever is left out: all but the span and the tail
	summarySize int        // tokens that the recap takes, at most, about
	tail        int        // tokens that may stay behind the cut
	target      int        // tokens to which the request is to come down
	minimal     bool       // the newest group stays whole here: fit cuts as much of it as it must
	says        recap.Says // what a model says of the span
	mark        string     // the client's last mark for the provider's cache, if it goes with the span; else empty
}

// NoOlder is why nothing is compacted where there is nothing but the newest group.
var NoOlder = plan.Why{Code: event.CodeNothingOlder, Words: "there is no older group that could be left out"}

// noPlace is why nothing is compacted where a summary can stand nowhere.
var noPlace = plan.Why{Code: event.CodeNoPlace, Words: "what never goes leaves no place where a summary may stand"}

// noSmaller is why nothing is compacted where that makes nothing smaller.
var noSmaller = plan.Why{Code: event.CodeNoSmaller,
	Words: "a summary would take at least as many tokens as what it could replace"}

// RunCompaction replaces old items by a recap. It says why it did not, if so.
func RunCompaction(p *plan.Plan) (reason plan.Why) {
	c := newCompaction(p, recap.BudgetsOf(p))
	c.tail = max(min(c.P.Limits.KeepTail, c.target-c.fixed-c.summarySize), decision.LeastTail)
	least := int(decision.LeastGain * float64(p.Total()))
	if p.Case.MayOverwrite() {
		least = 0
	}
	reason = c.run(least)
	if reason.Code != event.NoCode && c.fixed > c.target && least > 0 {
		return plan.Because(event.CodeFixedOverTarget, "what is never left out (system prompt, tools, the first user "+
			"message) has %s tokens, compact_to allows %s, and all else is less than a tenth of the request",
			plan.Amount(p, c.fixed), plan.Amount(p, c.target))
	}
	return reason
}

// RunMinimalCompaction is compact where every token counts: next to nothing of the recap and of the tail stays. If even
// that would not fit, it must save as much as any other, so that it is not done again and again.
func RunMinimalCompaction(p *plan.Plan) (reason plan.Why) {
	const tail = 0.1 // of usable
	c := newCompaction(p, recap.BudgetsOf(p).Shrink())
	c.tail, c.minimal = max(min(int(tail*float64(c.P.Limits.Usable)), c.P.Limits.Usable-c.fixed-c.summarySize), 0), true
	if c.says = c.earlierProse(); p.Count(c.says.Text) > int(tail*float64(c.P.Limits.Usable)) {
		c.says = recap.Says{}
	}
	c.summarySize += p.Count(c.says.Text) - c.room.Prose // no more is asked for
	return c.run(int(decision.LeastGain * float64(p.Total())))
}

// LeaveBare leaves out all up to the last tool's or assistant's item, if that makes the request smaller.
func LeaveBare(p *plan.Plan) {
	c := newCompaction(p, recap.BudgetsOf(p).Shrink())
	if c.to = c.P.End; c.to <= c.from {
		return
	}
	total, why := c.P.Total(), plan.Why{}
	c.noteBegin()
	switch before := c.P.Checkpoint(); {
	case !c.writeSummary():
		c.P.Undo(before)
		why = noPlace
	case c.P.Total() >= total:
		c.P.Undo(before)
		why = noSmaller
	}
	c.noteEnd(total, why)
}

// newCompaction works out what a compaction of the plan has to work with.
func newCompaction(p *plan.Plan, b recap.Budgets) *compaction {
	c := &compaction{P: p, room: b, from: plan.OpeningOf(p), callers: p.Req.Callers(),
		target: int(p.Limits.Conf.Target * float64(p.Limits.Usable))}
	c.compactedTo = max(c.from, plan.CompactedEnd(p))
	c.outdated = outdatedNotes(p, c.compactedTo)
	users, latest := 0, 0
	c.fixed = c.P.Size.Total() - c.P.Hist.Size.Total()
	for i := range c.P.End {
		switch {
		case i == c.from-1:
			c.fixed += ownSize(c.P, i) // without an earlier recap
		case i < c.from || c.stays(i):
			c.fixed += c.P.SentSize(i)
		case c.P.Req.Items[c.P.Req.Head+i].Role == conversation.User:
			latest = c.P.Hist.Sizes[i]
			users += latest
		}
	}
	c.summarySize = b.Estimate(users, latest)
	return c
}

// run does it if that saves more than so many tokens. If it does not, nothing has changed.
func (c *compaction) run(least int) (reason plan.Why) {
	newest := c.findCut()
	if c.to < 0 {
		return NoOlder
	}
	saved, total := c.savings(), c.P.Total()
	list, large := tailResults(c, newest)
	if room := plan.Room(c.P, total-saved); c.minimal && total-saved <= room && room < total {
		least = 0
	}
	little := plan.Why{Code: event.CodeSavesLittle, Words: "what could be left out is less than a tenth of the request"}
	if c.P.Case.Manual {
		little = noSmaller
	}
	if saved+large+c.slack() <= least {
		return little
	}
	c.noteBegin()
	if !c.minimal && c.to > c.from {
		c.findProse(total - saved)
	}
	if c.P.Ask.Deserted {
		return plan.Why{}
	}
	before := c.P.Checkpoint()
	if large > 0 {
		c.shrinkTail(list, large)
	}
	placed := c.to <= c.from || c.writeSummary()
	if !placed {
		little = noPlace
	}
	if !placed || total-c.P.Total() <= least { // names took more than was thought
		c.P.Undo(before)
		c.noteEnd(total, little)
		return little
	}
	c.noteEnd(total, plan.Why{})
	return plan.Why{}
}

// savings is how many tokens go with the span, less what comes in its place.
func (c *compaction) savings() int {
	if c.to <= c.from { // all there is is the newest group
		return 0
	}
	n := c.spanSize(c.to) - c.summarySize
	if c.from > 0 { // an earlier recap goes with it
		n += c.P.SentSize(c.from-1) - ownSize(c.P, c.from-1)
	}
	return n
}

// slack is what of the recap may not be needed. Where somebody asked for it, a short span is tried: it is measured
// afterwards.
func (c *compaction) slack() int {
	if !c.P.Case.Manual || c.minimal || c.to <= c.compactedTo {
		return 0
	}
	b := c.room
	return b.OfCode() + b.Turns
}

// spanSize is how many tokens go with the items before a cut.
func (c *compaction) spanSize(to int) (n int) {
	for i := c.from; i < to; i++ {
		if !c.stays(i) {
			n += c.P.SentSize(i)
		}
	}
	return n
}

// findCut finds the first item behind the span: an assistant's, so that no result is parted from its call, with no more
// behind it than the tail may have. If the newest group alone is more, it is the tail all the same. newest is where
// that one begins.
func (c *compaction) findCut() (newest int) {
	newest, c.to = -1, -1
	c.eachCut(func(i, have int) bool {
		if newest < 0 {
			newest = i
		}
		if have <= c.tail {
			c.to = i
		}
		return have <= c.tail
	})
	if c.to < 0 {
		c.to = newest
	}
	return newest
}

// eachCut gives f each place where the tail may begin, the last one first, with the tokens behind it, until f returns
// false.
func (c *compaction) eachCut(f func(i, have int) bool) {
	have, called, last := 0, plan.Never, min(c.P.End-1, plan.NewestGroup(c.P))
	for i := c.P.Hist.Len() - 1; i >= c.compactedTo; i-- {
		have += c.P.SentSize(i)
		if k := c.callers[i]; k >= c.from {
			called = min(called, k)
		}
		if !c.P.Req.Items[c.P.Req.Head+i].Begins || i > last || called < i || c.P.IsGone(i) {
			continue
		}
		if !f(i, have) {
			return
		}
	}
}

// tailResults returns the results from item i on that may be shortened, and by how many tokens together they are too
// large for the tail. What the model has not seen yet is none of them.
func tailResults(c *compaction, i int) (list []*history.Result, large int) {
	if c.minimal {
		return nil, 0
	}
	have, most := -c.tail, 0
	if c.P.Case.Rescue != nil { // what the model has not seen may be cut here too, but no more of it than must be
		have = -max(c.tail, min(c.P.Limits.KeepTail, c.P.Limits.Usable-c.fixed-c.summarySize))
	}
	for ; i < c.P.Hist.Len(); i++ {
		have += c.P.SentSize(i)
		k := c.P.Hist.ResultAt[i]
		if k < 0 {
			continue
		}
		if res := &c.P.Hist.Results[k]; plan.IsShrinkable(c.P, res) && !plan.MustBeShown(c.P, res) {
			list, most = append(list, res), most+c.P.SentSize(i)
		}
	}
	return list, max(min(have, most), 0)
}

// shrinkTail shortens the largest of the results, by about large tokens together.
func (c *compaction) shrinkTail(list []*history.Result, large int) {
	keep := plan.Level(c.P, list, large)
	for _, res := range list {
		if c.P.SentSize(res.Item) > keep {
			plan.ShrinkResult(c.P, res, keep-plan.StubTokens)
		}
	}
}

// writeSummary puts the recap in the place of the span. What stays of it stays where it is. It reports whether what is
// sent then may stand so.
func (c *compaction) writeSummary() bool {
	list, fresh := segmentsOf(c)
	if len(list) == 0 {
		return false
	}
	for _, g := range list[fresh:] {
		c.leaveOut(g)
	}
	c.dropOldSummary()
	names := make([]string, len(list))
	for k, g := range list {
		names[k] = c.P.Forms[g.First].Artifacts()[0]
	}
	known := recap.Beside{Says: c.says, Where: "Each part of it is where its line says"}
	if c.P.Ask.Style.Mode == prose.ModeLossless {
		known.Turns = partLines(c, list, names)
	}
	if known.Turns == "" {
		known.Where = whereAll(c, list, names)
	}
	text, files := recap.Of(recap.Span{Plan: c.P, From: c.from, To: c.to, Callers: c.callers}, known, c.room)
	c.P.Result.FilesNamed, c.mark = files, plan.MarkLeftOut(c.P)
	runs := runsLeftOut(c)
	switch {
	case c.to == c.P.Hist.Len(): // nothing is sent behind it
		slices.Reverse(runs)
		placeMessage(c, runs, text)
	case !c.appendToHead(c.from-1, text):
		placeMessage(c, runs, text)
	}
	return !plan.BreaksOrder(c.P)
}

// placeMessage puts a message with the text in the place of the first of the runs where it may stand, or else of the
// last one.
func placeMessage(c *compaction, runs []int, text string) {
	order, message := plan.SequenceOf(c.P), summaryMessage(c, text)
	for _, i := range runs {
		if i == runs[len(runs)-1] || order.Stands(i, i+c.P.Forms[i].Fold, message) {
			c.insertMessage(i, text)
			return
		}
	}
}

// dropOldSummary takes back an earlier recap that stands for a run of items, or that would be sent beside this one.
func (c *compaction) dropOldSummary() {
	for i := c.from; i < c.to; i++ {
		if f := c.P.Forms[i]; f != nil && f.With != "" && i+f.Fold < c.P.Hist.Len() {
			g := *f
			g.With, g.Mark, g.Prose, g.Now, g.Name = "", "", "", 0, decision.Ref{}
			c.P.Forms[i] = &g
			c.P.Sheet.NewForms[i] = true
		}
	}
	if i := c.from - 1; i >= 0 && c.P.Forms[i] != nil && c.to == c.P.Hist.Len() {
		f := &decision.Form{Rung: decision.RungCompact, Now: c.P.Hist.Sizes[i]}
		if isLeft(c.P, i) {
			f = leftForm(c.P, i, sentRecap{}, false)
		}
		c.P.Set(i, f, plan.Why{Code: event.CodeSummaryMoved, Words: "the summary stands elsewhere"})
	}
}

// runsLeftOut are the first items of the runs of the span that are left out.
func runsLeftOut(c *compaction) (list []int) {
	for i := c.from; i < c.to; i++ {
		if f := c.P.Forms[i]; f != nil && f.Fold > 0 && !c.stays(i) {
			list = append(list, i)
		}
	}
	return list
}

// segmentsOf are the parts of the span of which each has its transcript, and from which of them on they are new. A new
// one takes in those before it that are no larger: so there are few, and no message is kept often.
func segmentsOf(c *compaction) (list []conversation.Group, fresh int) {
	i := c.from
	for i < c.to {
		if n := segmentAt(c, i); n > 0 {
			list = append(list, conversation.Group{First: i, End: i + n})
			i += n
		} else if c.stays(i) {
			i++
		} else {
			break
		}
	}
	fresh = len(list)
	if i == c.to {
		return list, fresh
	}
	if c.P.Ask.Style.Mode == prose.ModeLossless {
		return partsByTurn(c, list, i)
	}
	list = append(list, conversation.Group{First: i, End: c.to})
	bytes := func(g conversation.Group) int { return len(c.P.Req.BytesOf(g.First, g.End-g.First)) }
	for n := len(list); n > 1 && bytes(list[n-2]) <= bytes(list[n-1]); n-- {
		list[n-2].End = list[n-1].End
		list = list[:n-1]
	}
	return list, min(fresh, len(list)-1)
}

// segmentAt is how many items the segment has that begins with item i; 0 if none does, or if it was meddled with since.
func segmentAt(c *compaction, i int) int {
	if c.P.Forms[i] == nil {
		return 0
	}
	n := c.P.Forms[i].Over
	for k := i; k < i+n; k++ {
		if f := c.P.Forms[k]; !c.stays(k) && (f == nil || f.Rung != decision.RungCompact) {
			return 0
		}
	}
	return n
}

// leaveOut sends nothing for a segment but what stays of it.
func (c *compaction) leaveOut(g conversation.Group) {
	gone := &decision.Form{Rung: decision.RungCompact, Gone: true}
	runs := runsOf(c, g)
	for n, run := range runs {
		f := &decision.Form{Rung: decision.RungCompact, Fold: run.End - run.First, Kept: nameOfSegment(c, run),
			At: c.P.Hist.Answers[c.P.End-1]}
		if n == 0 {
			f.Over = g.End - g.First
			if len(runs) > 1 {
				f.Told = nameOfSegment(c, g)
			}
			f.Text = c.P.Shelf.Name(c.P.Route.Scope, f.Transcript(c.P.Req, run.First))
		}
		c.P.Set(run.First, f, plan.WhyCompacted(c.P))
		for k := run.First + 1; k < run.End; k++ {
			c.P.Sheet.NewForms[k] = true
			if !c.P.IsGone(k) {
				c.P.Forms[k] = gone
			}
		}
	}
}

// runsOf are the parts of a segment between what stays of it. The first one begins where it does.
func runsOf(c *compaction, g conversation.Group) (list []conversation.Group) {
	for i := g.First; i < g.End; i++ {
		switch n := len(list); {
		case c.stays(i):
		case n > 0 && list[n-1].End == i:
			list[n-1].End++
		default:
			list = append(list, conversation.Group{First: i, End: i + 1})
		}
	}
	return list
}

// nameOfSegment is the artifact that holds the messages of a segment, as they stand in the body.
func nameOfSegment(c *compaction, g conversation.Group) string {
	return c.P.Shelf.Name(c.P.Route.Scope, c.P.Req.BytesOf(g.First, g.End-g.First))
}

// appendToHead writes a text behind what item i says, if it says anything.
func (c *compaction) appendToHead(i int, text string) bool {
	if i < 0 {
		return false
	}
	if _, ok := c.P.Req.Dialect.Append(c.P.Req, &c.P.Req.Items[c.P.Req.Head+i], ""); !ok {
		return false
	}
	text = "\n\n" + text
	f := &decision.Form{Rung: decision.RungCompact, Patches: []decision.Patch{{Place: conversation.Behind, Text: text}},
		Now: c.P.Hist.Sizes[i] + c.P.Count(text)}
	if isLeft(c.P, i) {
		f = leftForm(c.P, i, sentRecap{text, c.says}, false)
	}
	f.Prose, f.Until, f.Mark = c.says.Text, c.says.Until, c.mark
	c.P.Set(i, f, plan.Why{Code: event.CodeSummary, Words: "the summary stands behind it"})
	return true
}

// summaryMessage is a message of the user's with a text.
func summaryMessage(c *compaction, text string) string {
	return string(c.P.Req.Dialect.Message(conversation.User, text))
}

// insertMessage puts a message with the text in the place of the run that item i begins.
func (c *compaction) insertMessage(i int, text string) {
	f := *c.P.Forms[i]
	f.With = summaryMessage(c, text)
	f.Now, f.At = plan.MessageTokens(c.P, text), c.P.Hist.Answers[c.P.End-1]
	f.Prose, f.Until, f.Mark, f.Name = c.says.Text, c.says.Until, c.mark, decision.Ref{}
	c.P.Set(i, &f, plan.Why{Code: f.Why, Words: "the summary stands for it"})
}
