package ladder

import (
	"slices"

	"epitome/event"
	"epitome/rewrite/decision"
	"epitome/rewrite/history"
	"epitome/rewrite/plan"
)

// WhyNoMore says in one sentence why there is no new form, or why the request is over the line for clearing and nothing
// was cleared; nothing where there is nothing to say. total is what it took before anything was done, in tokens of the
// vocabulary.
func WhyNoMore(p *plan.Plan, total int) plan.Why {
	if len(p.Sheet.Changes) == 0 {
		return WhyNothing(p, total)
	}
	return WhyOverLine(p)
}

// WhyNothing says in one sentence why there is no new form, with the numbers that show it. total is what the request
// takes, in tokens of the vocabulary.
func WhyNothing(p *plan.Plan, total int) plan.Why {
	line := plan.Amount(p, p.Limits.ClearLine)
	switch fixed := p.Size.System + p.Size.Tools; {
	case p.Case.OverQuota && total <= p.Limits.ClearLine && p.Shelf.Full():
		return plan.Because(event.CodeQuota, "the quota for artifacts is used up: all stays whole up to the line of %s", line)
	case p.Case.OverQuota && total <= p.Limits.ClearLine:
		return plan.Because(event.CodePassing, "nothing can be kept beyond this process: all stays whole up to the line of %s",
			line)
	case total <= p.Limits.ClearLine:
		return plan.Because(event.CodeNotDue, "%s; %s", newestInWords(p), dueInWords(p))
	case fixed > p.Limits.Usable:
		return plan.Because(event.CodeFixedFills, "system prompt and tools alone have %s and fill the window, of which a "+
			"request may have %s", plan.InTokens(p, fixed), plan.Amount(p, p.Limits.Usable))
	}
	return freesLittle(p, total)
}

// WhyOverLine says why a request is sent over the line for clearing of which results that came were shortened, and
// nothing else was done; nothing where it is not.
func WhyOverLine(p *plan.Plan) (why plan.Why) {
	offload := decision.RungOffload.String()
	if slices.ContainsFunc(p.Sheet.Changes, func(c plan.Change) bool { return c.Rung != offload }) {
		return why
	}
	if total := p.Total(); total > p.Limits.ClearLine && p.Result.Due.Looked {
		why = freesLittle(p, total)
	}
	return why
}

// freesLittle says that clearing would free too little of a request of so many tokens that is over the line.
func freesLittle(p *plan.Plan, total int) plan.Why {
	due, line := p.Result.Due, plan.Amount(p, p.Limits.ClearLine)
	return plan.Because(event.CodeFreesLittle, "the request has %s and is over the line of %s, but clearing frees %s, "+
		"and is done once it frees %s", plan.InTokens(p, total), line, atMost(p, due), plan.Amount(p, due.From))
}

// newestInWords says of the largest result that has come why it is sent whole.
func newestInWords(p *plan.Plan) string {
	var largest *history.Result
	for k := len(p.Hist.Results) - 1; k >= 0 && p.Hist.Results[k].Item >= p.Base.Depth(); k-- {
		res := &p.Hist.Results[k]
		if !plan.IsUntouchable(p, res) && (largest == nil || p.Hist.Sizes[res.Item] > p.Hist.Sizes[largest.Item]) {
			largest = res
		}
	}
	if largest == nil {
		return "no result has come that may be shortened"
	}
	limit, _, _ := limitOf(p, largest)
	_, tokens := p.Passages(largest.Item)
	if tokens > limit {
		return "shortening the largest new result (" + plan.InTokens(p, tokens) + ", over " + plan.Amount(p, limit) +
			") saves too little"
	}
	return "the largest new result has " + plan.InTokens(p, tokens) + " and is not over its limit of " + plan.Amount(p, limit)
}

// dueInWords says what clearing would come to.
func dueInWords(p *plan.Plan) string {
	switch due := p.Result.Due; {
	case !due.Looked:
		return "nothing has come since that older messages could be decided on again for"
	case due.Freed == 0:
		return "nothing that was sent is old or spent"
	case due.Waits:
		return "clearing would free " + atMost(p, due) + " tokens, and waits for the line of " + plan.InTokens(p, p.Limits.ClearLine)
	default:
		return "clearing would free " + atMost(p, due) + " tokens; it pays once it frees " + plan.Amount(p, due.From)
	}
}

// atMost is what clearing would free.
func atMost(p *plan.Plan, due plan.Due) string {
	if due.AtMost && due.Freed > 0 {
		return "at most " + plan.Amount(p, due.Freed)
	}
	return plan.Amount(p, due.Freed)
}
