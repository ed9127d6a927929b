package proxy

import (
	"cmp"
	"errors"
	"math"
	"time"

	"epitome/event"
	"epitome/proxy/aside"
	"epitome/proxy/route"
	"epitome/proxy/wire"
	rounds "epitome/rewrite/aside"
)

// asides is what an exchange has of calls that epitome answers within its answer. The zero value is that there are
// none.
type asides struct {
	turn  *rounds.Turn // nil: no answer is heard
	woven []byte       // the conversation with what the client does not know of; nil if it is as it came
	lost  error        // why it is not known what was recorded
}

// asidesOf is what an exchange has of them, to be read.
func asidesOf(x *exchange) asides {
	if x.opened == nil {
		return asides{}
	}
	return x.opened.asides
}

// weave puts what the client does not know of into the conversation that s asks for.
func weave(x *exchange, s *shaped, body []byte) ([]byte, error) {
	loom := x.proxy.plugs.Asides
	if loom == nil || x.event.Mode != event.ModeOn || asidesOf(x).woven != nil {
		return body, nil
	}
	ask := rounds.Ask{Scope: s.asked.Scope, Dialect: x.dialect, Body: body, Replay: s.asked.Replay}
	ask.Without = aside.Declines(x.ctx.Request.Header.RawHeaders())
	ask.Room = func(size int) error { return roomToWeave(x, size) }
	t, err := loom.Weave(ask)
	if t == nil && err == nil || errors.Is(err, errNoRoomLeft) {
		return body, err
	}
	x.opened = &opened{asides: asides{lost: err}}
	if t == nil {
		return body, nil
	}
	if !s.asked.Replay {
		x.opened.turn = t
	}
	x.opened.woven = t.Body
	return t.Body, nil
}

// converse passes on an answer in which epitome's tool may be called.
func converse(x *exchange, up *route.Upstream, target []byte, a *wire.Answer) error {
	r := aside.Relay{Turn: x.opened.turn, HTTP10: x.delivery.to.HTTP10, Call: &x.call}
	r.Begin = func(h *wire.Head, empty bool) error {
		x.event.FirstByte, x.event.Status = time.Since(x.event.Start), h.Code
		x.delivery.begun = true
		closeIfStopping(x)
		x.delivery.frame(&wire.Answer{Head: h, Empty: empty})
		return x.delivery.write(h.AppendTo(nil, x.delivery.to))
	}
	r.Write = func(b []byte) error {
		x.event.ResponseBytes += int64(len(b))
		return x.delivery.write(b)
	}
	told := x.event.Usage
	add := func(a *wire.Answer, take func(*exchange, *wire.Answer)) {
		if a != nil && !tells(x, a) { // a refusal takes nothing, and what was told before stays told
			return
		}
		x.event.Usage = event.Usage{}
		take(x, a)
		told = told.Add(x.event.Usage)
		x.event.Usage = told
	}
	r.Heard = func(a *wire.Answer) { add(a, takeUsage) }
	r.Broke = func(a *wire.Answer) { add(a, takeCut) }
	r.Send = func() (*wire.Answer, error) {
		sent := x.event.Sent
		a, err := again(x, up, target)
		if err != nil && x.event.Sent != sent { // it has arrived, and may be paid
			add(nil, countCut)
		}
		return a, err
	}
	r.Lost = func(err error) { x.event.Inner = cmp.Or(x.event.Inner, event.Clip(err.Error())) }
	r.Hold = func(size int) error { return roomToWeave(x, len(x.opened.woven)+size) }
	err := r.Run(a)
	x.event.Asides = int8(min(x.opened.turn.Answered(), math.MaxInt8))
	return err
}

// again sends the conversation as it is after a round, shaped as any other.
func again(x *exchange, up *route.Upstream, target []byte) (*wire.Answer, error) {
	before := x.event.Shaping
	x.opened.woven, x.rewritten, x.shaped = x.opened.turn.Body, nil, nil
	err := roomToWeave(x, len(x.opened.woven))
	if err == nil {
		err = x.shape(up, target)
	}
	if err != nil {
		return nil, err
	}
	x.event.Carry(&before)
	a, err := x.call.Do(up.Pool, x.outgoing(up, target))
	if err == nil {
		a, err = x.rescue(up, target, a)
	}
	return a, err
}

// roomToWeave makes room for what is woven, of this size, and for what becomes of it.
func roomToWeave(x *exchange, size int) error {
	if x.proxy.admission.GrowTo(&x.ctx.Request.Header, x.event.RequestBytes+2*int64(size)) {
		return nil
	}
	return errNoRoomLeft
}
