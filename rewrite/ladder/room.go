package ladder

import "epitome/summarize"

// summaryRoom returns the sizes of the summary's parts: shares of the window, or of the room that the Overhead leaves.
func (c *compaction) summaryRoom() summarize.Budgets {
	k, goal := c.known, c.plan.Goal
	window := min(k.Limits.Window, max(k.Limits.End, c.budget.Line))
	if c.budget.IsCrowded {
		window = max(window-c.budget.Overhead, minTail)
	}
	parts := summarize.BudgetsFor(k.Model.Mode, k.Model.Detail, window, k.Scale.Ratio)
	if goal > 0 && (c.least || k.Demand.To > 0) { // a summary has its share of twice what is left, as of a window
		prose := parts.Prose // which does not depend on the goal
		parts = summarize.BudgetsFor(k.Model.Mode, k.Model.Detail, min(window, 2*goal), k.Scale.Ratio)
		parts.Prose = prose
	}
	if c.least {
		parts = parts.Shrink()
	}
	return parts
}

// divide sets how much may stay behind the cut: at most what the target leaves beside the summary. What is free even
// then, the summary may fill.
func (c *compaction) divide() {
	const leastTail = 0.1     // share of Usable that may stay behind the cut where all that can go has to
	const crampedTail = 2_500 // tokens that may stay where the overhead takes a quarter of Usable: see below
	k, b, goal := c.known, &c.budget, c.plan.Goal
	keep, target := k.Limits.KeepTail, b.Target
	if c.least {
		keep = int(leastTail * float64(k.Limits.Usable))
		if !b.HasRoom() && goal == 0 {
			target = b.Most
		}
	}
	withoutTail := c.sizeAfter(len(k.Request.Items))
	rest := target - withoutTail
	c.parts.Spare = max(0, rest-keep)
	if goal > 0 {
		if k.Demand.To == 0 { // the summary of a small request takes far less than measured
			stays := k.StaysBeside(c.plan, len(k.Request.Items))
			rest = max(rest, (target-stays-c.count(k.prefixEnd))/2)
		}
		c.tail, c.turns = max(min(keep, rest), 0), rest
		return
	}
	isCramped := 4*b.Overhead > k.Limits.Usable
	if isCramped && !c.least && !b.HasRoom() { // a summary is mostly smaller than measured
		rest = max(rest, min((b.Line-b.Overhead)/4, crampedTail))
	}
	c.tail = max(min(keep, rest), minTail)
	c.turns = (b.Line - withoutTail) / 4 * 3
}

// sizeAfter returns about how many tokens the request takes if a summary replaces the items before the cut.
func (c *compaction) sizeAfter(cut int) int { return c.known.StaysBeside(c.plan, cut) + c.size }

// measure returns about how many tokens a summary up to the cut takes at most. Where room is scarce, or little is to be
// saved, it is made and counted.
func (c *compaction) measure(cut int) int {
	k := c.known
	isNamed := k.Demand.To > 0 || k.Limits.KeepTurns > 0
	if c.least || c.budget.IsCrowded || c.budget.HasRoom() || isNamed {
		return c.count(cut)
	}
	return summarize.Size(c.span(cut))
}

// count makes a summary up to the cut, and counts its tokens.
func (c *compaction) count(cut int) int {
	words := c.words
	if words.Text == "" && c.asks() { // with a model's words the part by code is smaller
		words = summarize.Says{Text: "-", Until: cut}
	}
	text, _ := summarize.Text(c.span(cut), words, "")
	tokens := c.known.Scale.CountText(text) + stubTokens // the transcript's address
	if c.asks() {
		tokens += c.parts.Prose // which a model may write beside that
	}
	return tokens
}

// text returns the summary of a span. If it leaves out words of the user, and room is left up to the target, it has
// more of them.
func (c *compaction) text(span summarize.Span, cut int, where string) string {
	k := c.known
	text, leftOut := summarize.Text(span, c.words, where)
	tokens := k.Scale.CountText(text)
	free := c.budget.Target - k.StaysBeside(c.plan, cut) - tokens
	if c.least || !leftOut || free <= 0 {
		return text
	}
	span.Budgets.Spare = free
	fuller, _ := summarize.Text(span, c.words, where)
	if c.plan.Goal > 0 && k.Scale.CountText(fuller) > tokens+free {
		return text
	}
	return fuller
}
