package ladder

import (
	"epitome/event"
	"epitome/rewrite/conversation"
	"epitome/rewrite/ledger"
)

// Some models accept their thinking only behind an unchanged prefix, to the byte. So where an item is sent otherwise
// than before, all thinking behind it goes, in the same decision, and never comes back. Thinking that comes later
// stands behind whatever is sent then, and stays.

// DropThinking takes out all thinking behind the first item that the new edits change; all there is if refused says
// that the provider refused it. It comes when all else is decided.
func DropThinking(s *State, refused bool) {
	from := len(s.Request.Items)
	for k := range s.Added {
		from = min(from, s.Added[k].First)
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
		e := ledger.Edit{First: i, Count: 1, Op: ledger.DropThinking, Saved: s.Request.CountThinking(s.Scale, it),
			Artifacts: []string{s.keep(s.Request.Source(i, i+1))}, Step: ledger.StepClear, Why: event.CodeThinking}
		if it.OnlyThinks() {
			e.Op, e.Saved = ledger.Drop, s.Size(i)
		}
		edits = append(edits, e)
	}
	s.Add(event.NoCause, edits...)
}

// lastThinking is the last item whose thinking is sent; -1 if there is none.
func (s *State) lastThinking() int {
	for i := len(s.forms) - 1; i >= 0; i-- {
		if s.forms[i].thinks && !s.forms[i].dropped {
			return i
		}
	}
	return -1
}

// isRoundOpen reports whether the model has called tools in an answer that must begin with its thinking, and accepts that
// only behind an unchanged prefix: until the user's next message nothing may change.
func (s *State) isRoundOpen() bool {
	awaitsAnswer := s.end > 0 && s.Request.Items[s.end-1].Role == conversation.Tool
	return s.Request.ThinksFirst && awaitsAnswer && s.Binds && s.lastThinking() >= 0
}
