package ladder

import (
	"epitome/rewrite/abridge"
	"epitome/rewrite/compact"
	"epitome/rewrite/decision"
	"epitome/rewrite/history"
	"epitome/rewrite/plan"
)

// RescuePlan takes one stage after another until the request fits. If that does not make it a tenth smaller, nothing has changed.
func RescuePlan(p *plan.Plan) (reason string) {
	if p.Ask.Rescue.Whole {
		clear(p.Forms)
		return "the structure of what was sent was refused: it goes on as it came"
	}
	if p.End == 0 {
		return "there is nothing that could be left out"
	}
	total := p.Total()
	if have := p.InModelTokens(total); p.Ask.Rescue.Sent > 0 && have <= p.Ask.Rescue.Most && float64(have) < (1-decision.LeastGain)*float64(p.Ask.Rescue.Sent) {
		p.Ask.Stage = max(p.Ask.Rescue.From, plan.StageClear) // an equal request was refused and rescued meanwhile
		return ""
	}
	before := p.Checkpoint()
	for p.Ask.Stage = max(p.Ask.Rescue.From, plan.StageClear); ; p.Ask.Stage++ {
		takeStage(p, p.Ask.Stage)
		if p.Total() <= p.Limits.Usable || p.Ask.Stage == plan.StageBare {
			break
		}
	}
	if float64(p.Total()) > (1-decision.LeastGain)*float64(total) {
		p.Undo(before)
		p.Ask.Stage = plan.StageNone
		return "it cannot be made a tenth smaller"
	}
	return ""
}

// takeStage is one stage.
func takeStage(p *plan.Plan, s plan.Stage) {
	switch s {
	case plan.StageClear:
		clearAll(p, clearableResults(p, func(a0 *history.Result, a1 string) int { return stubSize(p, a0, a1) }))
	case plan.StageCompact:
		if compact.RunCompaction(p); p.Total() > p.Limits.Usable {
			compact.RunMinimalCompaction(p)
		}
	case plan.StageShort:
		abridge.ShrinkResults(p, abridge.ShortTokens)
	case plan.StageShorter:
		abridge.ShrinkResults(p, abridge.ShorterTokens)
	case plan.StageBare:
		compact.LeaveBare(p)
	}
}
