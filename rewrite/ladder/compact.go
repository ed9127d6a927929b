package ladder

import (
	"math"
	"slices"

	"epitome/event"
	"epitome/summarize"
)

const (
	minGain     = 0.1   // share of the request that a compaction or a rescue has to save
	minTail     = 500   // tokens that may always stay behind a cut, however little room the target leaves
	crampedTail = 2_500 // the same, but at most a quarter of the room, where the overhead takes a quarter of Usable
	leastRoom   = 8_000 // tokens of Usable, or a quarter of it if less, that a conversation needs beside the overhead
	leastAnswer = 1_024 // tokens of the model that a crowded request leaves for the answer
)

// trigger returns what calls for a compaction of the request, as events name it (event.Reason…), and the reason that its
// edits are recorded with; "" if nothing does.
func (s State) trigger() (trigger string, reason event.Code) {
	turns := s.Limits.Answers
	switch {
	case s.Refused:
		return event.ReasonOverflow, event.CodeRefused
	case s.ByAgent:
		return event.ReasonAgent, event.CodeAsked
	case s.Asked && (s.CompactTo == 0 || s.Total > s.CompactTo):
		return event.ReasonManual, event.CodeAsked
	case s.Total > s.compactLine():
		return event.ReasonThreshold, event.CodeCompactAt
	case s.OverBudget:
		return event.ReasonBudget, event.CodeCutoverAt
	case turns > 0 && s.Answers-s.Decision.Compacted >= turns:
		return event.ReasonTurns, event.CodeCompactTurns
	}
	return "", event.NoCode
}

// Due returns the reason to compact the request though the window has room: what was counted since the last compaction,
// tokens or answers, or the agent asks for it. It is empty if there is none.
func (s State) Due() string {
	switch reason, _ := s.trigger(); reason {
	case event.ReasonBudget, event.ReasonTurns, event.ReasonAgent:
		return reason
	}
	return ""
}

// Overhead returns the tokens that no compaction takes out: those of system prompt, tools and the head.
func (p *Plan) Overhead() int { return p.Total - p.Sent(p.Request.Head, len(p.forms)) }

// isCrowded reports whether the Overhead leaves so little of Usable that one compaction would follow another.
func (s State) isCrowded() bool {
	return s.Overhead()+min(leastRoom, s.Limits.Usable/4) > s.Limits.Usable
}

// most returns the tokens that the request may take: Usable, but a crowded request takes the room for the answer too,
// all but leastAnswer, or all that fits by a refusal.
func (s State) most() int {
	switch {
	case !s.isCrowded():
		return s.Limits.Usable
	case s.Refused:
		return max(s.Limits.Usable, s.Fits)
	}
	return max(s.Limits.Usable, s.Limits.Window-int(leastAnswer/s.Scale.Ratio))
}

// compactLine returns the tokens above which the request is compacted. It is above CompactLine where the Overhead would
// leave little room below that. A request that cannot fit is left to the provider.
func (s State) compactLine() int {
	switch {
	case s.Overhead()+minTail > s.most(): // nothing else has room, so no compaction can help
		return math.MaxInt
	case s.isCrowded():
		return s.most()
	}
	return max(s.Limits.CompactLine, s.Overhead()+min(leastRoom, s.Limits.Usable/4, s.Limits.End/4))
}

// prepareLine returns the tokens above which a summary is made ahead of need: as far below compactLine as PrepareLine
// is below CompactLine.
func (s State) prepareLine() int {
	return s.compactLine() - (s.Limits.CompactLine - s.Limits.PrepareLine)
}

// goal returns the tokens to which the compaction that a client asked for brings the request; 0 if none did.
func (s State) goal() int {
	switch {
	case !s.Asked || s.ByAgent:
		return 0
	case s.CompactTo > 0:
		return min(s.CompactTo, s.most())
	case s.Limits.KeepTurns > 0: // these turns may have more than Target
		return s.Total * 3 / 5
	}
	return min(s.Limits.TargetLine, s.Total*3/5) // a share of the window may be more than a small request has
}

// Stays returns the tokens of the request that stay beside the summary of the last compaction.
func (s State) Stays() int { return s.staysBeside(s.compactedEnd) }

// staysBeside returns the tokens that stay beside a summary of the items before a cut: the Overhead, what no compaction
// takes out, and what is behind the cut.
func (s State) staysBeside(cut int) int {
	n := s.Total
	for _, g := range s.Request.Groups() {
		if g.End <= cut && !s.staysInPlace(g) {
			n -= s.Sent(g.First, g.End)
		}
	}
	return n
}

