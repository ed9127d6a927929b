package compact

import (
	"slices"

	"epitome/event"
	"epitome/prose"
	"epitome/rewrite/conversation"
	"epitome/rewrite/decision"
	"epitome/rewrite/plan"
	"epitome/rewrite/span"
)

// noteBegin tells that a compaction begins.
func (c *compaction) noteBegin() {
	if c.P.Result.Notice.Kind == event.CompactionCompleted { // it goes on
		return
	}
	c.P.Result.Notice = event.Compaction{
		Kind: event.CompactionStarted, Reason: plan.ReasonToCompact(c.P),
		Mode: c.P.Ask.Style.Mode, Detail: c.P.Ask.Style.Detail,
		MessagesBefore: countMessages(c.P), TokensBefore: c.P.Scale.InModelTokens(c.P.Total()),
	}
	if c.P.Case.Rescue == nil { // else it is not known yet whether anything comes of it
		c.P.Tell(c.P.Result.Notice)
	}
}

// noteEnd notes how a compaction ended: what is told once it is recorded, or at once why nothing came of it. total is
// what the request took before.
func (c *compaction) noteEnd(total int, why plan.Why) {
	outcome := decision.Outcome{Before: total, After: c.P.Total()}
	c.P.Result.Outcomes = c.P.Result.Outcomes.With(decision.Outcomes{outcome}, c.P.Limits.Conf.Thrash)
	n := &c.P.Result.Notice
	if why.Code != event.NoCode {
		if n.Kind != event.CompactionCompleted {
			if n.Kind, n.Why = event.CompactionFailed, why.Words; c.P.Case.Rescue == nil {
				c.P.Tell(*n)
			}
		}
		return
	}
	n.Kind = event.CompactionCompleted
	if c.says.Text == "" && (n.Mode == prose.ModeLLM || n.Mode == prose.ModeHybrid) {
		n.Mode = prose.ModeIntent
	}
	n.MessagesAfter, n.TokensAfter = countMessages(c.P), c.P.Scale.InModelTokens(c.P.Total())
	n.Files, n.TurnsKept = c.P.Result.FilesNamed, turnsBehindCut(c)
}

// NoteTotal notes what the request takes in the end, where more than the compaction has changed it.
func NoteTotal(p *plan.Plan) {
	n, all := &p.Result.Notice, p.Result.Outcomes
	if n.Kind != event.CompactionCompleted || len(all) == 0 {
		return
	}
	n.TokensAfter = p.Scale.InModelTokens(p.Total())
	last := decision.Outcome{Before: all[len(all)-1].Before, After: p.Total()}
	p.Result.Outcomes = append(slices.Clone(all[:len(all)-1]), last)
}

// countMessages is how many messages are sent.
func countMessages(p *plan.Plan) int {
	n := conversation.MessagesIn(p.Req, 0, p.Req.Head)
	last := span.Span{} // the message that was counted last
	for i, f := range p.Forms[:p.Hist.Len()] {
		place := p.Req.Items[p.Req.Head+i].Place()
		if f != nil && (f.Gone || f.Fold > 0 && f.With == "") || place == last {
			continue
		}
		if n++; f == nil || f.Fold == 0 {
			last = place
		}
	}
	return n
}

// turnsBehindCut is how many turns stay behind the cut; one of which only the end stays is one too.
func turnsBehindCut(c *compaction) int {
	n := 1
	for i := max(c.to, 0) + 1; i < c.P.Hist.Len(); i++ {
		if plan.UserSpeaks(c.P, i) {
			n++
		}
	}
	return n
}

// FailureOf returns n as the end of a compaction of which nothing came.
func FailureOf(n event.Compaction, why string) event.Compaction {
	n.Kind, n.Why = event.CompactionFailed, why
	return n
}
