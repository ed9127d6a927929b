package proxy

import (
	"strings"
	"time"

	"epitome/event"
	"epitome/proxy/wire"
	"epitome/rewrite"
	"epitome/rewrite/ladder"
	"epitome/rewrite/ledger"
	"epitome/window"
)

// rescue passes an answer on, unless it refuses the request as too long. Then the request is sent again, shorter each
// time; if that does not help, the client gets the first refusal as it came. What was accepted is never sent again.
func (x *exchange) rescue(up *upstream, target []byte, a *wire.Answer) (*wire.Answer, error) {
	if x.shaped == nil {
		if x.ear.Hears() {
			x.ear.Listen(a)
			a.Hears = x.ear.Hear
		}
		return a, nil
	}
	if x.shaped.report.Truncates { // nothing is held up for what would not be done
		x.ear.Listen(a)
		x.ear.Learn(x.shaped.report.Counted)
		a.Hears = x.ear.Hear
		return a, nil
	}
	r := rescuing{exchange: x, up: up, target: target, first: a, report: &x.shaped.report, causes: x.event.Causes}
	r.until = time.Now().Add(rescueTimeout)
	defer func() {
		if bug := recover(); bug != nil { // the end of the exchange knows nothing of these connections
			r.release(a)
			r.release(r.first)
			panic(bug)
		}
	}()
	for {
		v := r.read(a)
		if v.Cause == window.NotSize {
			return r.settle(a), nil
		}
		r.note(v)
		if r.tries >= RescueTries || time.Now().After(r.until) || !r.shorten(v) {
			return r.give(a), nil
		}
		r.setAside(a)
		r.tries++
		next, err := x.call.Do(up.Pool, x.outgoing(up, target))
		if err != nil {
			if x.call.IsCut() {
				r.release(r.first)
				return nil, err
			}
			return r.give(nil), nil
		}
		a = next
	}
}

// rescuing is the rescue of one request.
type rescuing struct {
	*exchange
	up     *upstream
	target []byte
	first  *wire.Answer // what the client gets if nothing helps
	until  time.Time
	tries  int             // so far
	report *rewrite.Report // on the form that was sent last
	stage  ladder.Stage    // of the form that was sent last
	output int             // cap on the output that was set; 0 if none was
	whole  bool            // it goes as it came, as its structure was refused
	mute   bool            // nothing goes that the model thought, as that was refused
	record func() bool     // the form that was sent last; nil if it stands already
	causes event.Causes    // of what was done before, as far as that stands, and of what is taken back

	verdict window.Refusal // what the refusals say: the latest, or the latest that states a window
	judged  window.Sent    // of what
}

// read holds an answer as far as must be, and says what it means.
func (r *rescuing) read(a *wire.Answer) window.Refusal {
	r.ear.Listen(a)
	r.ear.Learn(r.shaped.report.Counted)
	said := peekAt(a, r.dialect, r.delivery.to.HTTP10, r.ear.Hear)
	if said == nil {
		return window.Refusal{}
	}
	kind := string(wire.Find(a.Block, "content-type"))
	return window.ReadRefusal(a.Code, kind, said, r.lastRequest())
}

// lastRequest is what is known of the request that was sent last.
func (r *rescuing) lastRequest() window.Sent {
	s := window.Sent{
		Tokens: r.report.TokensAfter.Total(), MaxOutput: r.report.MaxOutput,
		Window: r.report.Window, Rewritten: r.rewritten != nil,
	}
	if r.output > 0 {
		s.MaxOutput = min(s.MaxOutput, r.output)
	}
	return s
}

// note keeps what a refusal says.
func (r *rescuing) note(v window.Refusal) {
	e := &r.event.Rescue
	if e.Kind == "" {
		e.Kind, e.WindowBefore, e.TokensBefore = v.Cause.String(), r.report.Window, r.report.TokensAfter.Total()
	}
	if v.Below(r.report.Window) || !r.verdict.Below(r.judged.Window) {
		r.verdict, r.judged = v, r.lastRequest()
	}
}

// learn takes what the refusals said for true, as a smaller request was taken. What nothing has cured may have been
// misread.
func (r *rescuing) learn() {
	if tokens, news := r.proxy.plugs.Lessons.LearnRefusal(r.up.Name, r.report.Model, r.verdict, r.judged); news {
		r.event.Rescue.WindowAfter, r.report.Window = tokens, tokens
	}
}

// leastOutput is the smallest cap on the output in tokens that is worth sending a request for.
const leastOutput = 512

// shorten makes the request shorter, in the way that the refusal asks for, and reports whether that is to be sent.
func (r *rescuing) shorten(v window.Refusal) bool {
	switch {
	case v.Cause == window.Thinking:
		if r.mute {
			return false
		}
		r.mute, r.causes = true, r.causes|event.CausesOf(event.CauseThought)
		return r.reshape(rewrite.Rescue{Whole: r.whole})
	case v.Cause == window.Malformed:
		if r.whole || r.rewritten == nil {
			return false
		}
		r.whole, r.causes = true, r.causes&event.CausesOf(event.CauseThought)|event.CausesOf(event.CauseBroken)
		return r.reshape(rewrite.Rescue{Whole: true})
	case r.whole:
		return false
	case v.Cause == window.Output && r.capOutput(v.Room):
		return true
	}
	from := r.stage.Next(r.tries+1 >= RescueTries)
	ok := r.reshape(rewrite.Rescue{Most: r.most(v), From: from})
	r.whole = !ok && r.report.Action == string(ledger.StepAdd) // all that epitome has done is taken back
	return ok || r.whole && r.reshape(rewrite.Rescue{Whole: true})
}

