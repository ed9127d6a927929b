package plan

import (
	"epitome/event"
	"epitome/prose"
	"epitome/rewrite/conversation"
	"epitome/rewrite/decision"
)

// Asker is how compactions of a request get prose, and whom they tell what they do.
type Asker struct {
	Summariser     Summariser  // nil if no model is asked
	Style          prose.Style // as it is at the window
	Client         Client      // nil if nobody waits
	Lane           decision.Route
	Conversation   string
	Window, Usable int // tokens of the model: its window, and what of it may be filled
	Tell           Listener
	HeadMoved      bool              // the leading block is another than in the request before: no provider has it cached
	Prepared       int               // tokens that the request had when a summary was last made ahead of need
	PreparedCut    int               // the cut at which that was
	HeadSum        conversation.Link // hash of the leading block, once it was asked for
	Deserted       bool              // the client has left while an answer was waited for
	Manual         bool              // the compaction was asked for
	Rescue         *Rescue           // the request was refused; nil if it was not
	Stage          Stage             // of the rescue that was reached
	Budget         bool              // the conversation's budget is used up
	Notice         event.Compaction  // of the compaction that was begun last
	FilesNamed     int               // files that its recap names
	Outcomes       decision.Outcomes // of the conversation, with those of this request
}

// MayOverwrite reports whether what was decided for this request before is to be replaced.
func (q *Asker) MayOverwrite() bool { return q.Manual || q.Rescue != nil }

// Asks reports whether prose is wanted and a model can be asked for it.
func (q *Asker) Asks() bool {
	return q.Summariser != nil && (q.Style.Mode == prose.ModeLLM || q.Style.Mode == prose.ModeHybrid)
}

// Tell tells a step of a compaction, with what all that is told of a request has in common.
func (p *Plan) Tell(n event.Compaction) {
	if p.Ask.Tell == nil {
		return
	}
	n.Conversation, n.Upstream, n.Model = p.Ask.Conversation, p.Ask.Lane.Upstream, event.Clip(p.Ask.Lane.Model)
	n.Window, n.Usable, n.Why = p.Ask.Window, p.Ask.Usable, event.Clip(n.Why)
	p.Ask.Tell.RecordCompaction(n)
}
