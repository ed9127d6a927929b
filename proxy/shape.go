package proxy

import (
	"bytes"
	"errors"
	"runtime/debug"
	"strconv"
	"time"

	"epitome/event"
	"epitome/proxy/wire"
	"epitome/rewrite"
)

// shape puts the conversation that the request holds, if it holds one, into the form it is sent in. An error is a
// refusal; whatever fails on epitome's side lets the request go on as it came.
func (x *exchange) shape(up *upstream, target []byte) error {
	h := &x.ctx.Request.Header
	if x.dialect = dialectOf(x.proxy.plugs.Dialects, h, x.event.Mode, target); x.dialect == nil {
		return nil
	}
	asked, err := x.proxy.wishes(x.set, h.RawHeaders())
	if err != nil {
		return &refusal{status: 400, code: "bad_request", message: err.Error()}
	}
	begun := time.Now()
	defer func() {
		x.proxy.admission.ShrinkTo(h, x.event.RequestBytes+int64(len(x.rewritten)))
		x.event.ShapeTime = time.Since(begun)
	}()
	body, err := x.conversation()
	if err != nil {
		x.tell(notShaped(err))
		return nil
	}
	f, observe := x.proxy.plugs.Shape, x.event.Mode == event.ModeObserve
	if observe {
		f = x.proxy.plugs.Observe
	}
	client := &asker{x: x, up: up, target: target}
	defer client.end()
	asked.Dialect, asked.Body, asked.Now = x.dialect, body, begun
	asked.Upstream, asked.Client = up.name, client
	s := x.guarded(f, asked)
	x.tell(s.Report)
	if observe {
		return nil
	}
	x.take(s, body)
	if s.Report.Items > 0 {
		asked.Body, asked.Client, asked.Compact = nil, nil, false
		x.shaped = &shaped{asked, s.Report}
	}
	return nil
}

// take has s sent in the place of the conversation in body.
func (x *exchange) take(s rewrite.Output, body []byte) {
	if x.rewritten = nil; len(s.Body) != len(body) || &s.Body[0] != &body[0] {
		x.rewritten = s.Body
	}
}

// shaped is how a conversation was shaped, with all but its body.
type shaped struct {
	asked  rewrite.Input
	report rewrite.Report
}

// Why a request goes on as it came. What the client sent is in none of them.
var (
	errSigned     = errors.New("the request carries a signature of its body")
	errEncoded    = errors.New("the content coding of the body cannot be read")
	errNoObject   = errors.New("the body is not a JSON object")
	errNoRoomLeft = errors.New("there is no room under max_in_flight to rewrite the request")
)

// notShaped is the report on a request that goes on as it came. Only a lack of room is epitome's own failure.
func notShaped(why error) rewrite.Report {
	if errors.Is(why, errNoRoomLeft) {
		return rewrite.Report{Action: rewrite.ActionBypass, Err: why}
	}
	return rewrite.Report{Action: rewrite.ActionNone, Reason: why.Error()}
}

// conversation is the body to shape, without its content coding. There is room for it and for what becomes of it.
func (x *exchange) conversation() ([]byte, error) {
	h, body := &x.ctx.Request.Header, x.ctx.Request.Body()
	if wire.IsSigned(h.RawHeaders()) {
		return nil, errSigned
	}
	encoding := wire.Values(h.RawHeaders(), "content-encoding")
	if wire.IsEncoded(encoding) {
		early := x.opened
		if x.opened = nil; early == nil {
			early = &opened{}
			early.body, early.err = x.unpacked(encoding, body)
		}
		if body = early.body; early.err != nil {
			return nil, early.err
		}
	} else if !x.proxy.admission.GrowTo(h, 2*x.event.RequestBytes) {
		return nil, errNoRoomLeft
	}
	if start := bytes.TrimLeft(body, " \t\r\n"); len(start) == 0 || start[0] != '{' {
		return nil, errNoObject
	}
	return body, nil
}

// unpacked is an encoded body decoded. It keeps its place among those that are decoded until there is room for the
// result, so that only a few can be in memory without. With errNoRoomLeft comes the body as well, to look at and let
// go.
func (x *exchange) unpacked(encoding, body []byte) ([]byte, error) {
	x.proxy.decoding <- struct{}{}
	defer func() { <-x.proxy.decoding }()
	plain, err := x.decode(encoding, body)
	switch {
	case errors.Is(err, wire.ErrBomb):
		return nil, wire.ErrBomb
	case err != nil:
		return nil, errEncoded
	case !x.proxy.admission.GrowTo(&x.ctx.Request.Header, x.event.RequestBytes+2*int64(len(plain))):
		return plain, errNoRoomLeft
	}
	return plain, nil
}

// guarded shapes the request. A panic costs it the rewriting and nothing else.
func (x *exchange) guarded(shape func(rewrite.Input) rewrite.Output, a rewrite.Input) (s rewrite.Output) {
	defer func() {
		if r := recover(); r != nil {
			x.proxy.plugs.Log.Error("panic while shaping a request", "id", x.event.ID, "panic", r, "stack", string(debug.Stack()))
			err := errors.New("panic while shaping the request; the log has the stack")
			s = rewrite.Output{Body: a.Body, Report: rewrite.Report{Action: rewrite.ActionBypass, Err: err}}
		}
	}()
	if s = shape(a); len(s.Body) == 0 {
		panic("BUG: a request was shaped into nothing")
	}
	return s
}

// tell puts what was done into the event and the answer's head.
func (x *exchange) tell(r rewrite.Report) {
	if r.Action != "" {
		x.event.Action = r.Action
	}
	spent := x.event.ShapeTime
	x.event.Shaping = event.Shaping{
		ShapeTime: spent,
		Model:     event.Clip(r.Model), Conversation: r.Conversation, Window: r.Window,
		TokensBefore: event.Tokens(r.Before), TokensAfter: event.Tokens(r.After),
		Decided: r.Decided, Broke: r.Broke, Reason: event.Clip(r.Reason),
	}
	if r.Answers > 0 {
		x.event.Ratio = r.Ratio
	}
	for _, c := range r.Changes {
		switch c.Rung {
		case rewrite.ActionOffload:
			x.event.Offloaded++
		case rewrite.ActionClear:
			x.event.Cleared++
		case rewrite.ActionCompact:
			x.event.Compacted++
		}
	}
	if r.Err != nil {
		x.event.Inner = event.Clip(r.Err.Error())
	}
	x.sayAction()
}

// sayAction puts what was done into the answer's head.
func (x *exchange) sayAction() {
	s := &x.event.Shaping
	x.to.Extra = wire.AppendField(make([]byte, 0, 128), []byte("x-epitome-action"), x.event.Action)
	if before := s.TokensBefore.Total(); before > 0 {
		tokens := strconv.Itoa(before) + ">" + strconv.Itoa(s.TokensAfter.Total())
		x.to.Extra = wire.AppendField(x.to.Extra, []byte("x-epitome-tokens"), tokens)
	}
	if s.Conversation != "" {
		x.to.Extra = wire.AppendField(x.to.Extra, []byte("x-epitome-conversation"), s.Conversation)
	}
}
