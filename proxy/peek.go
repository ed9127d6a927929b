package proxy

import (
	"bytes"
	"time"

	"epitome/dialect/answer"
	"epitome/dialect/conversation"
	"epitome/proxy/wire"
	"epitome/window"
)

// How much of an answer is held back until it is known whether it refuses its request.
const (
	mostOfStream = 1 << 20          // bytes; frames may repeat all settings of the request, tools too
	mostOfError  = 256 << 10        // bytes; the rest is passed on as it comes
	mostOfSmall  = 64 << 10         // bytes of an answer that is no stream, and may be an error all the same
	mostPieces   = 64               // of a stream with a content coding: it is decoded anew with each
	errorFor     = 10 * time.Second // that an error or the frame of a stream is held back
)

// peek reads how an answer refuses the request that was sent. It reads an error whole, a stream up to its first word,
// and any other answer if it is small; that is held back.
func (x *exchange) peek(a *wire.Answer, sent func() window.Sent) (none window.Refusal) {
	coding := wire.Values(a.Block, "content-encoding")
	plain := func(content []byte) []byte {
		if isEncoded(coding) {
			content, _ = decode(string(coding), content, mostOfStream) // a part of it may tell enough
		}
		return content
	}
	var content []byte
	switch {
	case a.Code < 200 || a.Empty:
		return none
	case !window.MayRefuse(a.Code): // its text would not say more
		return window.ReadRefusal(a.Code, "", nil, sent())
	case a.Code >= 300:
		content = x.hold(a, mostOfError, errorFor, nil)
	case isOfType(a, "text/event-stream"):
		pieces := 0
		content = x.hold(a, mostOfStream, errorFor, func(content []byte) bool {
			pieces++
			step, _ := firstStep(x.dialect, plain(content))
			return step == answer.SaidStep || isEncoded(coding) && pieces == mostPieces
		})
		// A stream that answers is no refusal, nor is one that says neither and goes on, or ends within an event.
		step, rest := firstStep(x.dialect, plain(content))
		if step == answer.SaidStep || step == answer.FrameStep && (!a.IsComplete() || len(rest) > 0) {
			return none
		}
	case a.Length >= 0 && a.Length <= mostOfSmall:
		content = x.hold(a, mostOfSmall, x.set.conf.ReadIdle.D(), nil)
		if !window.HasSigns(plain(content)) {
			return none
		}
	}
	if content == nil {
		return none
	}
	return window.ReadRefusal(a.Code, string(wire.Find(a.Block, "content-type")), plain(content), sent())
}

// hold reads an answer up to its end, until enough reports so, or until there are too many bytes or it takes too long.
// enough may be nil. The bytes stay with the answer, to be passed on. It returns all that was held of this answer so far,
// without framing. An error is met again when the answer is passed on.
func (x *exchange) hold(a *wire.Answer, most int, wait time.Duration, enough func([]byte) bool) []byte {
	isEnough := func() bool { return enough != nil && len(x.held) > 0 && enough(x.held) }
	hears := a.Hears
	defer func() { a.Hears = hears }()
	a.Hears = func(run []byte) {
		x.held = append(x.held, run...)
		hears(run)
	}
	until := time.Now().Add(wait)
	for !isEnough() && len(x.held) < most && time.Now().Before(until) && a.Hold(time.Until(until)) {
	}
	return x.held
}

// firstStep returns the meaning of the first event of a stream that is more than its frame, and the content behind it.
// A comment is a part of the frame: gateways send some before they know whether the provider accepts the request.
func firstStep(d conversation.Dialect, content []byte) (step answer.Step, rest []byte) {
	var kind []byte
	rest = answer.TrimMark(content)
	for f, next, whole := answer.NextField(rest); whole; f, next, whole = answer.NextField(rest) {
		rest = next
		switch name := string(f.Name); {
		case name == "event":
			kind = bytes.TrimSpace(f.Value)
		case name == "data":
			if step = d.Step(kind, f.Value); step != answer.FrameStep {
				return step, rest
			}
		}
	}
	return answer.FrameStep, rest
}
