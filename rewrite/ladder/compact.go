package ladder

import (
	"slices"

	"epitome/event"
	"epitome/summarize"
)

const minGain = 0.1 // share of the request that a compaction or a rescue has to save

// compact replaces old groups by a summary if something calls for it (trigger). If the request does not fit even then,
// or misses its Goal, a smaller summary replaces more groups, without a model's words if it must. Else compact may
// have the model's words for a summary made ahead of need. No model is asked for a crowded request.
func (s State) compact() {
	if trigger, _ := s.trigger(); trigger == "" {
		s.prepareWords()
		return
	}
	s.Goal = s.goal()
	newCompaction(s, false).run()
	savesLittle := s.Reason == event.CodeSavesLittle && s.Due() != ""
	if savesLittle || s.Total > s.most() || s.missesGoal() {
		newCompaction(s, true).run()
	}
	if s.missesGoal() && s.lastWords.Text != "" {
		c := newCompaction(s, true)
		c.words = summarize.Says{}
		c.run()
	}
	s.compactHard()
	if s.Compaction != nil && s.Compaction.Kind == event.CompactionCompleted {
		s.Compaction.TokensAfter = s.OfModel(s.Total)
	}
}

// compactHard takes out what else has to go for the request to fit: the middle of results, then groups with results
// that Limit.Keep keeps, and of a crowded request all groups, even the newest one with its calls.
func (s State) compactHard() {
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
	if s.isCrowded() && s.Total > s.most() {
		newCompaction(s, true).replace(s.prefixEnd, 0)
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
	words       summarize.Says // a model's words for the summary: those of the last summary, until there are newer ones
}

func newCompaction(s State, minimal bool) *compaction {
	c := &compaction{State: s, minimal: minimal, words: s.newestWords()}
	c.setBudgets()
	c.summarySize = c.measure(s.prefixEnd) // the cut is not known yet: that of the longest span
	c.setTails()
	return c
}

// newestWords returns a model's words in the last summary, or those that came too late for it.
func (s State) newestWords() summarize.Says {
	if s.Words != nil && s.compactedEnd > s.Request.Head {
		late, isReady, _ := s.Words(s.compactedEnd, s.lastWords, false)
		if isReady {
			return summarize.Says{Text: late.Text, Until: s.compactedEnd}
		}
	}
	return s.lastWords
}

// setBudgets sets the sizes of the summary's parts: shares of the window, or of the room that the Overhead leaves.
func (c *compaction) setBudgets() {
	window := min(c.Limits.Window, max(c.Limits.End, c.compactLine()))
	if c.isCrowded() {
		window = max(window-c.Overhead(), minTail)
	}
	c.budgets = summarize.BudgetsFor(c.SummaryMode, c.SummaryDetail, window, c.Scale.Ratio)
	if c.Goal > 0 && (c.minimal || c.CompactTo > 0) { // a summary has its share of twice what is left, as of a window
		prose := c.budgets.Prose // which does not depend on the goal
		c.budgets = summarize.BudgetsFor(c.SummaryMode, c.SummaryDetail, min(window, 2*c.Goal), c.Scale.Ratio)
		c.budgets.Prose = prose
	}
	if c.minimal {
		c.budgets = c.budgets.Shrink()
	}
}

// setTails sets how much may stay behind the cut: at most what the target leaves beside the summary. What is free even
// then, the summary may fill (Spare).
func (c *compaction) setTails() {
	const minimalTail = 0.1 // share of Usable that may stay behind the cut
	keep := c.Limits.KeepTail
	target := c.target()
	if c.minimal {
		keep = int(minimalTail * float64(c.Limits.Usable))
	}
	if c.minimal && c.Due() == "" && c.Goal == 0 {
		target = c.most()
	}
	withoutTail := c.sizeAfter(len(c.Request.Items))
	c.budgets.Spare = max(0, target-withoutTail-keep)
	rest := target - withoutTail
	if c.Goal > 0 && c.CompactTo == 0 { // the summary of a small request takes far less than measured
		rest = max(rest, (target-c.staysBeside(len(c.Request.Items))-c.count(c.prefixEnd))/2)
	}
	if c.Goal > 0 {
		c.maxTail = max(min(keep, rest), 0)
		c.turnsTail = rest
		return
	}
	isCramped := 4*c.Overhead() > c.Limits.Usable
	if isCramped && !c.minimal && c.Due() == "" { // a summary is mostly smaller than measured
		rest = max(rest, min((c.compactLine()-c.Overhead())/4, crampedTail))
	}
	c.maxTail = max(min(keep, rest), minTail)
	c.turnsTail = (c.compactLine() - withoutTail) / 4 * 3
}

// asks reports whether a model may be asked for the summary.
func (c *compaction) asks() bool { return !c.minimal && c.Words != nil && !c.isCrowded() }

// measure returns about how many tokens a summary up to the cut takes at most. Where room is scarce, or little is to be
// saved, it is made and counted.
func (c *compaction) measure(cut int) int {
	if !c.minimal && !c.isCrowded() && c.Due() == "" && c.CompactTo == 0 && c.Limits.KeepTurns == 0 {
		return summarize.Size(c.span(cut))
	}
	return c.count(cut)
}

// count makes a summary up to the cut, and counts its tokens.
func (c *compaction) count(cut int) int {
	words := c.words
	if words.Text == "" && c.asks() { // with a model's words the part by code is smaller
		words = summarize.Says{Text: "-", Until: cut}
	}
	text, _ := summarize.Text(c.span(cut), words, "")
	tokens := c.Scale.CountText(text) + stubTokens // the transcript's address
	if c.asks() {
		tokens += c.budgets.Prose // which a model may write beside that
	}
	return tokens
}

// span returns the part of the conversation that a summary replaces: the items from the end of the head to the cut.
func (c *compaction) span(cut int) summarize.Span {
	return summarize.Span{
		Request: c.Request, Calls: c.Calls, From: c.Request.Head, To: cut, End: c.prefixEnd,
		Count: c.Scale.CountText, Budgets: c.budgets,
	}
}

// findCut returns the first item of the earliest answer from which on the request has at most maxTail tokens; if even
// the last answer has more, its first item. Limits.KeepTurns answers stay in any case if they fit. It is -1 if no
// answer follows the items that the last compaction dropped.
func (c *compaction) findCut() int {
	first := c.compactedEnd + 1 // a cut before drops nothing new
	if c.Goal > 0 && c.minimal {
		first = c.compactedEnd
	}
	cut, tail, turns := -1, 0, 0
	for _, g := range slices.Backward(c.Request.Groups()) {
		if !c.isKept(g) { // sizeAfter counts it, as it stays anyway
			tail += c.Sent(g.First, g.End)
		}
		if g.First >= c.prefixEnd { // always stays
			continue
		}
		hasTurns := turns >= c.Limits.KeepTurns || tail > c.turnsTail
		if g.First < first || cut >= 0 && tail > c.maxTail && hasTurns {
			break
		}
		isSent := slices.ContainsFunc(c.forms[g.First:g.End], func(f form) bool { return !f.dropped })
		if isSent && c.Request.Items[g.First].StartsAnswer { // it can follow the summary, which is sent as the user's words
			cut = g.First
			turns++
		}
	}
	return cut
}

// sizeAfter returns about how many tokens the request takes if a summary replaces the items before the cut.
func (c *compaction) sizeAfter(cut int) int { return c.staysBeside(cut) + c.summarySize }

// run makes the compaction if it saves enough.
func (c *compaction) run() {
	least := c.leastSaved()
	cut := c.findCut()
	if cut < 0 {
		c.Reason = event.CodeNothingOlder
		return
	}
	// By an estimate: if asked for, the summary is made and measured.
	if !c.Asked && c.Total-c.sizeAfter(cut) <= least {
		c.Reason = event.CodeSavesLittle
		return
	}
	if c.Compaction == nil { // else this is a later attempt for the request, with the report of the first
		trigger, _ := c.trigger()
		c.Compaction = &event.Compaction{
			Kind: event.CompactionFailed, Reason: trigger, Mode: string(c.SummaryMode),
			TokensBefore: c.OfModel(c.Total),
		}
	}
	report := c.Compaction
	if c.Limits.KeepTurns > 0 { // they may have taken the room that is to be filled
		c.budgets.Spare = min(c.budgets.Spare, max(0, c.target()-c.sizeAfter(cut)))
	}
	if c.asks() {
		cut = c.findWords(cut)
	}
	if !c.replace(cut, least) {
		c.Reason = event.CodeSavesLittle
		if report.Kind == event.CompactionFailed { // else the summary of the first attempt is sent
			report.Why = c.Reason.Clause()
		}
		return
	}
	c.Reason, report.Kind = event.NoCode, event.CompactionCompleted
	if c.words.Text == "" && c.Words != nil {
		report.Mode = string(summarize.Intent) // as a model's words were wanted, and there are none
	}
}

// leastSaved returns how many tokens the compaction has to save at least: a tenth of the request, of a crowded one a
// tenth of what it has beside the Overhead; 0 if it was asked for, or after a refusal.
func (c *compaction) leastSaved() int {
	trigger, _ := c.trigger()
	switch {
	case c.Asked || c.Refused || trigger == event.ReasonTurns:
		return 0
	case c.isCrowded():
		return int(minGain * float64(c.Total-c.Overhead()))
	}
	return int(minGain * float64(c.Total))
}

// findWords sets c.words to a model's words about the items before a cut, and returns the cut that they are for: the
// cut for which words were prepared, if that makes the request small enough, else the given one. A model may be asked
// then.
func (c *compaction) findWords(cut int) int {
	prepared := c.Decision.Prepared
	after := c.sizeAfter(prepared)
	isSmall := after <= c.prepareLine() && (c.Goal == 0 || after <= c.Goal)
	if prepared > c.compactedEnd && prepared < c.prefixEnd && isSmall {
		cut = prepared // the words may still be in the making: Words waits for them
	}
	words, isReady, err := c.Words(cut, c.words, true)
	c.Compaction.Prepared, c.Compaction.Cost = isReady, words.Cost
	if err != nil {
		c.Compaction.Why = err.Error()
		return cut
	}
	c.words = summarize.Says{Text: words.Text, Until: cut}
	return cut
}

// prepareWords has a model's words for the next summary made in the background once the request is over PrepareLine, so
// that no client has to wait for them. Decision.Prepared is the cut that the words are for; 0 while none are needed.
func (s State) prepareWords() {
	if s.Total <= s.prepareLine() {
		s.Decision.Prepared = 0
		return
	}
	isAsked := s.Decision.Prepared > s.compactedEnd
	if s.Words == nil || isAsked || s.isCrowded() {
		return
	}
	c := newCompaction(s, false)
	cut := c.findCut()
	isWorth := cut >= 0 && float64(c.sizeAfter(cut)) < (1-minGain)*float64(s.Total)
	if isWorth && s.Prepare(cut, c.words) {
		s.Decision.Prepared = cut
	}
}

// replace puts the summary in the place of the items from the head to the cut, except groups that stay in place. It
// returns false if this saves least tokens or fewer, or hardly any, and nothing changes then.
func (c *compaction) replace(cut, least int) bool {
	edits := c.drops(c.Request.Head, cut)
	if len(edits) == 0 {
		return false
	}
	span, summary := c.span(cut), &edits[0] // the other edits only drop
	span.Left = c.messagesIn(edits)
	span.From, span.To = summary.First, edits[len(edits)-1].End() // as in the transcript: pinned groups may be beside
	for i := range c.Request.Items {
		isBeside := i < c.Request.Head || i >= cut
		if isBeside && c.forms[i].isWhole() {
			span.Sent = append(span.Sent, c.Request.TextOf(&c.Request.Items[i]))
		}
	}
	c.setText(summary, c.text(span, cut, c.transcriptAt(summary.Artifacts)))
	summary.Prose, summary.ProseEnd = c.words.Text, c.words.Until
	_, c.Unkept = span.Kept()
	_, reason := c.trigger()
	return c.compactBy(max(least, leastSaving), reason, edits...) // less may be nothing, as the provider counts
}

// text returns the summary of a span. If it leaves out words of the user, and room is left up to the target, it has
// more of them.
func (c *compaction) text(span summarize.Span, cut int, where string) string {
	text, leftOut := summarize.Text(span, c.words, where)
	tokens := c.Scale.CountText(text)
	free := c.target() - c.staysBeside(cut) - tokens
	if c.minimal || !leftOut || free <= 0 {
		return text
	}
	span.Budgets.Spare = free
	fuller, _ := summarize.Text(span, c.words, where)
	if c.Goal > 0 && c.Scale.CountText(fuller) > tokens+free {
		return text
	}
	return fuller
}
