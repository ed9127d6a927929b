package proxy

import (
	"strings"
	"time"

	"epitome/dialect/conversation"
	"epitome/event"
	"epitome/proxy/wire"
	"epitome/rewrite"
	"epitome/window"
)

const rescueTime = time.Minute // from the first refusal on, in which a further try begins

// rescue passes an answer on, unless it refuses the request as too long. Then the request is sent again, shorter each
// time; if that does not help within rescueTime, the client gets the first refusal as it came. An accepted request is
// never sent again.
func (x *exchange) rescue(first *wire.Answer) (*wire.Answer, error) {
	if x.input == nil || x.shaped.Report.Truncates { // a refusal could not be cured, or does not come
		return first, nil
	}
	r := rescuing{exchange: x}
	until := x.proxy.now().Add(rescueTime)
	for a := first; ; {
		refusal := x.peek(a, r.size)
		if refusal.Cause == window.NotSize {
			if a != first {
				first.End()
				r.accept(a.Code)
			}
			return a, nil
		}
		r.note(refusal, r.size())
		if a != first {
			a.End()
		}
		if !r.Next(refusal) || x.proxy.now().After(until) { // shaping takes time, too
			break
		}
		if first.IsComplete() {
			first.End() // frees its connection; the text is held
		}
		var err error
		r.shaped.Body, r.shaped.Changed = r.Last.Body, r.Last.Changed
		r.event.Rescue.Tries, r.event.Rescue.Stages = len(r.Ways), strings.Join(r.Ways, ", ")
		a, err = r.send()
		if err != nil && x.life.Err() != nil {
			first.End()
			return nil, err
		}
		if err != nil {
			break
		}
	}
	x.isRefused = true
	return first, nil
}

// rescuing is the rescue of one request.
type rescuing struct {
	*exchange
	*rewrite.Rescue // nil until an answer may be a refusal

	refusal window.Refusal // the latest, or the latest that states a window
	refused window.Sent    // by that
}

// size returns the size of the request that was sent last. The first call begins the Rescue.
func (r *rescuing) size() window.Sent {
	if r.Rescue == nil {
		in := *r.input
		in.Body, _ = r.decoded() // it was read before
		r.Rescue = rewrite.NewRescue(in, r.shaped, r.proxy.deps.Shape)
	}
	last := &r.Last.Report
	return window.Sent{
		Tokens: last.TokensAfter.Total(), MaxOutput: last.MaxOutput, Window: last.Window, Rewritten: r.Last.Changed,
		Unpaired: r.isUnpaired,
	}
}

// isUnpaired reports whether the request that was sent last has a call without result, or a result without call.
func (r *rescuing) isUnpaired() bool {
	request, err := conversation.Read(r.dialect, r.Last.Body, nil)
	if err != nil || !request.ServerState.Empty() { // the provider has the rest
		return false
	}
	calls, results := request.Unpaired()
	return len(calls)+len(results) > 0
}

// note keeps a refusal: the first one for the event, and the latest that states a smaller window for learning.
func (r *rescuing) note(v window.Refusal, sent window.Sent) {
	e := &r.event.Rescue
	if e.Kind == "" {
		e.Kind, e.WindowBefore, e.TokensBefore = string(v.Cause), sent.Window, sent.Tokens
	}
	if v.Below(sent.Window) || !r.refusal.Below(r.refused.Window) {
		r.refusal, r.refused = v, sent
	}
}

// accept records how an answer with that status was reached, which is no refusal. The refusals before it are learned
// from only now, as a refusal that nothing has cured may have been misread.
func (r *rescuing) accept(status int) {
	e, last := &r.event.Rescue, &r.Last.Report
	e.Rescued, e.TokensAfter = status < 300, last.TokensAfter.Total()
	if e.Rescued {
		r.learn()
		isRecorded := r.Last.Settle == nil || r.Last.Settle()
		if !isRecorded && last.Code != event.CodeUnkept {
			last.Code, last.Reason = event.CodeUnrecorded, event.CodeUnrecorded.Clause()
		}
	}
	action := event.ActionRescue
	causes := r.shaped.Report.Causes // of the edits that stand
	r.shaped.Report = *last
	r.setReport(last)
	if r.Whole {
		action, causes = event.ActionBypass, event.Codes{event.CodeBroken}
		r.event.Inner = "the provider refused the rewritten request, and not for its size, so the original was sent"
	}
	if r.NoThinking {
		causes = causes.With(event.CodeThought)
	}
	r.event.Action, r.event.Causes = action, r.event.Causes.With(causes...)
	r.setExtra(action)
}

// learn takes the window from the refusal that stated it.
func (r *rescuing) learn() {
	last := &r.Last.Report
	model := last.Model + r.input.Variant
	learned := r.proxy.deps.Windows.LearnRefusal(r.event.Upstream, model, r.refusal, r.refused)
	if learned > 0 {
		r.event.Rescue.WindowAfter, last.Window = learned, learned
	}
}
