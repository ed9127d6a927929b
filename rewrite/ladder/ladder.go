// Package ladder is the order of the rungs: offload what comes, clear what is old, fold what a user does not want,
// compact when the window fills, and rescue what was refused.
//
// It stops at the first rung that suffices. It writes on the plan and nowhere else: what it decides depends on the plan
// alone.
package ladder

import (
	"cmp"

	"epitome/event"
	"epitome/rewrite/compact"
	"epitome/rewrite/conversation"
	"epitome/rewrite/plan"
)

// DecideOlder is what is done with items that had been sent before. A prefix that was decided on is not decided on
// again because of what stands behind it.
func DecideOlder(p *plan.Plan) (reason plan.Why) {
	if !p.Decidable() {
		return plan.Why{}
	}
	if plan.MustThink(p) {
		return plan.Why{Code: event.CodeThinkingRound, Words: "what the model thinks until its calls are answered binds " +
			"all before it: nothing changes until the user's next message"}
	}
	applyRules(p)
	p.Result.Compared = p.Total()
	clearOld(p, p.Result.Compared)
	return compactWhereNeeded(p)
}

// mostNew is how many items may be new of a conversation for which anything is decided, but to save it from a refusal.
// Agents never send so many at once.
const mostNew = 30_000

// WhyTooMuch says why nothing is decided where too much is new at once; nothing where it is not.
func WhyTooMuch(p *plan.Plan) (why plan.Why) {
	if p.Hist.Len()-p.Base.Depth() > mostNew {
		why = plan.Because(event.CodeNotRead, "more than %d items are new", mostNew)
	}
	return why
}

// WhyElsewhere says in one sentence why items that had been sent before stay as they are, where somebody else sees to
// them; empty if nobody does.
func WhyElsewhere(by conversation.Keeper) plan.Why {
	switch by {
	case conversation.ClientSummarises:
		return plan.Why{Code: event.CodeClientSummarises,
			Words: "the client asks for its own summary: what was decided is repeated, and nothing new is"}
	case conversation.ProviderClears:
		return plan.Why{Code: event.CodeProviderClears,
			Words: "the provider clears or compacts this conversation by itself: only results that come are shortened"}
	case conversation.ProviderRemembers:
		return plan.Why{Code: event.CodeProviderRemembers,
			Words: "earlier messages lie with the provider: only results that come are shortened"}
	}
	return plan.Why{}
}

// compactWhereNeeded is rung 3, and the last resort before a request is sent that cannot fit.
func compactWhereNeeded(p *plan.Plan) (reason plan.Why) {
	why := plan.ReasonToCompact(p)
	p.Sheet.Cause = cmp.Or(event.CauseOfReason(why), event.CauseLine)
	switch {
	case p.End == 0 && p.Case.Manual:
		return compact.NoOlder
	case p.End == 0:
		return plan.Why{}
	case why == "":
		compact.PrepareSummary(p)
		return plan.Why{}
	case p.Case.Manual || p.Result.Outcomes.Pays(p.Total(), p.Limits.Conf.Thrash):
		reason = compact.RunCompaction(p)
	default:
		reason = plan.Why{Code: event.CodeInVain,
			Words: "the last compactions saved too little: there is none until the conversation has grown"}
	}
	if p.Ask.Deserted {
		return plan.Why{}
	}
	if p.Total() > p.Limits.Usable && compact.RunMinimalCompaction(p).Code == event.NoCode {
		reason = plan.Why{}
	}
	if p.Total() > p.Limits.Usable {
		p.Sheet.Cause = event.CauseFull
		plan.FitResults(p)
		compact.NoteTotal(p)
	}
	return reason
}
