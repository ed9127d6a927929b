// Package ladder decides what a request leaves out, in the cheapest order: offload, the user's filters, clear, compact,
// pictures; and after a refusal the stages of a rescue.
//
// Each step is a method of State that adds edits to its plan. It depends on the State alone, and does no I/O except by
// Artifacts and by the functions of the Policy. A step that loses more acts only where the steps before it leave too
// much. The newest groups, results that the model has not seen yet and the user's words go last.
//
// Files: plan.go, limits.go; then the steps: offload.go (also pictures), filter.go (the user's own), clear.go (rent or
// buy), lines.go (when to compact, and how far), compact.go (cut, summary), rescue.go (stages; pairs and thinking that
// are refused); stub.go (what is taken out, where it can be read, and the text in its place).
package ladder

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"epitome/dialect/activity"
	"epitome/dialect/conversation"
	"epitome/event"
	"epitome/rewrite/ledger"
	"epitome/summarize"
)

// State is a request on its way through the ladder: the facts, which never change, the plan so far, and the policy,
// which no step changes.
type State struct {
	*Plan
	*Policy
}

// Policy says what the steps of the ladder have to do for a request, and what they may do.
type Policy struct {
	Limits        Effective
	Asked         bool // the client asked for a compaction, or the agent did
	CompactTo     int  // tokens that the client named for that; 0 if it named none
	ByAgent       bool // the agent asked, by a call of epitome's own tool
	Refused       bool // the provider refused the request, mostly as too long
	Fits          int  // tokens that fit by the refusal; 0 if it does not tell
	OverBudget    bool // the conversation has used up the user's budget
	CacheCold     bool // the provider has nothing of the conversation in its cache: clearing costs nothing
	Binds         bool // the model accepts thinking only behind an unchanged prefix
	ArtifactsOff  bool // artifacts are not to be had, or edits were refused: results stay whole up to ClearLine
	NothingKept   bool // no content can be stored: edits name no artifacts, and their texts say so
	ReadsByTool   bool // the model reads artifacts with epitome's own tool, not by their addresses
	SummaryMode   summarize.Mode
	SummaryDetail summarize.Detail
	// Words returns a model's words for the summary of the items before end. They update earlier, the model's words in
	// the last summary. isReady reports whether they were there; if not, a model is asked for them if wait is set. It
	// is nil if no model may be asked.
	Words func(end int, earlier summarize.Says, wait bool) (p summarize.Prose, isReady bool, err error)
	// Prepare has the same words made in the background; false if no model may be asked ahead of need.
	Prepare func(end int, earlier summarize.Says) bool
	// Distill has a model asked in the background for a distillate of the result at an item, which Distillate returns
	// once it is there; until then it returns "". Both are nil if that is off.
	Distill    func(i int, call *activity.Call)
	Distillate func(i int) string
}

// Decide takes the steps in order: it offloads new results and old pictures, then applies the user's filters, clears
// stale and old results, and compacts where the window fills. s.Reason says why older items stay as they are.
func (s State) Decide() {
	if s.Distill != nil && s.prefixEnd > 0 && s.Request.Upkeep == conversation.NobodyElse {
		defer s.askDistillates() // about what is left then
	}
	switch { // in these cases no older item may change: only new results are shortened
	case s.isSmall() && s.Limits.Filters.Off():
		s.Reason = event.CodeFloor
	case s.Request.Upkeep == conversation.ProviderClears: // the provider changes older items by itself
		s.Reason = event.CodeProviderClears
	case s.Request.Upkeep == conversation.ProviderRemembers: // the provider has older items that the body lacks
		s.Reason = event.CodeProviderRemembers
	case s.isRoundOpen():
		s.Reason = event.CodeThinkingRound
	}
	s.take(s.offload)
	if !s.mayDecideOlder() {
		return
	}
	clearsStale := s.Limits.Stale > 0 && !s.ArtifactsOff
	if clearsStale && (s.Reason == event.NoCode || s.Reason == event.CodeFloor) {
		s.clearAll(s.stale(s.Decision.Restored, s.Limits.Stale), leastSaving, event.CodeStale)
	}
	if s.Reason != event.NoCode {
		return
	}
	if s.prefixEnd > s.Request.Head { // else there is only the head, which never changes
		for _, step := range []func(){s.filter, s.clearOld, s.compact, s.leaveOldPictures} {
			s.take(step)
		}
	} else if trigger, _ := s.trigger(); trigger != "" {
		s.Reason = event.CodeNothingOlder
	}
	switch {
	case s.isCrowded() && s.Total > s.most():
		s.Reason = event.CodeOverhead
	case len(s.Added) > 0 && s.Total <= s.Limits.ClearLine && s.Due() == "": // the new edits were enough
		s.Reason = event.NoCode
	}
}

// Try runs a step, and returns a panic in it as an error.
func Try(step func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	return step()
}

// take takes a step, which is left out alone if it panics.
func (s State) take(step func()) {
	before := *s.Plan
	err := Try(func() error { step(); return nil })
	if err != nil {
		*s.Plan = before
		s.Faults = errors.Join(s.Faults, err)
	}
}