// target returns the tokens to which a compaction brings the request: Limits.Target, but two fifths of the room that the
// Overhead leaves may stay filled, and a third of it comes free below compactLine, so that both are worth it. Where the
// window has room (Due), the share compact_to is of what the request has beside the Overhead. A Goal holds as it is.
func (s State) target() int {
	if s.Goal > 0 {
		return s.Goal
	}
	room := min(s.most(), max(s.Limits.End, s.compactLine())) - s.Overhead()
	target := min(max(s.Limits.TargetLine, s.Overhead()+room*2/5), s.compactLine()-room/3)
	if s.Due() != "" {
		target = min(target, s.Overhead()+int(s.Limits.Target*float64(s.Total-s.Overhead())))
	}
	return target
}

// compact replaces old groups by a summary if there is a reason for it (whyCompact). If the request does not fit even
// then, or misses its Goal, a smaller summary replaces more groups, without a model's words if it must. If it still
// does not fit, results are cut hard. Without a reason, compact may have the model's words for a summary made ahead of
// need. No model is asked for a crowded request.
func (s State) compact() {
	reason, _ := s.trigger()
	if reason == "" {
		s.prepareWords()
		return
	}
	s.Goal = s.goal()
	newCompaction(s, false).run()
	// A good summary is better than a number that nobody named.
	missesGoal := func() bool {
		return s.Goal > 0 && s.Total > s.Goal && (s.CompactTo > 0 || s.Total-s.Overhead() > leastRoom)
	}
	if s.Total > s.most() || s.Reason == event.CodeSavesLittle && s.Due() != "" || missesGoal() {
		newCompaction(s, true).run()
	}
	if missesGoal() && s.lastWords.Text != "" {
		c := newCompaction(s, true)
		c.says = summarize.Says{}
		c.run()
	}
	if s.Total > s.most() {
		s.fitResults()
	}
	if s.Total > s.most() && slices.ContainsFunc(s.Request.Groups(), s.isKept) {
		s.dropsKept = true
		newCompaction(s, true).run()
		if s.Total > s.most() { // no cut was left: those before the last one go
			newCompaction(s, true).replace(s.compactedEnd, 0)
		}
	}
	if s.isCrowded() && s.Total > s.most() { // even the newest group has too large calls: it goes as well
		newCompaction(s, true).replace(s.prefixEnd, 0)
	}
	if s.Compaction != nil && s.Compaction.Kind == event.CompactionCompleted {
		s.Compaction.TokensAfter = s.OfModel(s.Total)
	}
}

// compaction is one in the making: the items from the head to a cut become a summary, the groups behind the cut stay.
type compaction struct {
	State
	minimal     bool // all that can go has to: the summary and the tail are small, and no model is asked
	budgets     summarize.Budgets
	summarySize int            // tokens that the summary takes, about
	maxTail     int            // tokens that may stay behind the cut
	turnsTail   int            // the same for the turns of Limits.KeepTurns; a quarter of what fits is left free
	says        summarize.Says // a model's words for the summary: those of the last summary, until there are newer ones
}

