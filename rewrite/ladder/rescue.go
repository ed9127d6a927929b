package ladder

import (
	"epitome/event"
	"epitome/rewrite/compact"
	"epitome/rewrite/conversation"
	"epitome/rewrite/decision"
	"epitome/rewrite/plan"
)

// RescuePlan takes one stage after another until the request fits. If that does not make it a tenth smaller, nothing
// has changed.
func RescuePlan(p *plan.Plan) (reason plan.Why) {
	if p.Case.Rescue.Whole {
		clear(p.Forms)
		return plan.Why{Code: event.CodeBroken, Words: "the structure of what was sent was refused: it goes on as it came"}
	}
	if p.Case.Rescue.Unthinking && p.Case.Rescue.Most == 0 {
		return plan.Why{}
	}
	if p.Req.Upkeep.By == conversation.ProviderRemembers {
		return plan.Why{Code: event.CodeProviderRemembers,
			Words: "earlier messages lie with the provider: nothing of them can be left out"}
	}
	if p.End == 0 {
		return plan.Why{Code: event.CodeNothingToLeave, Words: "there is nothing that could be left out"}
	}
	total := p.Total()
	if have := p.Scale.InModelTokens(total); p.Case.Rescue.Sent > 0 && have <= p.Case.Rescue.Most &&
		float64(have) < (1-decision.LeastGain)*float64(p.Case.Rescue.Sent) {
		p.Result.Stage = max(p.Case.Rescue.From, plan.StageClear) // an equal request was refused and rescued meanwhile
		return plan.Why{}
	}
	p.Sheet.Cause = event.CauseRefused
	before := p.Checkpoint()
	enough := func() bool { return float64(p.Total()) <= (1-decision.LeastGain)*float64(total) }
	least := plan.StageClear
	if plan.MustThink(p) { // as a whole the round may go, and no smaller part of it
		least = plan.StageBare
	}
	if p.Result.Stage = max(p.Case.Rescue.From, least); p.Result.Stage == plan.StageUsers {
		takeStage(p, plan.StageBare)
	}
	for ; ; p.Result.Stage++ {
		takeStage(p, p.Result.Stage)
		// What the user said is left out only where it is known that nothing else helps.
		if p.Total() <= p.Limits.Usable || p.Result.Stage == plan.StageBare && enough() ||
			p.Result.Stage == plan.StageUsers {
			break
		}
	}
	if !enough() {
		p.Undo(before)
		p.Result.Stage = plan.StageNone
		return plan.Why{Code: event.CodeNotATenth, Words: "it cannot be made a tenth smaller"}
	}
	return plan.Why{}
}

// takeStage is one stage.
func takeStage(p *plan.Plan, s plan.Stage) {
	switch s {
	case plan.StageClear:
		clearAll(p, worthClearing(p, clearableResults(p, p.Hist.Answers[p.End-1])))
	case plan.StageCompact:
		if compact.RunCompaction(p); p.Total() > p.Limits.Usable {
			compact.RunMinimalCompaction(p)
		}
	case plan.StageShort:
		plan.ShrinkResults(p, plan.ShortTokens, p.Limits.Usable)
	case plan.StageShorter:
		plan.ShrinkResults(p, plan.ShorterTokens, p.Limits.Usable)
	case plan.StageBare:
		compact.LeaveBare(p)
	case plan.StageUsers:
		compact.LeaveUsers(p)
	}
}
