package ladder

import (
	"epitome/rewrite/ledger"
	"epitome/summarize"
)

// isLarge reports whether result i is worth a distillate: it is large, and what is sent of it takes at least twice as
// much as a stub with the distillate.
func (s State) isLarge(i int) bool {
	const largeResult, largeSent = 2_000, 2 * (stubTokens + summarize.MaxDistillate) // tokens
	return s.Request.Items[i].Size.Text >= largeResult && s.forms[i].tokens >= largeSent
}

// askDistillates has a model asked for distillates of the large results that may be cleared from this request on: about
// each once. Stale results, and those that report a failure, have other stubs.
func (s State) askDistillates() {
	before := s.answersUpTo[max(s.Recorded, 1)-1] // answers that the request before had
	for _, c := range s.clearable(s.Answers) {
		call := s.callOf[c.item]
		if c.since > before && s.isLarge(c.item) && !s.isStale(c.item) &&
			call.Failure(s.Request.LinesOf(&s.Request.Items[c.item])) == "" {
			s.Distill(c.item, call)
		}
	}
}

// distillate returns a model's distillate for the stub of result i. It is empty if there is none, and in a rescue.
func (s State) distillate(i int, step ledger.Step) string {
	if s.Distillate == nil || s.Refused || step != ledger.StepClear || !s.isLarge(i) {
		return ""
	}
	return s.Distillate(i)
}
