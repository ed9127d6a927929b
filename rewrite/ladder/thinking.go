package ladder

import (
	"epitome/dialect/conversation"
	"epitome/event"
	"epitome/rewrite/ledger"
)

// DropThinking takes out all thinking from the first item on that the new edits change: some models accept thinking
// only behind exactly the bytes that preceded it when they thought (State.Binds). The same decision records this, so
// the thinking is never sent again. Later thinking is bound to the changed items, and stays. If the provider refused
// thinking (refused), all goes. Call DropThinking after all other steps, as a later edit could change an earlier item.
func (s State) DropThinking(refused bool) {
	from := len(s.Request.Items)
	for _, e := range s.Added {
		if e.Op == ledger.AddResult { // which stands behind its item
			e.First++
		}
		from = min(from, e.First)
	}
	switch {
	case refused:
		from = 0
	case !s.Binds:
		return
	}
	var edits []ledger.Edit
	for i := from; i < len(s.Request.Items); i++ {
		if !s.forms[i].thinks || s.forms[i].dropped {
			continue
		}
		it := &s.Request.Items[i]
		e := ledger.Edit{First: i, Count: 1, Op: ledger.DropThinking, Saved: s.Request.CountThoughts(s.Scale, it.Thinking),
			Artifacts: []string{s.keepContent(s.Request.Source(i, i+1))}, Step: ledger.StepClear, Reason: event.CodeThinking}
		if it.OnlyThinks() { // an item without content would be left
			e.Op, e.Saved = ledger.Drop, s.Size(i, i+1)
		}
		edits = append(edits, e)
	}
	s.Add(edits...)
}

// lastThinking returns the last item whose thinking is sent; -1 if there is none.
func (p *Plan) lastThinking() int {
	for i := len(p.forms) - 1; i >= 0; i-- {
		if p.forms[i].thinks && !p.forms[i].dropped {
			return i
		}
	}
	return -1
}

// isRoundOpen reports whether results wait for an answer that must continue the thinking before their calls, by a model
// that accepts it only behind an unchanged prefix: no older item may change until the user's next message.
func (s State) isRoundOpen() bool {
	awaitsAnswer := s.prefixEnd > 0 && s.Request.Items[s.prefixEnd-1].Role == conversation.Tool
	return s.Request.ThinksFirst && awaitsAnswer && s.Binds && s.lastThinking() >= 0
}
