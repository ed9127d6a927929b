package proxy

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"math"
	"runtime/debug"
	"strings"
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
	s := &shaped{}
	if err := x.proxy.wishes(&s.asked, x.set, h.RawHeaders(), x.event.Client); err != nil {
		return refusalWith(400, "bad_request", err.Error())
	}
	path, _, _ := bytes.Cut(target, []byte("?"))
	counts := x.dialect.Counts(path)
	s.asked.Replay = counts || x.dialect.Compacts(path)
	x.event.Dialect, x.event.Session = nameOf(x.dialect), event.SessionOf(sessionOf(h.RawHeaders()))
	if !counts {
		x.ear.Of(x.dialect)
	} else if x.event.Mode == event.ModeObserve {
		return nil
	}
	begun := time.Now()
	defer func() {
		x.proxy.admission.ShrinkTo(h, x.event.RequestBytes+int64(len(x.rewritten)))
		x.event.ShapeTime += time.Since(begun)
	}()
	client := &asker{x: x, up: up, target: target}
	defer client.end()
	by, observe := x.proxy.plugs.Shaper, x.event.Mode == event.ModeObserve
	if observe {
		by = x.proxy.plugs.Shadow
	}
	body, err := x.conversation()
	if err == nil {
		if busy := client.takeTurn(len(body)); busy != nil && (!observe || x.call.IsCut()) {
			return busy
		} else if busy != nil {
			err = errNoTurn
		}
	}
	if err != nil {
		leave(x, s, err)
		return nil
	}
	s.asked.Dialect, s.asked.Body, s.asked.Now = x.dialect, body, begun
	s.asked.Upstream, s.asked.Client = up.Name, client
	s.asked.Project = cmp.Or(s.asked.Project, up.Config.Project)
	s.asked.Contexts = append(append(s.asked.Contexts, up.Config.Context...), x.set.conf.Contexts...)
	form := x.guarded(by, s)
	if !counts { // what a count would save is told with the request that it asks about
		x.tell(&s.report)
	}
	if observe {
		return nil
	}
	x.rewritten = form.body
	if s.report.Items > 0 && !s.asked.Replay {
		s.asked.Body, s.asked.Client, s.asked.Compact = nil, nil, false
		x.shaped = s
	}
	return nil
}

// shaped is how a conversation was shaped, with all but its body. It lies on the heap: the stack that shaping needs
// stays with the goroutine while the answer streams.
type shaped struct {
	asked  rewrite.Input
	report rewrite.Report
}

// form is what is sent of a conversation.
type form struct {
	body   []byte      // nil: it goes as it came
	settle func() bool // called when the provider has taken it; nil if the form stands already
}

// Why a request goes on as it came. What the client sent is in none of them.
var (
	errSigned     = errors.New("the request carries a signature of its body")
	errEncoded    = errors.New("the content coding of the body cannot be read")
	errNoObject   = errors.New("the body is not a JSON object")
	errNoRoomLeft = errors.New("there is no room under max_in_flight to rewrite the request")
	errNoTurn     = errors.New("other large requests were worked on for too long")
)

// unshaped says with what code a request goes on as it came.
func unshaped(why error) event.Code {
	switch why {
	case errSigned:
		return event.CodeSigned
	case errEncoded:
		return event.CodeEncoded
	case errNoObject:
		return event.CodeNoObject
	case wire.ErrBomb:
		return event.CodeBomb
	case errNoRoomLeft:
		return event.CodeNoRoom
	case errNoTurn:
		return event.CodeFailed
	}
	return event.NoCode
}

// leave tells why the request goes on as it came. Only a lack of room or of a turn is epitome's own failure.
func leave(x *exchange, s *shaped, why error) {
	r := &s.report
	r.Action, r.Code = event.ActionNone, unshaped(why)
	if errors.Is(why, errNoRoomLeft) || errors.Is(why, errNoTurn) {
		r.Action, r.Err = event.ActionBypass, why
	} else {
		r.Reason = why.Error()
	}
	x.tell(r)
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
		if x.opened = nil; early == nil || early.body == nil && early.err == nil {
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
	defer x.proxy.decoding.Take()()
	plain, err := decodeBody(encoding, body, &x.call, int64(x.set.conf.MaxBody))
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

// guarded shapes the request that s asks for, and puts the report into s. A panic costs the request its rewriting and
// nothing else.
func (x *exchange) guarded(by Shaper, s *shaped) (f form) {
	defer func() {
		if r := recover(); r != nil {
			x.proxy.plugs.Log.Error("panic while shaping a request", "id", x.event.ID, "panic", r, "stack", string(debug.Stack()))
			err := errors.New("panic while shaping the request; the log has the stack")
			f, s.report = form{}, rewrite.Report{Action: event.ActionBypass, Err: err}
			s.report.Code = event.CodeFailed
		}
	}()
	out := by.Shape(s.asked)
	if s.asked.Rescue == nil && x.event.Mode != event.ModeObserve && x.proxy.plugs.Watch != nil {
		x.proxy.plugs.Watch(&s.asked, &out.Report)
	}
	if len(out.Body) == 0 {
		panic("BUG: a request was shaped into nothing")
	}
	s.report, f.settle = out.Report, out.Settle
	if out.Changed {
		f.body = out.Body
	}
	return f
}

// tell puts what was done into the event and the answer's head.
func (x *exchange) tell(r *rewrite.Report) {
	if r.Action != "" {
		x.event.Action = r.Action
	}
	spent := x.event.ShapeTime
	x.event.Shaping = r.Shaping
	x.event.ShapeTime, x.event.Streams, x.event.Added = spent, r.Streams, int32(r.Added.Tokens)
	x.event.Contexts, x.event.Inner = event.Clip(strings.Join(r.Added.Names, ", ")), event.Clip(r.Added.Why)
	x.event.Memory = uint16(min(r.Added.Memory, math.MaxUint16)) // a memory has 8 000 characters at most
	if err := r.Err; err != nil {
		x.event.Inner = event.Clip(err.Error())
	}
	x.delivery.sayAction(&x.event)
}

// opened is an encoded body without its coding, for which there is room, or why there is none.
type opened struct {
	body []byte
	err  error
}

// decoded is the body without its content coding, at most max_body of it. A body that is not encoded is returned as it
// is. It stops when the client leaves.
func (x *exchange) decoded(encoding, body []byte) ([]byte, error) {
	if !wire.IsEncoded(encoding) {
		return body, nil
	}
	defer x.proxy.decoding.Take()()
	return decodeBody(encoding, body, &x.call, int64(x.set.conf.MaxBody))
}

// mostDecodes is how many bodies are decoded at once: each may take some times max_body of memory, for a moment.
const mostDecodes = 2

// decodePlaces bound how many do something at once.
type decodePlaces chan struct{}

// Take waits for a place. leave gives it back.
func (p decodePlaces) Take() (leave func()) {
	p <- struct{}{}
	return func() { <-p }
}

// decodeBody reads at most most bytes out of a body that is encoded, until the call is cut.
func decodeBody(encoding, body []byte, call *wire.Call, most int64) ([]byte, error) {
	r, err := wire.NewDecoder(string(encoding), &whileThere{bytes.NewReader(body), call}, most)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	return io.ReadAll(r)
}

// whileThere ends a body when its client has left.
type whileThere struct {
	io.Reader
	call *wire.Call
}

func (w *whileThere) Read(p []byte) (int, error) {
	if w.call.IsCut() {
		return 0, wire.ErrGone
	}
	return w.Reader.Read(p)
}
