package ladder

import (
	"math"
	"slices"

	"epitome/event"
	"epitome/summarize"
)

// Budget says how much room a request has, whether it is to be compacted, and to how many tokens. One function makes it
// of all that bears on that: the window, the user's lines, what the request has beside its conversation, and who asks.
type Budget struct {
	Overhead  int  // tokens that no compaction takes out: those of system prompt, tools and the head
	IsCrowded bool // the Overhead leaves so little that one compaction would follow another
	Most      int  // tokens that the request may take
	Line      int  // above it, the request is compacted; a request that cannot fit is left to the provider
	Prepare   int  // above it, a summary is made ahead of need
	Target    int  // to which a compaction brings the request
	Least     int  // tokens that a compaction has to save

	Trigger string     // what calls for a compaction, as events name it (event.Reason…); "" if nothing does
	Reason  event.Code // that the edits of a compaction are recorded with
}

const (
	minTail     = 500   // tokens that may always stay behind a cut, however little room the target leaves
	leastRoom   = 8_000 // tokens of Usable, or a quarter of it if less, that a conversation needs beside the overhead
	leastAnswer = 1_024 // tokens of the model that a crowded request leaves for the answer
	minGain     = 0.1   // share of the request that a compaction or a rescue has to save
)

// Budget returns the budget of a request as it is sent by a plan.
func (k *Known) Budget(p *Plan) Budget {
	l, v := &k.Limits, &p.View
	b := Budget{Overhead: v.Overhead(), Most: l.Usable, Line: math.MaxInt}
	room := min(leastRoom, l.Usable/4)
	b.IsCrowded = b.Overhead+room > l.Usable
	if b.IsCrowded { // it takes the room for the answer too, or all that fits by a refusal
		b.Most = max(l.Usable, l.Window-int(leastAnswer/k.Scale.Ratio))
		if k.Demand.Refused {
			b.Most = max(l.Usable, k.Demand.Fits)
		}
	}
	isFull := k.Model.Detail == summarize.Full && !k.Demand.Refused // the user wants no summary
	switch {
	case isFull, b.Overhead+minTail > b.Most: // in the second no compaction can help, as nothing has room
	case b.IsCrowded:
		b.Line = b.Most
	default:
		b.Line = max(l.CompactLine, b.Overhead+min(room, l.End/4)) // the Overhead leaves room below it
	}
	b.Prepare = b.Line - (l.CompactLine - l.PrepareLine)
	b.Trigger, b.Reason = k.trigger(v.Total, b.Line, isFull)
	b.Target = k.target(p, b)
	b.Least = int(minGain * float64(v.Total))
	switch {
	case k.Demand.Asked || k.Demand.Refused || b.Trigger == event.ReasonTurns:
		b.Least = 0
	case b.IsCrowded:
		b.Least = int(minGain * float64(v.Total-b.Overhead))
	}
	return b
}

// trigger returns Budget.Trigger and Budget.Reason of a request of so many tokens.
func (k *Known) trigger(tokens, line int, isFull bool) (trigger string, reason event.Code) {
	d, turns := &k.Demand, k.Limits.Answers
	switch {
	case d.Refused:
		return event.ReasonOverflow, event.CodeRefused
	case d.ByAgent:
		return event.ReasonAgent, event.CodeAsked
	case d.Asked && (d.To == 0 || tokens > d.To):
		return event.ReasonManual, event.CodeAsked
	case isFull:
		return "", event.NoCode
	case tokens > line:
		return event.ReasonThreshold, event.CodeCompactAt
	case d.Spent:
		return event.ReasonBudget, event.CodeCutoverAt
	case turns > 0 && k.Answers()-k.Before.Compacted >= turns:
		return event.ReasonTurns, event.CodeCompactTurns
	}
	return "", event.NoCode
}

// HasRoom reports whether something calls for a compaction though the window has room: the tokens or the answers since
// the last one, or the agent.
func (b *Budget) HasRoom() bool {
	return slices.Contains([]string{event.ReasonBudget, event.ReasonTurns, event.ReasonAgent}, b.Trigger)
}

// target returns the tokens to which a compaction brings the request: TargetLine, but two fifths of the room that the
// Overhead leaves may stay filled, and a third of it comes free below the line, so that both are worth it. Where the
// window has room, the share compact_to is of what the request has beside the Overhead. A Goal holds as it is.
func (k *Known) target(p *Plan, b Budget) int {
	if p.Goal > 0 {
		return p.Goal
	}
	room := min(b.Most, max(k.Limits.End, b.Line)) - b.Overhead
	target := min(max(k.Limits.TargetLine, b.Overhead+room*2/5), b.Line-room/3)
	if b.HasRoom() {
		target = min(target, b.Overhead+int(k.Limits.Target*float64(p.View.Total-b.Overhead)))
	}
	return target
}

// goal returns the tokens to which the compaction that a client asked for brings the request; 0 if none did.
func (k *Known) goal(tokens, most int) int {
	switch {
	case !k.Demand.Asked || k.Demand.ByAgent:
		return 0
	case k.Demand.To > 0:
		return min(k.Demand.To, most)
	case k.Limits.KeepTurns > 0: // these turns may have more than TargetLine
		return tokens * 3 / 5
	}
	return min(k.Limits.TargetLine, tokens*3/5) // a share of the window may be more than a small request has
}

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
