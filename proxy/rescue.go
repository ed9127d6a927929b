package proxy

import (
	"bytes"
	"cmp"
	"strings"

	"epitome/event"
	"epitome/proxy/wire"
	"epitome/rewrite"
	"epitome/rewrite/ladder"
	"epitome/rewrite/ledger"
	"epitome/window"
)

// RescueTries is how often a request that was refused as too long is sent again, shorter each time.
const RescueTries = 4

const leastOutput = 512 // tokens: the smallest cap on the output that is worth a request

// rescue passes an answer on, unless it refuses the request as too long. Then the request is sent again, shorter each
// time; if that does not help, the client gets the first refusal as it came. An accepted request is never sent again.
func (x *exchange) rescue(up *upstream, target []byte, first *wire.Answer) (*wire.Answer, error) {
	if x.dialect == nil || x.counts {
		return first, nil
	}
	x.listen(first)
	if x.input == nil || x.report.Truncates { // a refusal could not be cured, or does not come
		return first, nil
	}
	r := rescuing{exchange: x, last: &x.report, causes: x.event.Causes}
	for a := first; ; {
		refusal := x.peek(a, r.sentLast())
		if refusal.Cause == window.NotSize {
			if a != first {
				first.End()
				r.accept(a.Code)
			}
			return a, nil
		}
		r.note(refusal)
		if a != first {
			a.End()
		}
		if r.tries == RescueTries || !r.shorten(refusal) {
			break
		}
		if first.IsComplete() {
			first.End() // frees its connection; the text is held
		}
		r.tries++
		var err error
		if a, err = up.pool.Do(x.life, x.outgoing(up, target)); err != nil && x.life.Err() != nil {
			first.End()
			return nil, err
		} else if err != nil {
			break
		}
		x.listen(a)
	}
	x.event.Rescue.Tries = r.tries
	x.answer, first.Hears = nil, nil
	return first, nil
}

// rescuing is the rescue of one request.
type rescuing struct {
	*exchange
	tries int // so far

	last       *rewrite.Report // on the form that was sent last
	output     int             // cap on the output that was set; 0 if none was
	paired     bool            // calls without results and results without calls were mended, as they were refused
	whole      bool            // the request goes as it came, as its structure was refused
	pictures   int             // how often pictures were refused, or the size of the body
	noThinking bool            // no thinking of the model goes, as that was refused
	record     func() bool     // records the form that was sent last; nil if it is recorded
	causes     event.Codes     // of the edits that stand, and of taking others back

	refusal window.Refusal // the latest, or the latest that states a window
	refused window.Sent    // by that
}

// sentLast returns the size of the request that was sent last.
func (r *rescuing) sentLast() window.Sent {
	last := r.last
	return window.Sent{
		Tokens: last.TokensAfter.Total(), MaxOutput: last.MaxOutput, Window: last.Window, Rewritten: r.sent != nil,
		Unpaired: r.isUnpaired,
	}
}

// isUnpaired reports whether the request that was sent last has a call without result, or a result without call.
func (r *rescuing) isUnpaired() bool {
	request, err := r.input.Dialect.Read(r.body(), nil)
	if err != nil || !request.ServerState.Empty() { // the provider has the rest
		return false
	}
	calls, results := request.Unpaired()
	return len(calls)+len(results) > 0
}

// body returns the body that was sent last, without its content coding.
func (r *rescuing) body() []byte {
	body, _ := r.conversation() // could be read before
	if r.sent != nil {
		body = r.sent
	}
	return body
}

// note keeps a refusal: the first one for the event, and the latest that states a smaller window for learning.
func (r *rescuing) note(v window.Refusal) {
	e := &r.event.Rescue
	if e.Kind == "" {
		e.Kind, e.WindowBefore, e.TokensBefore = v.Cause.String(), r.last.Window, r.last.TokensAfter.Total()
	}
	if v.Below(r.last.Window) || !r.refusal.Below(r.refused.Window) {
		r.refusal, r.refused = v, r.sentLast()
	}
}

// shorten makes the request shorter, in the way that the refusal asks for, and reports whether that is to be sent.
func (r *rescuing) shorten(v window.Refusal) bool {
	switch {
	case r.whole: // nothing of it can be left out
		return false
	case v.Cause == window.Thinking && !r.noThinking:
		r.noThinking, r.causes = true, r.causes.With(event.CodeThought)
		return r.reshape(rewrite.Rescue{}, "thinking") || r.takeBack()
	case v.Cause == window.Pairs && !r.paired:
		r.paired = true
		return r.reshape(rewrite.Rescue{}, "pairs") || r.takeBack()
	case v.Cause == window.Malformed, v.Cause == window.Thinking, v.Cause == window.Pairs:
		return r.takeBack()
	case v.Cause == window.Output && r.capOutput(v.Room):
		return true
	case v.Cause == window.Pictures, v.Cause == window.Bytes && r.pictures == 0:
		r.pictures++
		if ok := r.reshape(rewrite.Rescue{}, "pictures"); ok || v.Cause == window.Pictures {
			return ok
		}
	}
	from := r.last.Stage.Next(r.tries+1 >= RescueTries)
	return r.reshape(rewrite.Rescue{Most: r.most(v), From: from}, "") ||
		r.last.Action == string(ledger.StepAdd) && r.takeBack() // epitome has only added something
}