func newCompaction(s State, minimal bool) *compaction {
	const minimalTail = 0.1 // share of Usable that may stay behind the cut
	window := min(s.Limits.Window, max(s.Limits.End, s.compactLine()))
	if s.isCrowded() {
		window = max(window-s.Overhead(), minTail)
	}
	c := &compaction{State: s, minimal: minimal, says: s.lastWords,
		budgets: summarize.BudgetsFor(s.SummaryMode, s.SummaryDetail, window, s.Scale.Ratio)}
	if s.Goal > 0 && (minimal || s.CompactTo > 0) { // a summary has its share of twice what is left, as of a window
		prose := c.budgets.Prose // which does not depend on the goal
		c.budgets = summarize.BudgetsFor(s.SummaryMode, s.SummaryDetail, min(window, 2*s.Goal), s.Scale.Ratio)
		c.budgets.Prose = prose
	}
	keep, target := s.Limits.KeepTail, s.target()
	if minimal {
		c.budgets, keep = c.budgets.Shrink(), int(minimalTail*float64(s.Limits.Usable))
		if s.Due() == "" && s.Goal == 0 {
			target = s.most()
		}
	}
	if s.Words != nil && s.compactedEnd > s.Request.Head {
		late, isReady, _ := s.Words(s.compactedEnd, c.says, false) // a model was asked for the last summary
		if isReady {
			c.says = summarize.Says{Text: late.Text, Until: s.compactedEnd}
		}
	}
	c.summarySize = c.measure(s.prefixEnd) // the cut is not known yet: that of the longest span
	withoutTail := c.sizeAfter(len(s.Request.Items))
	rest := target - withoutTail // the tail may fill the request up to target
	isCramped := 4*s.Overhead() > s.Limits.Usable && s.Goal == 0
	if isCramped && !minimal && s.Due() == "" {
		rest = max(rest, min((s.compactLine()-s.Overhead())/4, crampedTail)) // a summary is mostly smaller than measured
	}
	c.maxTail = max(min(keep, rest), minTail)
	c.turnsTail = (s.compactLine() - withoutTail) / 4 * 3
	if s.Goal > 0 {
		c.maxTail = max(min(keep, rest), 0)
		c.turnsTail = rest
	}
	c.budgets.Spare = max(0, target-withoutTail-keep)
	return c
}

// asks reports whether a model may be asked for the summary.
func (c *compaction) asks() bool { return !c.minimal && c.Words != nil && !c.isCrowded() }

// measure returns about how many tokens a summary up to the cut takes. Where room is scarce, or little is to be saved, it
// is made and counted.
func (c *compaction) measure(cut int) int {
	if !c.minimal && !c.isCrowded() && c.Due() == "" && c.Goal == 0 && c.Limits.KeepTurns == 0 {
		return summarize.Size(c.span(cut))
	}
	says := c.says
	if says.Text == "" && c.asks() { // with a model's words the part by code is smaller
		says = summarize.Says{Text: "-", Until: cut}
	}
	text, _ := summarize.Text(c.span(cut), says, "")
	tokens := c.Scale.CountText(text) + stubTokens // the transcript's address
	if c.asks() {
		tokens += c.budgets.Prose // which a model may write beside that
	}
	return tokens
}

// span returns the part of the conversation that a summary replaces: the items from the end of the head to the cut.
func (c *compaction) span(cut int) summarize.Span {
	return summarize.Span{Request: c.Request, Calls: c.Calls, From: c.Request.Head, To: cut, End: c.prefixEnd,
		Count: c.Scale.CountText, Budgets: c.budgets}
}

// findCut returns the first item of the earliest answer from which on the request has at most maxTail tokens; if even
// the last answer has more, its first item. Limits.KeepTurns answers stay in any case if they fit. It is -1 if no answer
// follows the items that the last compaction dropped.
func (c *compaction) findCut() int {
	cut, tail, turns := -1, 0, 0
	for _, g := range slices.Backward(c.Request.Groups()) {
		if !c.isKept(g) { // sizeAfter counts it, as it stays anyway
			tail += c.Sent(g.First, g.End)
		}
		if g.First >= c.prefixEnd { // always stays
			continue
		}
		isNew := g.First > c.compactedEnd // a cut before or there drops nothing new
		if !isNew && !(c.Goal > 0 && c.minimal && g.First == c.compactedEnd) {
			break
		}
		hasTurns := turns >= c.Limits.KeepTurns || tail > c.turnsTail
		if cut >= 0 && tail > c.maxTail && hasTurns {
			break
		}
		if c.Request.Items[g.First].StartsAnswer { // it can follow the summary, which is sent as the user's words
			cut = g.First
			turns++
		}
	}
	return cut
}

// sizeAfter returns about how many tokens the request takes if a summary replaces the items before the cut.
func (c *compaction) sizeAfter(cut int) int { return c.staysBeside(cut) + c.summarySize }

