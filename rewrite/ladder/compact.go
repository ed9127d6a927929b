package ladder

import (
	"slices"

	"epitome/event"
	"epitome/prose"
	"epitome/rewrite/conversation"
	"epitome/rewrite/ledger"
	"epitome/rewrite/recap"
)

const (
	minGain = 0.1 // share of a request that a compaction has to save
	minTail = 500 // tokens that stay behind a cut
)

// Prose is what a model says about the items up to end, as far as it was asked. Look and Ask are about the text that
// updates earlier.
type Prose interface {
	// Look returns a text that is there; pending says that one is being made.
	Look(end int, earlier recap.Says) (text string, ready, pending bool)
	// Ask waits for one. An error says why there is none.
	Ask(end int, earlier recap.Says) (text string, cost event.Cost, err error)
	// Prepare has one made in the background; false if that may not be.
	Prepare(end int, earlier recap.Says) bool
}

// Compact replaces old groups by a summary where the request is over its line, or a compaction was asked for; where it
// is not, it may have a summary made ahead of need.
func Compact(s *State) {
	if s.whyCompact() == "" {
		prepare(s)
	} else {
		compact(s)
	}
}

// whyCompact is the reason for a compaction; empty if there is none.
func (s *State) whyCompact() string {
	switch {
	case s.Refused:
		return event.ReasonOverflow
	case s.Asked:
		return event.ReasonManual
	case s.Total() > s.Limits.CompactLine:
		return event.ReasonThreshold
	case s.OverBudget:
		return event.ReasonBudget
	}
	return ""
}

// codes are the reasons for a compaction, as its edits have them.
var codes = map[string]event.Code{event.ReasonOverflow: event.CodeRefused, event.ReasonManual: event.CodeAsked,
	event.ReasonThreshold: event.CodeLine, event.ReasonBudget: event.CodeBudget}

// compact replaces old groups by a summary. Where the request does not fit even so, little stays of the summary and of
// the newest groups, and then of results.
func compact(s *State) {
	newCompaction(s, false).run()
	if s.Total() > s.Limits.Usable {
		newCompaction(s, true).run()
	}
	if s.Total() > s.Limits.Usable {
		fitResults(s)
	}
	if s.Compaction != nil && s.Compaction.Kind == event.CompactionCompleted {
		s.Compaction.TokensAfter = s.OfModel(s.Total())
	}
}

// compaction is one in the making: the items from the head to a cut become a summary, and the groups behind it stay.
type compaction struct {
	*State
	reason  string
	minimal bool // every token counts, and no model is asked
	budgets recap.Budgets
	summary int // tokens that the summary takes, about
	tail    int // tokens that may stay behind the cut
	says    recap.Says
}

func newCompaction(s *State, minimal bool) *compaction {
	const minimalTail = 0.1 // of usable
	c := &compaction{State: s, reason: s.whyCompact(), minimal: minimal, says: s.says,
		budgets: recap.BudgetsFor(s.Style, s.Limits.Window, s.Scale.Ratio)}
	keep, target := s.Limits.KeepTail, s.Limits.Target
	if minimal {
		c.budgets = c.budgets.Shrink()
		keep, target = int(minimalTail*float64(s.Limits.Usable)), s.Limits.Usable
	}
	if s.Prose != nil && s.done > s.Request.Head {
		if text, ready, _ := s.Prose.Look(s.done, c.says); ready { // it came too late for the compaction before
			c.says = recap.Says{Text: text, Until: s.done}
		}
	}
	c.summary = recap.Size(c.span(s.end))
	c.tail = max(min(keep, target-c.sizeWith(len(s.Request.Items))), minTail)
	return c
}

// span is what a summary of the items before a cut is about.
func (c *compaction) span(cut int) recap.Span {
	return recap.Span{Request: c.Request, Calls: c.Calls, From: c.Request.Head, To: cut, End: c.end,
		Count: c.count, Budgets: c.budgets}
}

// tokensOf is what a group takes as it is sent.
func (s *State) tokensOf(g conversation.Group) (n int) {
	for i := g.First; i < g.End; i++ {
		n += s.forms[i].tokens
	}
	return n
}

// cut returns the earliest answer from which on the request has no more than the tail may have; the last answer if that
// alone has more. It is -1 if there is no answer behind what was left out before.
func (c *compaction) cut() int {
	cut, tail := -1, 0
	for i := c.end; i < len(c.Request.Items); i++ {
		tail += c.forms[i].tokens
	}
	for _, g := range slices.Backward(c.Request.Groups()) {
		if g.First >= c.end {
			continue
		}
		tail += c.tokensOf(g)
		if g.First <= c.done || cut >= 0 && tail > c.tail {
			break
		}
		if c.Request.Items[g.First].StartsAnswer {
			cut = g.First
		}
	}
	return cut
}

// sizeWith is about what the request takes with a summary of the items before a cut.
func (c *compaction) sizeWith(cut int) int {
	n := c.Total() + c.summary
	for _, g := range c.Request.Groups() {
		if g.End <= cut && !c.stays(g) {
			n -= c.tokensOf(g)
		}
	}
	return n
}