// takeBack makes the request as it came, and reports whether it may be sent: it is another form, and not too long.
func (r *rescuing) takeBack() bool {
	cameBroken := r.paired && r.report.Action == event.ActionNone // it was refused as it came
	if r.sent == nil || cameBroken || r.report.TokensBefore.Total() > r.last.Window {
		return false
	}
	r.whole, r.causes = true, event.Codes{event.CodeBroken}
	if r.noThinking {
		r.causes = r.causes.With(event.CodeThought)
	}
	return r.reshape(rewrite.Rescue{Whole: true}, "whole")
}

// capOutput has the request ask for less output, if a cap of so many tokens is worth a request.
func (r *rescuing) capOutput(tokens int) bool {
	if tokens < leastOutput || r.output > 0 && tokens >= r.output {
		return false
	}
	capped, ok := r.dialect.CapOutput(r.body(), tokens)
	if ok {
		r.sent, r.output, r.last.MaxOutput = capped, tokens, min(r.last.MaxOutput, tokens)
		r.did("output")
	}
	return ok
}

// most returns how many tokens the next request may have, by our count: the room that the refusal states, and in any
// case a tenth less than before. Where it states none, half.
func (r *rescuing) most(v window.Refusal) int {
	sent := r.sentLast()
	if v.Limit <= 0 || v.Cause != window.Input && v.Cause != window.Output {
		return sent.Tokens / 2
	}
	room := window.Usable(v.Limit, sent.MaxOutput)
	// The provider's tokens may be smaller than ours.
	if counted := v.Requested; v.Cause == window.Input && counted > sent.Tokens {
		room = int(int64(room) * int64(sent.Tokens) / int64(counted))
	}
	return min(room, sent.Tokens*9/10)
}

// reshape has the conversation shaped anew, and reports whether the new form is worth sending. did names the way in the
// event; empty is the stage of the ladder.
func (r *rescuing) reshape(how rewrite.Rescue, did string) bool {
	in := *r.input
	in.Body, _ = r.conversation() // could be read before
	how.NoThinking, how.Pictures, how.Pair, in.Rescue = r.noThinking, r.pictures, r.paired, &how
	out, err := r.shapeInTurn(r.proxy.deps.Shape, in)
	if err != nil {
		return false
	}
	next := &out.Report
	isEnough := next.Stage != ladder.StageNone && next.TokensAfter.Total() <= r.last.TokensAfter.Total()*19/20
	switch {
	case next.Err != nil && !how.NoThinking,
		how.Most > 0 && !isEnough,
		did == "pictures" && !next.Decided,
		(how.Whole || did == "pairs") && bytes.Equal(out.Body, r.body()), // which was refused
		how.NoThinking && !how.Whole && !out.Changed,
		how.Whole && next.Action == string(ledger.StepAdd): // nothing could be taken back
		return false
	}
	next.JoinRefused(&r.report, how.Whole)
	r.last, r.record, r.sent = next, out.Settle, nil
	if out.Changed {
		r.sent = out.Body
	}
	if r.output > 0 && r.sent != nil {
		r.sent, _ = r.dialect.CapOutput(r.sent, r.output)
		next.MaxOutput = min(next.MaxOutput, r.output)
	}
	r.did(cmp.Or(did, next.Stage.String()))
	return true
}

// did adds a step to those that the event lists.
func (r *rescuing) did(what string) {
	e := &r.event.Rescue
	e.Stages = strings.TrimPrefix(e.Stages+", "+what, ", ")
}

// accept records how an answer with that status was reached, which is no refusal. The refusals before it are learned
// from only now, as a refusal that nothing has cured may have been misread.
func (r *rescuing) accept(status int) {
	e := &r.event.Rescue
	e.Tries, e.Rescued, e.TokensAfter = r.tries, status < 300, r.last.TokensAfter.Total()
	if e.Rescued {
		model := r.last.Model + r.input.Variant
		tokens, news := r.proxy.deps.Windows.LearnRefusal(r.event.Upstream, model, r.refusal, r.refused)
		if news {
			e.WindowAfter, r.last.Window = tokens, tokens
		}
		if r.record != nil && !r.record() && r.last.Code != event.CodeUnkept {
			r.last.Code, r.last.Reason = event.CodeUnrecorded, event.CodeUnrecorded.Clause()
		}
	}
	r.report = *r.last
	r.setReport(&r.report)
	r.event.Action, r.event.Causes = event.ActionRescue, r.event.Causes.With(r.causes...)
	if r.whole {
		r.event.Action = event.ActionBypass
		r.event.Inner = "the provider refused the rewritten request, and not for its size, so the original was sent"
	}
	r.setExtra(r.event.Action)
}
