package ladder

import (
	"slices"

	"epitome/event"
	"epitome/prose"
	"epitome/rewrite/activity"
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
	reason, _ := s.whyCompact()
	switch {
	case !s.mayDecideOlder():
		return
	case reason == "":
		prepare(s)
		return
	case s.end <= s.Request.Head:
		s.Reason = Reason{Code: event.CodeNothingOlder}
		return
	}
	compact(s)
	if s.Total() > s.Limits.Usable {
		fitResults(s)
	}
	if s.Compaction != nil && s.Compaction.Kind == event.CompactionCompleted {
		s.Compaction.TokensAfter = int(float64(s.Total()) * s.Scale.Ratio)
	}
}

// whyCompact is why there is a compaction, for events and for its edits; empty if there is no reason for one.
func (s *State) whyCompact() (reason string, why event.Code) {
	switch {
	case s.Refused:
		return event.ReasonOverflow, event.CodeRefused
	case s.Asked:
		return event.ReasonManual, event.CodeAsked
	case s.Total() > s.Limits.CompactLine:
		return event.ReasonThreshold, event.CodeLine
	case s.OverBudget:
		return event.ReasonBudget, event.CodeBudget
	}
	return "", event.NoCode
}

// compact replaces old groups by a summary. Where the request does not fit even so, little stays of the summary and of
// the newest groups.
func compact(s *State) {
	newCompaction(s, false, 0).run()
	if s.Total() > s.Limits.Usable {
		newCompaction(s, true, 0).run()
	}
}

// compaction is one in the making: the items from the head to a cut become a summary, and the groups behind it stay.
type compaction struct {
	*State
	budgets recap.Budgets
	done    int  // end of what earlier compactions left out
	summary int  // tokens that the summary takes, about
	tail    int  // tokens that may stay behind the cut
	enough  int  // tokens to which the request has to come down so that a summary is taken that was prepared
	minimal bool // every token counts, and no model is asked
	says    recap.Says
}

// newCompaction returns a compaction that brings the request down to its target when it has grown by so many tokens.
func newCompaction(s *State, minimal bool, growth int) *compaction {
	const minimalTail = 0.1 // of usable
	c := &compaction{State: s, minimal: minimal, done: s.Request.Head,
		budgets: recap.BudgetsFor(s.Style, s.Limits.Window, s.Scale.Ratio)}
	keep, target := s.Limits.KeepTail, s.Limits.Target
	if minimal {
		c.budgets = c.budgets.Shrink()
		keep, target = int(minimalTail*float64(s.Limits.Usable)), s.Limits.Usable
	}
	for k := range s.Edits {
		e := &s.Edits[k]
		if e.Op != ledger.Drop || e.Step != ledger.StepCompact {
			continue
		}
		c.done = max(c.done, e.End())
		if e.Text != "" && s.Style.Mode != prose.ModeLossless {
			c.says = recap.Says{Text: e.Prose, Until: e.Told}
		}
	}
	if s.Prose != nil && c.done > s.Request.Head {
		if text, ready, _ := s.Prose.Look(c.done, c.says); ready { // it came too late for the compaction before
			c.says = recap.Says{Text: text, Until: c.done}
		}
	}
	c.summary = recap.Size(c.span(s.end))
	c.tail = max(min(keep, target-c.sizeWith(len(s.Request.Items))-growth), minTail)
	c.enough = s.Limits.Target + s.Limits.Usable/10 - growth // it costs nothing more, which is worth a little room
	if s.Refused {
		c.enough = s.Limits.Usable
	}
	return c
}

// tokensOf is what a group takes as it is sent.
func (s *State) tokensOf(g conversation.Group) (n int) {
	for i := g.First; i < g.End; i++ {
		n += s.forms[i].tokens
	}
	return n
}

// span is what a summary of the items before a cut is about.
func (c *compaction) span(cut int) recap.Span {
	return recap.Span{Request: c.Request, Calls: c.Calls, From: c.Request.Head, To: cut, End: c.end,
		Count: c.count, Budgets: c.budgets}
}

