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
	if a.Code < 200 || a.Empty {
		return none
	}
	if !window.MayRefuse(a.Code) { // its text would not say more
		return window.ReadRefusal(a.Code, "", nil, sent())
	}
	var content []byte
	mayRefuse := true
	switch {
	case a.Code >= 300:
		content = plainText(a, x.hold(a, mostOfError, errorFor, nil))
	case isStream(a):
		content, mayRefuse = x.holdFrame(a)
	case a.Length >= 0 && a.Length <= mostOfSmall:
		content = plainText(a, x.hold(a, mostOfSmall, x.set.conf.ReadIdle.D(), nil))
		mayRefuse = window.HasSigns(content)
	default:
		return none
	}
	if x.held == nil || !mayRefuse {
		return none
	}
	return window.ReadRefusal(a.Code, string(wire.Find(a.Block, "content-type")), content, sent())
}

// holdFrame holds a stream up to its first word. One that answers is no refusal, nor is one that says neither and goes
// on, or ends within an event.
func (x *exchange) holdFrame(a *wire.Answer) (content []byte, mayRefuse bool) {
	isCoded, pieces := isEncoded(codingOf(a)), 0
	content = plainText(a, x.hold(a, mostOfStream, errorFor, func(held []byte) bool {
		pieces++
		step, _ := firstStep(x.dialect, plainText(a, held))
		return step == answer.SaidStep || isCoded && pieces == mostPieces
	}))
	step, rest := firstStep(x.dialect, content)
	if step == answer.FrameStep {
		return content, a.IsComplete() && len(rest) == 0
	}
	return content, step != answer.SaidStep
}

// plainText returns what was held of an answer without its content coding. A part of it may tell enough.
func plainText(a *wire.Answer, held []byte) []byte {
	coding := codingOf(a)
	if isEncoded(coding) {
		held, _ = decode(coding, held, mostOfStream)
	}
	return held
}

// hold reads an answer up to its end, until enough reports so, or until there are too many bytes or it takes too long.
// enough may be nil. The bytes stay with the answer, to be passed on. It returns all that was held of this answer so far,
// without framing. An error is met again when the answer is passed on.
func (x *exchange) hold(a *wire.Answer, most int, wait time.Duration, enough func([]byte) bool) []byte {
	x.isHolding = true
	defer func() { x.isHolding = false }()
	until := time.Now().Add(wait)
	for len(x.held) < most && time.Now().Before(until) {
		if enough != nil && len(x.held) > 0 && enough(x.held) {
			break
		}
		if !a.Hold(time.Until(until)) {
			break
		}
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
		switch string(f.Name) {
		case "event":
			kind = bytes.TrimSpace(f.Value)
		case "data":
			step = answer.StepOf(d, kind, f.Value)
			if step != answer.FrameStep {
				return step, rest
			}
		}
	}
	return answer.FrameStep, rest
}
