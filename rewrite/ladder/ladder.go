// Package ladder is the order of the rungs: offload what comes, clear what is old, fold what a user does not want,
// compact when the window fills, and rescue what was refused.
//
// It stops at the first rung that suffices. It writes on the plan and nowhere else: what it decides depends on the plan
// alone.
package ladder

import (
	"epitome/rewrite/abridge"
	"epitome/rewrite/compact"
	"epitome/rewrite/conversation"
	"epitome/rewrite/plan"
)

// DecideOlder is what is done with items that had been sent before. A prefix that was decided on is not decided on
// again because of what stands behind it.
func DecideOlder(p *plan.Plan) (reason string) {
	if !p.Decidable() {
		return ""
	}
	if plan.MustThink(p) {
		return "what the model thinks until its calls are answered binds all before it: nothing changes until the user's next message"
	}
	applyRules(p)
	clearOld(p, p.Total())
	return compactWhereNeeded(p)
}

// WhyElsewhere says in one sentence why items that had been sent before stay as they are, where somebody else sees to
// them; empty if nobody does.
func WhyElsewhere(by conversation.Keeper) string {
	switch by {
	case conversation.ClientSummarises:
		return "the client asks for its own summary: what was decided is repeated, and nothing new is"
	case conversation.ProviderClears:
		return "the provider clears or compacts this conversation by itself: only results that come are shortened"
	case conversation.ProviderRemembers:
		return "earlier messages lie with the provider: only results that come are shortened"
	}
	return ""
}

// compactWhereNeeded is rung 3, and the last resort before a request is sent that cannot fit.
func compactWhereNeeded(p *plan.Plan) (reason string) {
	switch {
	case p.End == 0 && p.Case.Manual:
		return compact.NoOlder
	case p.End == 0:
		return ""
	case plan.ReasonToCompact(p) == "":
		compact.PrepareSummary(p)
		return ""
	case p.Case.Manual || p.Result.Outcomes.Pays(p.Total(), p.Limits.Conf.Thrash):
		reason = compact.RunCompaction(p)
	default:
		reason = "the last compactions saved too little: there is none until the conversation has grown"
	}
	if p.Ask.Deserted {
		return ""
	}
	if p.Total() > p.Limits.Usable && compact.RunMinimalCompaction(p) == "" {
		reason = ""
	}
	if p.Total() > p.Limits.Usable {
		abridge.FitResults(p)
		compact.NoteTotal(p)
	}
	return reason
}

// WhyNothing says in one sentence why there is no new form.
func WhyNothing(p *plan.Plan, total int) string {
	switch {
	case p.Case.OverQuota && total <= p.Limits.ClearLine:
		return "nothing can be kept beyond this process, or the quota is used up; so all stays whole up to the line"
	case total <= p.Limits.ClearLine:
		return "no new result is over its limit, and clearing old ones does not pay yet"
	case p.Size.System+p.Size.Tools > p.Limits.Usable:
		return "system prompt and tools alone fill the window"
	}
	return "the request is over the line, but what may be cleared would free too little"
}
