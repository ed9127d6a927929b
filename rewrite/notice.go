package rewrite

import (
	"epitome/event"
	"epitome/prose"
)

// begun tells that a compaction begins.
func (c *compaction) begun() {
	if c.notice.Kind == event.CompactionCompleted { // it goes on
		return
	}
	c.notice = event.Compaction{
		Kind: event.CompactionStarted, Reason: c.reason(), Mode: c.style.Mode, Detail: c.style.Detail,
		MessagesBefore: c.messages(), TokensBefore: c.models(c.total()),
	}
	if c.rescue == nil { // else it is not known yet whether anything comes of it
		c.say(c.notice)
	}
}

// ended notes how a compaction ended: what is told once it is recorded, or at once why nothing came of it. total is what the
// request took before.
func (c *compaction) ended(total int, why string) {
	c.outcomes = c.outcomes.with(outcomes{{total, c.total()}}, c.Thrash)
	n := &c.notice
	if why != "" {
		if n.Kind != event.CompactionCompleted {
			if n.Kind, n.Why = event.CompactionFailed, why; c.rescue == nil {
				c.say(*n)
			}
		}
		return
	}
	n.Kind = event.CompactionCompleted
	if c.told.prose == "" && (n.Mode == prose.ModeLLM || n.Mode == prose.ModeHybrid) {
		n.Mode = prose.ModeIntent
	}
	n.MessagesAfter, n.TokensAfter, n.Files, n.TurnsKept = c.messages(), c.models(c.total()), c.tracked, c.turnsFromCut()
}

// reason is why there is a compaction.
func (p *plan) reason() string {
	switch {
	case p.rescue != nil:
		return event.ReasonOverflow
	case p.manual:
		return event.ReasonManual
	case p.total() > p.compactLine:
		return event.ReasonThreshold
	case p.budget:
		return event.ReasonBudget
	}
	return ""
}

// messages is how many messages are sent.
func (p *plan) messages() int {
	n := len(p.req.Items)
	for i, f := range p.forms {
		if f != nil && (f.Gone || f.Fold > 0 && f.With == "") && i < p.hist.len() {
			n--
		}
	}
	return n
}

// models is a number of tokens in those of the model.
func (p *plan) models(tokens int) int { return int(float64(tokens) * p.ratio) }

// turnsFromCut is how many turns stay behind the cut; one of which only the end stays is one too.
func (c *compaction) turnsFromCut() int {
	n := 1
	for i := max(c.to, 0) + 1; i < c.hist.len(); i++ {
		if c.req.Items[c.req.Head+i].Role == User {
			n++
		}
	}
	return n
}

// say tells a step of a compaction, with what all that is told of a request has in common.
func (p *plan) say(n event.Compaction) {
	if p.tell == nil {
		return
	}
	n.Conversation, n.Upstream, n.Model = p.conversation, p.lane.upstream, event.Clip(p.lane.model)
	n.Window, n.Usable, n.Why = p.holds, p.takes, event.Clip(n.Why)
	p.tell.RecordCompaction(n)
}

// warn tells a warning, with what all that is told of a request has in common.
func (p *plan) warn(w event.Warning) {
	if p.tell == nil {
		return
	}
	w.Conversation, w.Upstream, w.Model = p.conversation, p.lane.upstream, event.Clip(p.lane.model)
	w.Window, w.Usable = p.holds, p.takes
	p.tell.RecordWarning(w)
}

// failureOf returns n as the end of a compaction of which nothing came.
func failureOf(n event.Compaction, why string) event.Compaction {
	n.Kind, n.Why = event.CompactionFailed, why
	return n
}