// cut returns the earliest answer from which on the request has no more than the tail may have; the last answer if that
// alone has more. It is -1 if there is no answer behind what was left out before.
func (c *compaction) cut() int {
	cut, tail := -1, 0
	for i := c.Request.End(); i < len(c.Request.Items); i++ {
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
	reason, why := s.whyCompact()
	least := int(minGain * float64(total))
	if s.Asked || s.Refused {
		least = 0
	}
	cut := c.cut()
	switch {
	case cut < 0:
		s.Reason = Reason{Code: event.CodeNothingOlder}
		return
	case !s.Asked && total-c.sizeWith(cut) <= least:
		s.Reason = Reason{Code: event.CodeSavesLittle}
		return
	}
	if s.Compaction == nil {
		s.Compaction = &event.Compaction{Kind: event.CompactionFailed, Reason: reason, Mode: s.Style.Mode,
			Detail: s.Style.Detail, TokensBefore: int(float64(total) * s.Scale.Ratio),
			MessagesBefore: s.Request.MessagesIn(0, len(s.Request.Items))}
	}
	if !c.minimal {
		cut = c.findProse(cut)
	}
	files, ok := c.replace(cut, least, why)
	if !ok {
		s.Reason = Reason{Code: event.CodeNoSmaller}
		if s.Compaction.Kind == event.CompactionFailed {
			s.Compaction.Why = s.Reason.Code.Clause()
		}
		return
	}
	s.Reason = Reason{}
	s.because(event.CauseOfReason(reason))
	n := s.Compaction
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
// brings the request down far enough, else it asks. It returns the cut that the text is for.
func (c *compaction) findProse(cut int) int {
	if c.Prose == nil {
		return cut
	}
	place := cut
	if end := c.Decision.Ahead.End; end > c.done && end < c.end && c.sizeWith(end) <= c.enough {
		place = end
	}
	text, ready, pending := c.Prose.Look(place, c.says)
	switch {
	case ready:
		c.Compaction.Prepared = true
		c.says = recap.Says{Text: text, Until: place}
		return place
	case c.Refused:
		c.Compaction.Why = "a refused request does not wait for a summary"
		return cut
	case pending:
		cut = place
	case !c.isFamiliar(cut):
		c.Compaction.Why = "no model is asked about a conversation that was not seen before"
		return cut
	}
	text, cost, err := c.Prose.Ask(cut, c.says)
	if err != nil {
		c.Compaction.Why = err.Error()
		return cut
	}
	c.says, c.Compaction.Cost = recap.Says{Text: text, Until: cut}, cost
	return cut
}

// isFamiliar reports whether most of the items before a cut were decided on before. A client whose history never
// continues the one before would have a model asked at each turn, for nothing.
func (c *compaction) isFamiliar(cut int) bool { return c.Asked || 2*c.Known >= c.Request.Head+cut }

// prepare has a summary made ahead of need, once the request is over its line for that, and again when it has grown by a
// twentieth of usable.
func prepare(s *State) {
	step, total := s.Limits.Usable/20, s.Total()
	if total <= s.Limits.PrepareLine {
		s.Decision.Ahead = ledger.Ahead{}
		return
	}
	if s.Prose == nil || total < s.Decision.Ahead.Tokens+step || s.end <= s.Request.Head {
		return
	}
	c := newCompaction(s, false, max(0, s.Limits.CompactLine-total)+step)
	cut := c.cut()
	if cut < 0 || !c.isFamiliar(cut) {
		return
	}
	size := c.sizeWith(cut)
	isWorth := float64(size) < (1-minGain)*float64(total) && size <= c.enough
	if isWorth && s.Prose.Prepare(cut, c.says) {
		s.Decision.Ahead = ledger.Ahead{End: cut, Tokens: total}
	}
}

// replace puts the summary in the place of the items before a cut, but for those that stay, if that saves more than
// least tokens. It returns how many files the summary names.
func (c *compaction) replace(cut, least int, why event.Code) (files int, ok bool) {
	edits := c.drops(c.Request.Head, cut, ledger.StepCompact, why)
	if len(edits) == 0 {
		return 0, false
	}
	span := c.span(cut)
	span.Sent = c.sentBeside(cut)
	index := ""
	if c.Style.Mode == prose.ModeLossless {
		index = recap.Index(span)
	}
	summary := &edits[0]
	text, files := recap.Text(span, c.says, index, c.transcriptAt(summary))
	c.setText(summary, text)
	summary.Prose, summary.Told = c.says.Text, c.says.Until
	return files, c.addIfSmaller(least, edits)
}

// sentBeside returns all texts that are sent beside the items before a cut.
func (c *compaction) sentBeside(cut int) (texts []string) {
	for i := range c.Request.Items {
		it, f := &c.Request.Items[i], &c.forms[i]
		if i >= c.Request.Head && i < cut || f.dropped {
			continue
		}
		for k := range it.Calls {
			texts = append(texts, activity.Texts(c.Request.Body, &it.Calls[k]))
		}
		if !f.cleared && !f.shortened {
			texts = append(texts, c.Request.TextOf(it))
		}
	}
	for k := range c.Edits {
		if e := &c.Edits[k]; e.First >= cut && e.Op != ledger.Drop {
			texts = append(texts, e.Text)
		}
	}
	return texts
}