// run makes the compaction if it saves a tenth of the request, or anything if it was asked for or after a refusal.
func (c *compaction) run() {
	s, total := c.State, c.Total
	reason, _ := s.trigger()
	least := int(minGain * float64(total))
	switch {
	case s.Asked || s.Refused || reason == event.ReasonTurns:
		least = 0
	case s.isCrowded(): // all that it can save is a tenth of the request at times
		least = int(minGain * float64(total-s.Overhead()))
	}
	cut := c.findCut()
	switch {
	case cut < 0:
		s.Reason = event.CodeNothingOlder
		return
	case !s.Asked && total-c.sizeAfter(cut) <= least: // by an estimate: if asked for, the summary is made and measured
		s.Reason = event.CodeSavesLittle
		return
	}
	if s.Compaction == nil { // else this is the second attempt for the request (minimal), with the report of the first
		s.Compaction = &event.Compaction{Kind: event.CompactionFailed, Reason: reason, Mode: string(s.SummaryMode),
			TokensBefore: s.OfModel(total)}
	}
	report := s.Compaction
	if s.Limits.KeepTurns > 0 { // they may have taken the room that is to be filled
		c.budgets.Spare = min(c.budgets.Spare, max(0, s.target()-c.sizeAfter(cut)))
	}
	if c.asks() {
		cut = c.findWords(cut)
	}
	if !c.replace(cut, least) {
		s.Reason = event.CodeSavesLittle
		if report.Kind == event.CompactionFailed { // else the summary of the first attempt is sent
			report.Why = s.Reason.Clause()
		}
		return
	}
	s.Reason, report.Kind = event.NoCode, event.CompactionCompleted
	if c.says.Text == "" && s.Words != nil {
		report.Mode = string(summarize.Intent) // as a model's words were wanted, and there are none
	}
}

// findWords sets c.says to a model's words about the items before a cut, and returns the cut that they are for: the cut
// for which words were prepared, if that makes the request small enough, else the given one. A model may be asked then.
func (c *compaction) findWords(cut int) int {
	report, ahead := c.Compaction, c.Decision.Prepared // ahead is the cut for which words were prepared
	after := c.sizeAfter(ahead)
	isSmall := after <= c.prepareLine() && (c.Goal == 0 || after <= c.Goal)
	if ahead > c.compactedEnd && ahead < c.prefixEnd && isSmall {
		cut = ahead // the words may still be in the making: Words waits for them
	}
	words, isReady, err := c.Words(cut, c.says, true)
	report.Prepared, report.Cost = isReady, words.Cost
	if err != nil {
		report.Why = err.Error()
		return cut
	}
	c.says = summarize.Says{Text: words.Text, Until: cut}
	return cut
}

// prepareWords has a model's words for the next summary made in the background once the request is over PrepareLine, so
// that no client has to wait for them. Decision.Prepared is the cut that the words are for; 0 while none are needed.
func (s State) prepareWords() {
	switch {
	case s.Total <= s.prepareLine():
		s.Decision.Prepared = 0
		return
	case s.Words == nil || s.isCrowded() || s.Decision.Prepared > s.compactedEnd: // none may be asked, or one already is
		return
	}
	c := newCompaction(s, false)
	cut := c.findCut()
	isWorth := cut >= 0 && float64(c.sizeAfter(cut)) < (1-minGain)*float64(s.Total)
	if isWorth && s.Prepare(cut, c.says) {
		s.Decision.Prepared = cut
	}
}

// replace puts the summary in the place of the items from the head to the cut, except groups that stay in place. It
// returns false if this saves least tokens or fewer, and nothing changes then.
func (c *compaction) replace(cut, least int) bool {
	edits := c.drops(c.Request.Head, cut)
	if len(edits) == 0 {
		return false
	}
	span, summary := c.span(cut), &edits[0] // the other edits only drop
	span.Left = c.messagesIn(edits)
	span.From, span.To = summary.First, edits[len(edits)-1].End() // as in the transcript: pinned groups may be beside
	for i := range c.Request.Items {
		f := &c.forms[i]
		if isBeside := i < c.Request.Head || i >= cut; isBeside && !f.dropped && !f.cleared && !f.shortened {
			span.Sent = append(span.Sent, c.Request.TextOf(&c.Request.Items[i]))
		}
	}
	where := c.transcriptAt(summary.Artifacts)
	text, leftOut := summarize.Text(span, c.says, where)
	free := c.target() - c.staysBeside(cut) - c.Scale.CountText(text)
	if leftOut && free > 0 && !c.minimal {
		span.Budgets.Spare = free
		fuller, _ := summarize.Text(span, c.says, where)
		if c.Goal == 0 || c.Scale.CountText(fuller) <= c.Scale.CountText(text)+free {
			text = fuller
		}
	}
	c.setText(summary, text)
	summary.Prose, summary.ProseEnd = c.says.Text, c.says.Until
	_, c.Unkept = span.Kept()
	_, why := c.trigger()
	return c.compactBy(least, why, edits...)
}