// mayDecideOlder reports whether items that were sent before may be changed: if the recorded decision will be replaced
// (Asked, Refused), covers less than the prefix, or is another model's. Else only items behind the prefix are new, and
// the decision, which is recorded for the prefix, must not depend on items that follow it in one request.
func (s State) mayDecideOlder() bool {
	return s.Asked || s.Refused || s.prefixEnd > s.Recorded || s.Decision.OtherModel
}

// Add adds edits of a step, which take the place of those that they cover. All have the reason, or if it is NoCode,
// each has its own.
func (s State) Add(step ledger.Step, reason event.Code, edits ...ledger.Edit) {
	if len(edits) == 0 {
		return
	}
	for k := range edits {
		e := &edits[k]
		e.Step = step
		if reason != event.NoCode {
			e.Reason = reason
		}
		e.Message = s.Request.MessagesIn(0, e.First+1) - 1 // an index: one less than the messages up to the item
		e.LastMessage = s.Request.MessagesIn(0, e.End()) - 1
		if s.NothingKept {
			e.Artifacts = nil
		}
	}
	s.setEdits(ledger.Add(s.Edits, edits...), ledger.Add(s.Added, edits...))
}

// compactBy adds edits of a compaction if they make the request more than least tokens smaller, and reports whether
// they do.
func (s State) compactBy(least int, reason event.Code, edits ...ledger.Edit) bool {
	before := *s.Plan
	s.Add(ledger.StepCompact, reason, edits...)
	isSmaller := before.Total-s.Total > least // Saved would count again what covered edits saved
	if !isSmaller {
		*s.Plan = before
	}
	return isSmaller
}

// drops returns edits that drop items [first, end), in whole groups, except groups that stay in place: an edit for each
// run of groups between these. All share the artifacts of one transcript. The caller has to set a text on the first.
func (s State) drops(first, end int) (edits []ledger.Edit) {
	items := s.Request.Items
	roleBehind := conversation.Unknown // of the next item that stays
	if end < len(items) {
		roleBehind = items[end].Role
	}
	for _, g := range slices.Backward(s.Request.Groups()) {
		if g.First < first || g.End > end {
			continue
		}
		mayStand := roleBehind != conversation.User || !s.Request.Dialect.API().SystemAsks
		if s.isPinned(g) || s.isKept(g) || s.staysInPlace(g) && mayStand {
			roleBehind = items[g.First].Role
			continue
		}
		if n := len(edits); n > 0 && edits[n-1].First == g.End {
			edits[n-1].First = g.First
			edits[n-1].Count += g.End - g.First
			continue
		}
		edits = append(edits, ledger.Edit{First: g.First, Count: g.End - g.First, Op: ledger.Drop})
	}
	if len(edits) == 0 {
		return nil
	}
	slices.Reverse(edits)
	artifacts := s.keepItems(edits[0].First, edits[len(edits)-1].End()) // KeepAgain finds this range in the edits
	for k := range edits {
		e := &edits[k]
		e.Artifacts, e.Saved = artifacts, s.Size(e.First, e.End())
	}
	return edits
}

// staysInPlace reports whether a group stays in place, whatever is dropped around it: it is pinned or kept, or is a
// message of the system, whose instructions still hold, that was not dropped before.
func (s State) staysInPlace(g conversation.Group) bool {
	isSystem := s.Request.Items[g.First].Role == conversation.System && !s.forms[g.First].dropped
	return isSystem || s.isPinned(g) || s.isKept(g)
}

// isKept reports whether a group that was not dropped before has a result of a tool with Limit.Keep, and may stay.
func (s State) isKept(g conversation.Group) bool {
	if s.dropsKept || s.forms[g.First].dropped {
		return false
	}
	return slices.ContainsFunc(s.callOf[g.First:g.End], func(c *activity.Call) bool {
		return s.Limits.toolLimit(c.Tool).Keep
	})
}

// mustShow reports whether at least an excerpt of result i has to be sent: no whole answer follows it, so the model has
// not seen it or is still using it. Once the provider has refused the request, nothing has to be sent.
func (s State) mustShow(i int) bool {
	newest := s.answersUpTo[len(s.answersUpTo)-1]
	if s.Request.AnswerGoesOn { // the model may still continue the last answer
		newest--
	}
	return s.answersUpTo[i] >= newest && !s.Refused
}

// mayReplace reports whether an item has the role, and may become a stub or an excerpt: it is sent and no stub yet, its
// content is not opaque (Locked), and no Limit.Keep is set for its tool.
func (s State) mayReplace(i int, role conversation.Role) bool {
	it, f := &s.Request.Items[i], &s.forms[i]
	isKept := s.Limits.toolLimit(s.callOf[i].Tool).Keep
	return it.Role == role && !f.dropped && !f.cleared && !it.Locked && !isKept
}

// mayShorten reports whether an item is a result that may be cut or cleared.
func (s State) mayShorten(i int) bool { return s.mayReplace(i, conversation.Tool) }