// capOutput has the request ask for less, if a cap of so many tokens is worth a request, and lower than the last one.
func (r *rescuing) capOutput(tokens int) bool {
	if tokens < leastOutput || r.output > 0 && tokens >= r.output {
		return false
	}
	body := r.rewritten
	if body == nil {
		var err error
		if body, err = r.conversation(); err != nil {
			return false
		}
	}
	capped, ok := r.dialect.CapOutput(body, tokens)
	if !ok {
		return false
	}
	r.rewritten, r.output = capped, tokens
	r.did("output")
	return true
}

// most is how many tokens the next request may have, by our count: what the refusal leaves room for, and in any case
// a tenth less than before. Where it says nothing, half.
func (r *rescuing) most(v window.Refusal) int {
	sent := r.lastRequest()
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

// reshape has the conversation shaped anew, after a refusal.
func (r *rescuing) reshape(how rewrite.Rescue) bool {
	h := &r.ctx.Request.Header
	defer func() {
		r.proxy.admission.ShrinkTo(h, r.event.RequestBytes+int64(len(r.rewritten)))
	}()
	body, err := r.conversation()
	if err != nil {
		return false
	}
	client := &asker{x: r.exchange, up: r.up, target: r.target}
	defer client.end()
	if client.takeTurn(len(body)) != nil {
		return false
	}
	next := &shaped{asked: r.shaped.asked}
	how.Ratio, how.Answers, how.NoThinking = r.report.Ratio, r.report.Answers, r.mute
	shorter := !how.Whole && how.Most > 0
	next.asked.Body, next.asked.Rescue = body, &how
	form := r.guarded(r.proxy.plugs.Shaper, next)
	enough := next.report.TokensAfter.Total() <= r.report.TokensAfter.Total()*19/20
	if next.report.Err != nil && !how.NoThinking || shorter && (next.report.Stage == ladder.StageNone || !enough) {
		return false
	}
	if how.NoThinking && form.body == nil || how.Whole && next.report.Action == string(ledger.StepAdd) { // nothing goes
		return false
	}
	next.report.JoinRefused(&r.shaped.report, how.Whole)
	r.report, r.stage, r.record = &next.report, next.report.Stage, form.settle
	r.rewritten = form.body
	if r.output > 0 && r.rewritten != nil {
		r.rewritten, _ = r.dialect.CapOutput(r.rewritten, r.output)
	}
	switch {
	case how.Whole:
		r.did("whole")
	case shorter:
		r.did(r.stage.String())
	default:
		r.did("thinking")
	}
	return true
}

// did notes what was done for the next try.
func (r *rescuing) did(what string) {
	e := &r.event.Rescue
	e.Stages = strings.TrimPrefix(e.Stages+", "+what, ", ")
}

// setAside keeps the first refusal, and lets go of any other one.
func (r *rescuing) setAside(a *wire.Answer) {
	if a != r.first {
		r.release(a)
	}
	r.call.OnCut(nil)
	if r.first.IsComplete() { // all of it is held
		r.first.End()
	}
}

// release lets go of an answer that nobody gets.
func (r *rescuing) release(a *wire.Answer) {
	if a != nil && !a.IsOver() {
		r.call.OnCut(nil)
		a.End()
	}
}

// settle passes on an answer that is no refusal of this kind.
func (r *rescuing) settle(a *wire.Answer) *wire.Answer {
	if a == r.first {
		return a
	}
	r.first.End() // its connection is not the one that is waited for
	e := &r.event.Rescue
	e.Tries, e.Rescued, e.TokensAfter = int32(r.tries), a.Code < 300, r.report.TokensAfter.Total()
	if e.Rescued {
		r.learn()
		if r.record != nil && !r.record() {
			r.report.Code, r.report.Reason = event.CodeUnrecorded, "the shared store did not answer"
		}
	}
	r.ear.Count(r.report.Counted)
	r.tell(r.report)
	r.event.Action, r.event.Causes = event.ActionRescue, r.event.Causes|r.causes
	if r.whole {
		r.event.Action = event.ActionBypass
		r.event.Inner = "the provider refused what was sent, and not the original: it was sent as it came"
	}
	r.delivery.sayAction(&r.event)
	return a
}

// give passes on the first refusal.
func (r *rescuing) give(a *wire.Answer) *wire.Answer {
	if a != nil && a != r.first {
		r.release(a)
	}
	r.event.Rescue.Tries = int32(r.tries)
	r.ear = ear{} // it has heard another answer
	r.first.Hears = nil
	if !r.first.IsOver() {
		r.call.OnCut(r.first.Cut)
	}
	return r.first
}