// run makes the compaction if that saves a tenth of the request, or anything where it was asked for.
func (c *compaction) run() {
	s, total := c.State, c.Total()
	least := int(minGain * float64(total))
	if s.Asked || s.Refused {
		least = 0
	}
	cut := c.cut()
	switch {
	case cut < 0:
		s.Reason = event.CodeNothingOlder
		return
	case !s.Asked && total-c.sizeWith(cut) <= least:
		s.Reason = event.CodeSavesLittle
		return
	}
	n := s.Compaction
	if n == nil {
		n = &event.Compaction{Kind: event.CompactionFailed, Reason: c.reason, Mode: s.Style.Mode,
			Detail: s.Style.Detail, TokensBefore: s.OfModel(total),
			MessagesBefore: s.Request.MessagesIn(0, len(s.Request.Items))}
		s.Compaction = n
	}
	if !c.minimal && c.Prose != nil {
		cut = c.findProse(cut)
	}
	files, ok := c.replace(cut, least)
	if !ok {
		s.Reason = event.CodeNoSmaller
		if n.Kind == event.CompactionFailed {
			n.Why = s.Reason.Clause()
		}
		return
	}
	s.Reason = event.NoCode
	n.Kind, n.Files, n.TurnsKept = event.CompactionCompleted, files, 1
	if c.says.Text == "" && s.Prose != nil {
		n.Mode = prose.ModeIntent
	}
	n.MessagesAfter = s.Request.MessagesIn(0, s.Request.Head) + s.Request.MessagesIn(cut, len(s.Request.Items)) + 1
	for i := cut; i < len(s.Request.Items); i++ {
		if s.Request.Speaks(&s.Request.Items[i]) {
			n.TurnsKept++
		}
	}
}

// findProse finds what a model says about the items before a cut: a text that was prepared for another cut, if that
// brings the request below the line for preparing one, else it asks. It returns the cut that the text is for.
func (c *compaction) findProse(cut int) int {
	n, place := c.Compaction, c.Decision.Ahead
	if place > c.done && place < c.end && c.sizeWith(place) <= c.Limits.PrepareLine {
		text, ready, pending := c.Prose.Look(place, c.says)
		if ready {
			n.Prepared, c.says = true, recap.Says{Text: text, Until: place}
			return place
		}
		if pending {
			cut = place
		}
	}
	switch {
	case c.Refused:
		n.Why = "a refused request does not wait for a summary"
		return cut
	case cut != place && !c.isFamiliar(cut):
		n.Why = "no model is asked about a conversation that was not seen before"
		return cut
	}
	text, cost, err := c.Prose.Ask(cut, c.says)
	if err != nil {
		n.Why = err.Error()
		return cut
	}
	n.Cost, c.says = cost, recap.Says{Text: text, Until: cut}
	return cut
}

// isFamiliar reports whether most of the items before a cut were decided on before. A client whose history never
// continues the one before would have a model asked at each turn, for nothing.
func (c *compaction) isFamiliar(cut int) bool { return c.Asked || 2*c.Recorded >= c.Request.Head+cut }

// prepare has a summary made ahead of need, once the request is over its line for that.
func prepare(s *State) {
	total := s.Total()
	switch {
	case total <= s.Limits.PrepareLine:
		s.Decision.Ahead = 0
		return
	case s.Prose == nil || s.Decision.Ahead > s.done:
		return
	}
	c := newCompaction(s, false)
	cut := c.cut()
	isWorth := cut >= 0 && c.isFamiliar(cut) && float64(c.sizeWith(cut)) < (1-minGain)*float64(total)
	if isWorth && s.Prose.Prepare(cut, c.says) {
		s.Decision.Ahead = cut
	}
}

// replace puts the summary in the place of the items before a cut, but for those that stay, if that saves more than
// least tokens. It returns how many files the summary names.
func (c *compaction) replace(cut, least int) (files int, ok bool) {
	edits := c.drops(c.Request.Head, cut, ledger.StepCompact, codes[c.reason])
	if len(edits) == 0 {
		return 0, false
	}
	span, summary := c.span(cut), &edits[0]
	span.Sent = c.sentBeside(cut)
	text, files := recap.Text(span, c.says, c.transcriptAt(summary))
	c.setText(summary, text)
	summary.Prose, summary.Told = c.says.Text, c.says.Until
	return files, c.addIfSmaller(least, event.CauseOfReason(c.reason), edits)
}

// sentBeside returns the texts that are sent whole beside the items before a cut.
func (c *compaction) sentBeside(cut int) (texts []string) {
	for i := range c.Request.Items {
		f := &c.forms[i]
		if isBeside := i < c.Request.Head || i >= cut; isBeside && !f.dropped && !f.cleared && !f.shortened {
			texts = append(texts, c.Request.TextOf(&c.Request.Items[i]))
		}
	}
	return texts
}
